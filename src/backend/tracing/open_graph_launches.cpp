// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/open_graph_launches.hpp"

namespace gpufl::backend {

void OpenGraphLaunches::Graph::add_to(Learnt& learnt) const {
  constexpr uint64_t kMostOf = 10;  // all but one in so many
  if (told == Told::Varies) ++learnt.differing;
  if (told != Told::Nothing || kernels == launches * most_kernels) return;
  if (full_launches * kMostOf >= launches * (kMostOf - 1)) {
    learnt.kernels_missing += launches * most_kernels - kernels;
  } else {
    ++learnt.differing;
  }
}

OpenGraphLaunches::Launch& OpenGraphLaunches::open(uint32_t correlation, uint32_t graph) {
  if (last_ != nullptr && last_->row.correlation == correlation) return *last_;
  const auto [found, is_new] = launches_.try_emplace(correlation);
  last_ = &found->second;
  if (!is_new) return *last_;
  last_->row.correlation = correlation;
  last_->row.graph = graph;
  if (graphs_.size() >= kMaxGraphs) {
    forgotten_ = learnt();
    graphs_.clear();
  }
  Graph& known = graphs_[graph];
  const auto before = launches_.find(known.newest);
  if (known.newest != 0 && before != launches_.end()) before->second.is_followed = true;
  known.newest = correlation;
  return *last_;
}

void OpenGraphLaunches::add_kernel(uint32_t correlation, uint32_t graph) {
  if (correlation == 0) return;
  Launch& launch = open(correlation, graph);
  ++launch.kernels;
  launch.quiet = 0;
}

void OpenGraphLaunches::add_node(const ActivityRow& row, uint32_t graph) {
  if (row.correlation == 0) return;
  Launch& launch = open(row.correlation, graph);
  GraphRow& span = launch.row;
  if (span.nodes == 0) {
    static_cast<ActivityRow&>(span) = row;
    span.end_device = row.device;
  }
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

bool OpenGraphLaunches::is_complete(const Launch& launch) const {
  if (launch.quiet == 0) return false;
  if (launch.is_followed || launch.quiet >= kQuietFlushes) return true;
  const auto known = graphs_.find(launch.row.graph);
  return known != graphs_.end() && known->second.most_nodes != 0 &&
         launch.row.nodes >= known->second.most_nodes;
}

void OpenGraphLaunches::learn(const Launch& launch, Told told) {
  Graph& known = graphs_[launch.row.graph];
  known.most_nodes = std::max(known.most_nodes, launch.row.nodes);
  known.told = std::max(known.told, told);
  ++known.launches;
  known.kernels += launch.kernels;
  if (launch.kernels > known.most_kernels) {
    known.most_kernels = launch.kernels;
    known.full_launches = 0;
  }
  if (launch.kernels == known.most_kernels) ++known.full_launches;
}

OpenGraphLaunches::Learnt OpenGraphLaunches::learnt() const {
  Learnt sum = forgotten_;
  for (const auto& [number, graph] : graphs_) graph.add_to(sum);
  return sum;
}

}  // namespace gpufl::backend
