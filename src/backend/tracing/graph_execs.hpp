// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.hpp"

// What is known of graphs that can be launched, by a number made of their handle. Handles are used
// again, so what was known of one holds from a time on. GraphInstance is what a callback tells when
// a graph was instantiated or changed; GraphExecs, the collector's thread's, remembers how many
// kernels each owes to a launch.
namespace gpufl::backend {

// How the nodes of a graph depend on each other.
struct GraphTopology {
  struct Node {
    void* handle;           // the vendor's
    std::string_view kind;  // "kernel", "memcpy", ...; static
    int64_t parent;         // the node whose graph it is in, of `nodes`; -1: the graph itself
    std::string name;       // of the kernel, as it is mangled; empty where the vendor does not tell
    uint64_t id = 0;        // that GPU records have; filled in by who knows it
  };
  std::vector<Node> nodes;
  std::vector<std::pair<uint32_t, uint32_t>> edges;  // from, to; of `nodes`
  // In all; where more than are listed, the first ones are.
  uint64_t node_count = 0, edge_count = 0;
};

inline uint32_t graph_exec_key(const void* exec) {
  const auto bits = reinterpret_cast<uintptr_t>(exec) >> 4;
  return static_cast<uint32_t>(bits ^ (bits >> 32));
}

struct GraphInstance {
  uint64_t ticks = 0;   // base/ticks.hpp, as the callback noted it
  int64_t time_ns = 0;  // monotonic clock, when it is taken
  uint32_t exec = 0;    // graph_exec_key()
  uint32_t graph = 0;   // the number that GPU records give it; 0: not known
  std::optional<uint32_t> kernels;
  std::optional<GraphTopology> topology;
};

// The `event` line of an instance with a topology. `origin_ns`: session time 0, monotonic clock.
base::Json topology_line(const GraphInstance& instance, int64_t origin_ns);

// On their way from the program's threads to the collector. Any thread; a short lock.
class GraphInstances {
 public:
  void push(GraphInstance instance) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) return;  // its kernels will be learnt from records
    if (waiting_.size() >= kMaxTopologies) instance.topology.reset();
    waiting_.push_back(std::move(instance));
  }
  std::vector<GraphInstance> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  static constexpr size_t kMaxTopologies = 64, kMaxWaiting = 65'536;
  std::mutex mutex_;
  std::vector<GraphInstance> waiting_;
};

class GraphExecs {
 public:
  void add(const GraphInstance& instance) {
    if (execs_.size() >= kMaxExecs && execs_.count(instance.exec) == 0) execs_.clear();
    std::vector<Known>& known = execs_[instance.exec];
    if (known.size() == kMaxKnown) known.erase(known.begin());
    known.push_back({instance.time_ns, instance.kernels});
  }
  struct Known {
    int64_t time_ns;
    std::optional<uint32_t> kernels;  // nothing: not always the same
  };
  // Of a launch that began at `time_ns`; null: not known.
  const Known* find(uint32_t exec, int64_t time_ns) const {
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return nullptr;
    for (auto known = found->second.rbegin(); known != found->second.rend(); ++known) {
      if (known->time_ns <= time_ns) return &*known;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kMaxExecs = 16'384;
  static constexpr size_t kMaxKnown = 8;  // of one handle
  std::unordered_map<uint32_t, std::vector<Known>> execs_;
};

}  // namespace gpufl::backend
