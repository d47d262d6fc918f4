// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// How a test describes graphs to the stand-in libcuda: graph `graph` has the nodes given, in this
// order, and an edge from each to the next. The library's function cuda_standin_add_graph().
namespace gpufl::standin {

struct CudaGraphNode {
  uint32_t type;          // CUgraphNodeType
  uint64_t child = 0;     // of a node that is a graph
  const char* name = "";  // of a kernel
};

// And its GPUs, all alike, for cuda_standin_describe_gpu().
struct CudaGpu {
  int count = 1;  // 0: there is none
  bool is_under_mps = false;
  bool is_capturing = false;  // all of its streams
  unsigned char uuid[16] = {};
  uint64_t primary = 0;                                // its primary context; 0: not in use
  uint64_t on_second = 0;                              // a context on the second GPU
  uint64_t broken = 0;                                 // a context that cannot be made current
  uint64_t free_bytes = uint64_t{80} << 30;            // of memory
  void (*on_synchronize)(uint64_t context) = nullptr;  // whoever waits for it
};

// Of the context that is current to the thread. Within the library.
int current_device();

using CudaDescribeGpuFunction = void(const CudaGpu& gpu);
using CudaAddGraphFunction = void(uint64_t graph, const CudaGraphNode* nodes, size_t count);

}  // namespace gpufl::standin
