// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "import/trace.hpp"

// How spans nest on their threads, and which was the innermost one at a time. Made once from all
// spans; constant afterwards. A question is a binary search.
namespace gpufl::importing {

class ThreadSpans {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `spans` must outlive it, unchanged.
  explicit ThreadSpans(const std::vector<Span>& spans);

  // The span around it; kNone: none.
  uint32_t parent(uint32_t span) const { return parents_[span]; }
  // How many are around it.
  uint32_t depth(uint32_t span) const { return depths_[span]; }
  // The innermost span of `thread` then: from its begin, included, to its end, excluded.
  uint32_t at(int64_t thread, int64_t time) const;
  // The innermost span of the only thread that had any then.
  uint32_t only_at(int64_t time) const;

 private:
  struct Change {
    int64_t time;
    uint32_t span;  // innermost from then on
  };
  // Which thread alone had a span from then on.
  struct Turn {
    int64_t time;
    int64_t thread;
    bool is_only;
  };
  void nest(const std::vector<Span>& spans, const uint32_t* begin, const uint32_t* end);
  void find_only_threads();

  std::vector<uint32_t> parents_, depths_;
  std::unordered_map<int64_t, std::vector<Change>> changes_;  // by thread, in order of time
  std::vector<Turn> turns_;
};

}  // namespace gpufl::importing
