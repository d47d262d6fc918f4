// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/figures/sample_rows.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/session/session_data.hpp"

// The windows in which the program counter was sampled, by the log's `coverage` rows. Any thread.
namespace gpufl::analysis {

// Windows follow one another while a deep scope or window is open: those are a stretch. They say
// what its kernels wait for, and are no sample of the run.
struct SampleWindow {
  Interval span;
  size_t stretch = 0;  // 0: of none
};

class SampleWindows {
 public:
  explicit SampleWindows(const SessionData& session);

  // When the window began that a row is of. Samples have the time of their window's end, or a later
  // one, but before the next one's. Where the log has no windows, samples of one time are of one.
  int64_t start_of(const SampleRow& row) const;
  size_t stretch_of(const SampleRow& row) const;
  // Of a device, in order of time; windows of no device are of all.
  const std::vector<SampleWindow>& of_device(int64_t device) const;
  // From the first window's start to the last one's end, by stretch; the first is empty.
  const Intervals& stretches() const { return stretches_; }

 private:
  const SampleWindow* find(const SampleRow& row) const;

  std::map<int64_t, std::vector<SampleWindow>> by_device_;
  Intervals stretches_{{}};
};

}  // namespace gpufl::analysis
