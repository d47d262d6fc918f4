// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/insights/session_view.hpp"

// Why a GPU had nothing to do: what the thread that launched the next work did meanwhile.
namespace gpufl::analysis {

enum class GapCause : uint8_t {
  Wait,         // it was blocked in a wait
  LaunchBound,  // it was launching, and did not get ahead of the GPU
  Copy,         // it was inside the call of a copy
  Call,         // it was inside other calls: allocations, the start of a context
  HostCode,     // it ran code, or was inside of calls that have no rows
  Queued,       // it had asked for the work long before: the GPU waited for something of its own
  Graph,        // both sides are of one launch of a graph
  Unknown,      // the log has no times of calls
};
std::string_view to_string(GapCause cause);  // "waiting in a sync"

struct ExplainedGap {
  GapCause cause = GapCause::Unknown;
  uint32_t stack = 0;  // of the wait, or of the call that ended the pause
};

// Holds what the host's threads did. The view must outlive it.
class GapExplainer {
 public:
  explicit GapExplainer(const SessionView& view);
  ExplainedGap explain(const Gap& gap) const;

 private:
  struct Span {
    Interval time;
    uint32_t row;
  };
  using ByThread = std::unordered_map<int64_t, std::vector<Span>>;
  // The last one that began before `before` and ended after `after`; null: none.
  static const Span* find(const ByThread& spans, int64_t thread, int64_t after, int64_t before);
  // The calls but launches, copies and waits that the thread was inside of for most of `window`, by
  // the stack of the longest; null: it was not.
  const Span* longest_of_most(int64_t thread, Interval window) const;

  const SessionView& view_;
  int64_t shortest_latency_ns_ = 0;            // from a call to its kernel
  ByThread waits_, copy_calls_, other_calls_;  // rows of the last are stacks
};

}  // namespace gpufl::analysis
