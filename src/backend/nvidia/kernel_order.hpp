// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

// Finds times that were left over from an earlier kernel, each possible by itself: CUPTI gives such
// times when it runs for long with graphs. What a stream runs, it runs in order, and launches of a
// graph do not overlap. Each question is answered yes, and remembered, or no. Records may come in
// any order. The collector's thread only; bounded; some nanoseconds.
namespace gpufl::backend {

struct KernelTimes {
  uint32_t correlation;
  int64_t start, end;
};

class KernelOrder {
 public:
  // A kernel launched by itself. `thread` launched it, 0: not known; two threads that use one
  // stream get their ids in another order than their kernels run.
  bool accept(uint32_t context, uint32_t stream, uint32_t thread, const KernelTimes& times);
  // A kernel that is a node of `graph`.
  bool accept_node(uint32_t graph, uint32_t stream, const KernelTimes& times);

 private:
  // How far times of one GPU may be off each other: CUPTI corrects its conversion of the GPU's
  // clock while it runs, on an H200 by up to 2.3 us.
  static constexpr int64_t kSlackNs = 5'000;
  static constexpr size_t kMaxKnown = 16'384;

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
  // By two numbers; the last one asked for is at hand.
  template <typename Value>
  struct Table {
    std::unordered_map<uint64_t, Value> values;
    uint64_t last_key = 0;
    Value* last = nullptr;

    Value& at(uint32_t high, uint32_t low) {
      const uint64_t key = uint64_t{high} << 32 | low;
      if (last != nullptr && key == last_key) return *last;
      if (values.size() >= kMaxKnown && values.count(key) == 0) values.clear();
      last_key = key;
      return *(last = &values[key]);
    }
  };

  Table<Stream> streams_;
  Table<Graph> graphs_;
};

}  // namespace gpufl::backend
