// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/tracing/kernel_times.hpp"
#include "backend/tracing/pair_table.hpp"

// Finds times that were left over from an earlier kernel, each possible by itself: NVIDIA's
// records had such times after running for long with graphs. What a stream runs, it runs in order,
// and launches of a graph do not overlap. Each question is answered yes, and remembered, or no.
// Records may come in any order. The collector's thread only; bounded; some nanoseconds.
namespace gpufl::backend {

class KernelOrder {
 public:
  // A kernel launched by itself. `thread` launched it, 0: not known; two threads that use one
  // stream get their ids in another order than their kernels run.
  bool accept(uint32_t context, uint32_t stream, uint32_t thread, const KernelTimes& times);
  // A kernel that is a node of `graph`.
  bool accept_node(uint32_t graph, uint32_t stream, const KernelTimes& times);

 private:
  // How far times of one GPU may be off each other: a vendor corrects its conversion of the GPU's
  // clock while it runs, on an H200 by up to 7.6 us. What is off by less, KernelOverlaps counts.
  static constexpr int64_t kSlackNs = 10'000;

  struct Stream {
    KernelTimes last{};  // of the newest launch
    uint32_t thread = 0;
  };
  // The newest launches, oldest first; all before them ended by `end_before`.
  struct Graph {
    static constexpr size_t kLaunches = 8;
    std::array<KernelTimes, kLaunches> launches{};  // from the first start to the last end
    size_t count = 0;
    int64_t end_before = INT64_MIN;
  };

  PairTable<Stream> streams_;
  PairTable<Graph> graphs_;
};

}  // namespace gpufl::backend
