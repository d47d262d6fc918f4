// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "backend/backend.hpp"
#include "backend/tracing/call_notes.hpp"

// The stacks of the calls that made nodes of graphs, as the log numbers them. One thread; bounded:
// one too many and all are forgotten.
namespace gpufl::backend {

class GraphNodeStacks {
 public:
  void add(const GraphNodeNote& note, RowSink& sink) {
    const uint32_t stack =
        note.original != 0 ? find(note.original) : static_cast<uint32_t>(sink.stack(note.stack));
    if (stack == 0) return;
    if (stacks_.size() >= kMaxNodes) stacks_.clear();
    stacks_[note.node] = stack;
  }
  uint32_t find(uint64_t node) const {
    if (stacks_.empty() || node == 0) return 0;
    const auto found = stacks_.find(node);
    return found != stacks_.end() ? found->second : 0;
  }

 private:
  static constexpr size_t kMaxNodes = size_t{1} << 18;
  std::unordered_map<uint64_t, uint32_t> stacks_;
};

}  // namespace gpufl::backend
