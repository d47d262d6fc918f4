// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/tracing/graph_execs.hpp"
#include "base/dynamic_library.hpp"

// What CUDA's driver knows of a graph that was just instantiated: how many kernels a launch of it
// runs, and how its nodes depend on each other. Any thread that may call CUDA; a question to the
// driver for every node. Nothing is changed. Graphs inside of graphs are walked through.
namespace gpufl::backend {

class CudaGraphs {
 public:
  static constexpr size_t kMaxNodesListed = 4096, kMaxEdgesListed = 8192;

  explicit CudaGraphs(const base::DynamicLibrary& driver);

  // Nothing when a launch does not always run the same number (conditional nodes), or where the
  // driver does not answer.
  std::optional<uint32_t> kernels(CUgraph graph) const;
  // Nothing where the driver does not answer.
  std::optional<GraphTopology> topology(CUgraph graph) const;

 private:
  // CUDA 12.3's name for what a header before it lacks.
  static constexpr uint32_t kConditional = 13;
  static constexpr int kMaxDepth = 16;
  static constexpr size_t kMaxNodesWalked = size_t{1} << 20;

  bool nodes(CUgraph graph, std::vector<CUgraphNode>& out) const;
  bool count(CUgraph graph, int depth, uint64_t& nodes_left, uint64_t& kernels) const;
  bool list(CUgraph graph, int depth, int64_t parent, GraphTopology& out) const;
  void list_edges(CUgraph graph, const std::vector<CUgraphNode>& nodes, size_t first,
                  GraphTopology& out) const;
  std::string kernel_name(CUgraphNode node) const;

  CUresult (*get_nodes_)(CUgraph, CUgraphNode*, size_t*) = nullptr;
  CUresult (*get_type_)(CUgraphNode, CUgraphNodeType*) = nullptr;
  CUresult (*get_child_)(CUgraphNode, CUgraph*) = nullptr;
  CUresult (*get_edges_)(CUgraph, CUgraphNode*, CUgraphNode*, size_t*) = nullptr;
  CUresult (*get_edges_v2_)(CUgraph, CUgraphNode*, CUgraphNode*, void*, size_t*) = nullptr;
  CUresult (*get_kernel_)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*) = nullptr;
  CUresult (*function_name_)(const char**, CUfunction) = nullptr;
  CUresult (*kernel_name_)(const char**, CUkernel) = nullptr;
};

}  // namespace gpufl::backend
