// SPDX-License-Identifier: Apache-2.0
// What callbacks note of graphs: who made their nodes, and what an instance of one owes to a
// launch.
#include <new>
#include <unordered_map>

#include "backend/nvidia/cupti/call_watch.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

// Where every version of cuGraphInstantiate says what it makes, and of what.
struct InstantiateParams {
  CUgraphExec* exec;
  CUgraph graph;
};

}  // namespace

// A launch into a graph has no callback of the driver's: the node that comes of it does, on the
// capturing thread, inside the call.
void CallWatch::note_graph_node(CUpti_CallbackId id, const CUpti_GraphData& graph,
                                uint32_t session) {
  const CuptiApi& api = *api_.load();
  GraphNodeNote note{};
  if (api.cuptiGetGraphNodeId(graph.node, &note.node) != CUPTI_SUCCESS) return;
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    note_cloned_node(graph.originalNode, note.node, session);
    if (stacks_ == nullptr) return;
    if (api.cuptiGetGraphNodeId(graph.originalNode, &note.original) != CUPTI_SUCCESS) return;
  } else {
    const bool runs = graph.nodeType == CU_GRAPH_NODE_TYPE_KERNEL ||
                      graph.nodeType == CU_GRAPH_NODE_TYPE_MEMCPY ||
                      graph.nodeType == CU_GRAPH_NODE_TYPE_MEMSET;
    if (!runs) return;
    note.stack = record_stack();
  }
  GraphNodeRing* const ring = GraphNodeRings::of_thread(session);
  if (ring == nullptr) return;
  ring->enter_session(session);
  if (GraphNodeNote* slot = ring->claim_slot()) {
    *slot = note;
    ring->publish();
  }
}

void CallWatch::note_cloned_node(CUgraphNode original, uint64_t clone, uint32_t session) {
  NoteRing* const ring = NoteRings::of_thread(session);
  if (ring == nullptr || !ring->is_instantiating) return;
  if (ring->cloned_nodes.size() >= CudaGraphs::kMaxNodesListed) return;
  try {
    ring->cloned_nodes.emplace_back(original, clone);
  } catch (const std::bad_alloc&) {  // the topology has the id of the original
  }
}

// The driver has just made it, and it is asked on the same thread: nobody changes it meanwhile.
void CallWatch::on_instantiated(NoteRing& ring, const CUpti_CallbackData& call) {
  const auto& parameters = *static_cast<const InstantiateParams*>(call.functionParams);
  if (has_failed(call) || parameters.exec == nullptr || parameters.graph == nullptr) return;
  try {
    graph_instances_.push(describe(ring, *parameters.exec, parameters.graph));
  } catch (const std::bad_alloc&) {  // its kernels will be learnt from their records
  }
  ring.is_instantiating = false;
}

GraphInstance CallWatch::describe(NoteRing& ring, CUgraphExec exec, CUgraph graph) const {
  const CuptiApi& api = *api_.load();
  const CudaGraphs& driver = driver_->graphs();
  GraphInstance instance;
  instance.ticks = now_ticks();
  instance.exec = graph_exec_key(exec);
  instance.kernels = driver.kernels(graph);
  if (!ring.is_instantiating) return instance;
  if (api.cuptiGetGraphExecId == nullptr ||
      api.cuptiGetGraphExecId(exec, &instance.graph) != CUPTI_SUCCESS) {
    instance.graph = 0;
  }
  instance.topology = driver.topology(graph);
  if (!instance.topology) return instance;
  const std::unordered_map<const void*, uint64_t> clones(ring.cloned_nodes.begin(),
                                                         ring.cloned_nodes.end());
  for (GraphTopology::Node& node : instance.topology->nodes) {
    const auto clone = clones.find(node.handle);
    if (clone != clones.end()) {
      node.id = clone->second;
    } else if (api.cuptiGetGraphNodeId(static_cast<CUgraphNode>(node.handle), &node.id) !=
               CUPTI_SUCCESS) {
      node.id = 0;
    }
  }
  return instance;
}

// A node was switched off or on: how many kernels run is the program's secret from here on.
void CallWatch::on_graph_changed(const CUpti_CallbackData& call) {
  if (has_failed(call)) return;
  const auto& parameters = *static_cast<const cuGraphNodeSetEnabled_params*>(call.functionParams);
  GraphInstance instance;
  instance.ticks = now_ticks();
  instance.exec = graph_exec_key(parameters.hGraphExec);
  try {
    graph_instances_.push(std::move(instance));
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace gpufl::backend
