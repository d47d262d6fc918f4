// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "backend/tracing/activity_rows.hpp"
#include "base/page_allocator.hpp"

// Launches of graphs, put together from the records of their nodes: a vendor's own record of a
// graph launch may cost those of its kernels. A launch is complete when the next one of the same
// graph has begun (they do not overlap), or when it has as many nodes as launches before it had,
// and a flush brought no more; failing that, after a quiet second. The collector's thread only.
namespace gpufl::backend {

class OpenGraphLaunches {
 public:
  // A record of a kernel, whatever its times are.
  void add_kernel(uint32_t correlation, uint32_t graph);
  // A record of any node with times that can be.
  void add_node(const ActivityRow& row, uint32_t graph);
  // After a flush: appends the launches that are complete. With `all`, the others as well.
  // told(correlation): what is known of the kernels that this launch owes.
  enum class Told { Nothing, Count, Varies };  // of several, the last counts
  template <typename Ask>
  void take_complete(bool all, Ask told, base::PageVector<GraphRow>& out);

  // What can be said of graphs without a count of the kernels that a launch of them owes. Where
  // nearly all launches bring as many as the longest, the others lack some; where they differ,
  // nodes are conditional, or records are lost.
  struct Learnt {
    uint64_t kernels_missing = 0;
    uint64_t differing = 0;  // graphs, of which some varied or are known to
  };
  Learnt learnt() const;

 private:
  static constexpr size_t kMaxOpen = 16'384;
  static constexpr size_t kMaxGraphs = 65'536;
  static constexpr uint32_t kQuietFlushes = 20;

  struct Launch {
    GraphRow row;
    uint32_t kernels = 0;
    uint32_t quiet = 0;  // flushes without a node
    bool is_followed = false;
  };
  struct Graph {
    uint32_t most_nodes = 0;
    uint32_t newest = 0;  // correlation id
    // Of launches that are complete.
    uint64_t launches = 0, kernels = 0;
    uint64_t full_launches = 0;  // that brought `most_kernels`
    uint32_t most_kernels = 0;
    Told told = Told::Nothing;

    void add_to(Learnt& learnt) const;
  };
  Launch& open(uint32_t correlation, uint32_t graph);
  bool is_complete(const Launch& launch) const;
  void learn(const Launch& launch, Told told);

  std::unordered_map<uint32_t, Launch> launches_;  // by correlation id
  std::unordered_map<uint32_t, Graph> graphs_;
  Launch* last_ = nullptr;  // of launches_
  Learnt forgotten_;        // of graphs that had to make room
};

template <typename Ask>
void OpenGraphLaunches::take_complete(bool all, Ask told, base::PageVector<GraphRow>& out) {
  all |= launches_.size() > kMaxOpen;
  const size_t first = out.size();
  for (auto it = launches_.begin(); it != launches_.end();) {
    Launch& launch = it->second;
    if (!all && !is_complete(launch)) {
      ++launch.quiet;
      ++it;
      continue;
    }
    learn(launch, told(it->first));
    if (launch.row.nodes != 0) out.push_back(launch.row);
    it = launches_.erase(it);
  }
  last_ = nullptr;
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
            [](const GraphRow& a, const GraphRow& b) { return a.start < b.start; });
}

}  // namespace gpufl::backend
