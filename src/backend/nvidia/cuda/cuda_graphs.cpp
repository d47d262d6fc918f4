// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/cuda_graphs.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace gpufl::backend {
namespace {

constexpr std::string_view kKernel = "kernel", kGraph = "graph";

std::string_view kind_name(CUgraphNodeType type) {
  constexpr std::string_view kNames[] = {
      kKernel,        "memcpy",      "memset",       "host",         kGraph,
      "empty",        "wait_event",  "record_event", "semas_signal", "semas_wait",
      "memory_alloc", "memory_free", "batch_mem_op", "conditional"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "other";
}

}  // namespace

CudaGraphs::CudaGraphs(const base::DynamicLibrary& driver) {
  driver.load("cuGraphGetNodes", get_nodes_);
  driver.load("cuGraphNodeGetType", get_type_);
  driver.load("cuGraphChildGraphNodeGetGraph", get_child_);
  driver.load("cuGraphGetEdges", get_edges_);
  driver.load("cuGraphGetEdges_v2", get_edges_v2_);
  driver.load("cuGraphKernelNodeGetParams_v2", get_kernel_);
  driver.load("cuFuncGetName", function_name_);
  driver.load("cuKernelGetName", kernel_name_);
}

bool CudaGraphs::nodes(CUgraph graph, std::vector<CUgraphNode>& out) const {
  size_t count = 0;
  out.clear();
  if (get_nodes_ == nullptr || get_type_ == nullptr) return false;
  if (get_nodes_(graph, nullptr, &count) != CUDA_SUCCESS) return false;
  if (count > kMaxNodesWalked) return false;
  out.resize(count);
  if (count == 0) return true;
  if (get_nodes_(graph, out.data(), &count) != CUDA_SUCCESS) return false;
  out.resize(std::min(count, out.size()));
  return true;
}

bool CudaGraphs::count(CUgraph graph, int depth, uint64_t& nodes_left, uint64_t& kernels) const {
  std::vector<CUgraphNode> handles;
  if (depth > kMaxDepth || !nodes(graph, handles) || handles.size() > nodes_left) return false;
  nodes_left -= handles.size();
  for (const CUgraphNode node : handles) {
    CUgraphNodeType type{};
    if (get_type_(node, &type) != CUDA_SUCCESS) return false;
    if (static_cast<uint32_t>(type) == kConditional) return false;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) ++kernels;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH) continue;
    CUgraph child = nullptr;
    if (get_child_ == nullptr || get_child_(node, &child) != CUDA_SUCCESS) return false;
    if (!count(child, depth + 1, nodes_left, kernels)) return false;
  }
  return true;
}

std::optional<uint32_t> CudaGraphs::kernels(CUgraph graph) const {
  uint64_t nodes_left = kMaxNodesWalked, kernels = 0;
  if (!count(graph, 0, nodes_left, kernels)) return {};
  return static_cast<uint32_t>(kernels);
}

std::string CudaGraphs::kernel_name(CUgraphNode node) const {
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  if (get_kernel_ == nullptr || get_kernel_(node, &parameters) != CUDA_SUCCESS) return "";
  const char* name = nullptr;
  const bool is_told =
      parameters.func != nullptr
          ? function_name_ != nullptr && function_name_(&name, parameters.func) == CUDA_SUCCESS
          : kernel_name_ != nullptr && parameters.kern != nullptr &&
                kernel_name_(&name, parameters.kern) == CUDA_SUCCESS;
  return is_told && name != nullptr ? name : "";
}

// `nodes` are those of `graph`, the listed ones of which begin at `first` of `out`.
void CudaGraphs::list_edges(CUgraph graph, const std::vector<CUgraphNode>& nodes, size_t first,
                            GraphTopology& out) const {
  // The second version is asked with room for what edges carry, which the first refuses to lose.
  struct EdgeData {
    uint8_t bytes[8];
  };
  const auto ask = [&](CUgraphNode* from, CUgraphNode* to, EdgeData* data, size_t* count) {
    if (get_edges_v2_ != nullptr) return get_edges_v2_(graph, from, to, data, count);
    return get_edges_ != nullptr ? get_edges_(graph, from, to, count) : CUDA_ERROR_NOT_FOUND;
  };
  size_t count = 0;
  if (ask(nullptr, nullptr, nullptr, &count) != CUDA_SUCCESS || count == 0) return;
  out.edge_count += count;
  if (count > kMaxNodesWalked || out.edges.size() >= kMaxEdgesListed) return;
  std::vector<CUgraphNode> from(count), to(count);
  std::vector<EdgeData> data(count);
  if (ask(from.data(), to.data(), data.data(), &count) != CUDA_SUCCESS) return;
  std::unordered_map<CUgraphNode, uint32_t> places;
  const size_t listed = std::min(nodes.size(), out.nodes.size() - first);
  for (size_t i = 0; i < listed; ++i) places[nodes[i]] = static_cast<uint32_t>(first + i);
  for (size_t i = 0; i < std::min(count, from.size()); ++i) {
    const auto source = places.find(from[i]), target = places.find(to[i]);
    if (source == places.end() || target == places.end()) continue;
    if (out.edges.size() == kMaxEdgesListed) return;
    out.edges.emplace_back(source->second, target->second);
  }
}

bool CudaGraphs::list(CUgraph graph, int depth, int64_t parent, GraphTopology& out) const {
  std::vector<CUgraphNode> handles;
  if (depth > kMaxDepth || !nodes(graph, handles)) return false;
  out.node_count += handles.size();
  const size_t first = out.nodes.size();
  for (const CUgraphNode node : handles) {
    if (out.nodes.size() == kMaxNodesListed) break;
    CUgraphNodeType type{};
    if (get_type_(node, &type) != CUDA_SUCCESS) return false;
    out.nodes.push_back({node, kind_name(type), parent,
                         type == CU_GRAPH_NODE_TYPE_KERNEL ? kernel_name(node) : ""});
  }
  const size_t end = out.nodes.size();
  list_edges(graph, handles, first, out);
  for (size_t i = first; i < end; ++i) {
    CUgraph child = nullptr;
    if (out.nodes[i].kind != kGraph) continue;
    if (get_child_ == nullptr || get_child_(handles[i - first], &child) != CUDA_SUCCESS) continue;
    list(child, depth + 1, static_cast<int64_t>(i), out);
  }
  return true;
}

std::optional<GraphTopology> CudaGraphs::topology(CUgraph graph) const {
  GraphTopology topology;
  if (!list(graph, 0, -1, topology)) return {};
  return topology;
}

}  // namespace gpufl::backend
