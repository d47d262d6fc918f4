// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/graph_launches.hpp"

#include <algorithm>

namespace gpufl::backend {

GraphLaunches::Launch& GraphLaunches::open(const ActivityRow& row, uint32_t graph) {
  if (last_ != nullptr && last_->row.correlation == row.correlation) return *last_;
  const auto [found, is_new] = launches_.try_emplace(row.correlation);
  last_ = &found->second;
  if (!is_new) return *last_;
  static_cast<ActivityRow&>(last_->row) = row;
  last_->row.graph = graph;
  last_->row.end_device = row.device;
  if (graphs_.size() >= kMaxGraphs) graphs_.clear();
  Graph& known = graphs_[graph];
  const auto before = launches_.find(known.newest);
  if (known.newest != 0 && before != launches_.end()) before->second.is_followed = true;
  known.newest = row.correlation;
  return *last_;
}

void GraphLaunches::add_node(const ActivityRow& row, uint32_t graph) {
  if (row.correlation == 0) return;
  Launch& launch = open(row, graph);
  GraphRow& span = launch.row;
  const int64_t end = row.start + row.duration;
  int64_t span_end = span.start + span.duration;
  if (end > span_end) {
    span_end = end;
    span.end_device = row.device;
  }
  if (row.start < span.start) {
    span.start = row.start;
    span.device = row.device;
    span.stream = row.stream;
  }
  span.duration = span_end - span.start;
  ++span.nodes;
  launch.quiet = 0;
}

bool GraphLaunches::is_complete(const Launch& launch) const {
  if (launch.quiet == 0) return false;
  if (launch.is_followed || launch.quiet >= kQuietFlushes) return true;
  const auto known = graphs_.find(launch.row.graph);
  return known != graphs_.end() && known->second.most_nodes != 0 &&
         launch.row.nodes >= known->second.most_nodes;
}

void GraphLaunches::take_complete(bool all, std::vector<GraphRow>& out) {
  all |= launches_.size() > kMaxOpen;
  const size_t first = out.size();
  for (auto it = launches_.begin(); it != launches_.end();) {
    if (all || is_complete(it->second)) {
      out.push_back(it->second.row);
      it = launches_.erase(it);
    } else {
      ++it->second.quiet;
      ++it;
    }
  }
  last_ = nullptr;
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, out.end(),
            [](const GraphRow& a, const GraphRow& b) { return a.start < b.start; });
  for (auto row = begin; row != out.end(); ++row) {
    Graph& known = graphs_[row->graph];
    if (row->nodes < known.most_nodes) ++short_launches_;
    known.most_nodes = std::max(known.most_nodes, row->nodes);
  }
}

}  // namespace gpufl::backend
