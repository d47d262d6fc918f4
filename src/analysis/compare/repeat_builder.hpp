// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/repeat.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/session/session_data.hpp"

// The figures of a repeat, from its sessions; every one of them is a figure of src/analysis. One
// thread; while it builds, eight bytes for each kernel and scope.
namespace gpufl::analysis::compare {

// Takes the sessions of one repeat, one after the other, none of which it keeps.
class RepeatBuilder {
 public:
  // `window`: only what begins in it, as if the session were no longer.
  void add(const SessionData& session, std::optional<Interval> window = {});
  // Call once.
  Repeat finish();

 private:
  struct Source;
  void add_facts(const SessionSummary& summary);
  void add_kernels(const Source& source);
  void add_scopes(const Source& source);
  void add_total(const Source& source);

  Repeat repeat_;
  std::map<Key, std::vector<int64_t>> durations_;
  std::map<Key, double> busy_;
  double time_ns_ = 0;
  uint64_t kernels_ = 0;
  double kernel_ns_ = 0;
};

// Why the figures of a session are less than the whole truth; empty: no loss is known.
std::vector<std::string> known_losses(const SessionSummary& summary);

}  // namespace gpufl::analysis::compare
