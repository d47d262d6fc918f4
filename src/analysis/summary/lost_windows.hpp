// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/math/intervals.hpp"
#include "format/session_reader.hpp"

// Parts of a log that were written and are not there: windows that somebody deleted, that the
// writer deleted to make room, or that are damaged. What happened in their time is unknown. Told by
// the visitor of a session's lines, in log order; one thread.
namespace gpufl::analysis {

struct LostWindow {
  enum class Reason : uint8_t { Missing, Deleted, Damaged };
  format::Channel channel = format::Channel::Device;
  uint64_t number = 0, last_number = 0;  // the same, but of a range of deleted ones
  Reason reason = Reason::Missing;
  // As the manifest tells, else between the rows of its neighbours; of a damaged one, between those
  // of its kernels that can be read.
  Interval span;
};
// "window 3 of device is missing: 1.2 s to 3.4 s".
std::string describe(const LostWindow& lost);

class LostWindowFinder {
 public:
  void on_window(const format::WindowFile& window);
  void on_problem(const format::Problem& problem);
  // Of one batch: the first start and the last end of its rows.
  void on_rows(format::Kind kind, Interval span);
  void on_window_end(const format::WindowFile& window);

  // By channel and number. `end_ns`: of the session.
  std::vector<LostWindow> finish(int64_t end_ns);

 private:
  void close_open(int64_t end_ns);
  void add_damage(Interval span);

  std::vector<LostWindow> lost_;
  size_t open_ = 0;  // those from here on end where the next rows of their channel begin
  std::optional<format::Channel> channel_;
  int64_t seen_ns_ = 0;  // the last end of any row of the channel
  std::optional<format::WindowFile> window_;
  // Of that window.
  bool has_rows_ = false, has_kernels_ = false;
  bool has_fault_ = false;      // since its last kernels
  int64_t last_kernel_ns_ = 0;  // until when they ran
};

}  // namespace gpufl::analysis
