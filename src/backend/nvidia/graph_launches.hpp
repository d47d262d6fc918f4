// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backend/nvidia/activity_rows.hpp"

// Launches of graphs, put together from the records of their nodes: CUPTI's own record of a graph
// launch would cost those of its kernels. A launch is complete when the next one of the same graph
// has begun (they do not overlap), or when it has as many nodes as launches before it had, and a
// flush brought no more; failing that, after a quiet second. The collector's thread only.
namespace gpufl::backend {

class GraphLaunches {
 public:
  void add_node(const ActivityRow& row, uint32_t graph);
  // After a flush: appends the launches that are complete. With `all`, the others as well.
  void take_complete(bool all, std::vector<GraphRow>& out);

  // Launches with fewer records than another of the same graph had: the nodes that were not run
  // are conditional, or their records are lost.
  uint64_t short_launches() const { return short_launches_; }

 private:
  static constexpr size_t kMaxOpen = 16'384;
  static constexpr size_t kMaxGraphs = 65'536;
  static constexpr uint32_t kQuietFlushes = 20;

  struct Launch {
    GraphRow row;
    uint32_t quiet = 0;  // flushes without a node
    bool is_followed = false;
  };
  struct Graph {
    uint32_t most_nodes = 0;
    uint32_t newest = 0;  // correlation id
  };
  Launch& open(const ActivityRow& row, uint32_t graph);
  bool is_complete(const Launch& launch) const;

  std::unordered_map<uint32_t, Launch> launches_;  // by correlation id
  std::unordered_map<uint32_t, Graph> graphs_;
  Launch* last_ = nullptr;  // of launches_
  uint64_t short_launches_ = 0;
};

}  // namespace gpufl::backend
