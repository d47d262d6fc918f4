// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/standin/cuda/cuda_standin.hpp"

// What tracing asks of CUDA's driver. cuInit() loads the library that CUDA_INJECTION64_PATH names
// and calls its InitializeInjection(), under the driver's own lock, as the real one does; every
// other function says so while CUDA is not initialised.
namespace {

struct Driver {
  std::recursive_mutex mutex;  // held through cuInit(), as the real one's is
  std::atomic<bool> is_initialised{false};
  void (*on_question)() = nullptr;
  std::mutex gpu_mutex;  // guards `gpu`
  gpufl::standin::CudaGpu gpu;
  std::map<uint64_t, std::vector<gpufl::standin::CudaGraphNode>> graphs;
};

Driver& driver() {
  static auto* const one = new Driver;
  return *one;
}

// Handles are numbers here: a node's is its graph's, and its place from 1.
constexpr uint64_t kPlaceBits = 16;

template <typename Handle>
Handle handle(uint64_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}

const std::vector<gpufl::standin::CudaGraphNode>* nodes_of(CUgraph graph) {
  const auto found = driver().graphs.find(reinterpret_cast<uintptr_t>(graph));
  return found != driver().graphs.end() ? &found->second : nullptr;
}

const gpufl::standin::CudaGraphNode* node_of(const void* node) {
  const auto number = reinterpret_cast<uintptr_t>(node);
  const auto* const nodes = nodes_of(handle<CUgraph>(number >> kPlaceBits));
  const size_t place = number & ((uint64_t{1} << kPlaceBits) - 1);
  return nodes != nullptr && place > 0 && place <= nodes->size() ? &(*nodes)[place - 1] : nullptr;
}

thread_local std::vector<CUcontext> t_current;

void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return;
  auto* entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (entry != nullptr) entry();
}

}  // namespace

int gpufl::standin::current_device() {
  const std::lock_guard lock(driver().gpu_mutex);
  const uint64_t second = driver().gpu.on_second;
  return !t_current.empty() && second != 0 &&
                 reinterpret_cast<uintptr_t>(t_current.back()) == second
             ? 1
             : 0;
}

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT CUresult cuInit(unsigned) {
  const std::lock_guard lock(driver().mutex);
  if (driver().is_initialised) return CUDA_SUCCESS;
  inject();
  driver().is_initialised = true;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuDeviceGetCount(int* count) {
  const std::lock_guard lock(driver().mutex);
  if (driver().on_question != nullptr) driver().on_question();
  const std::lock_guard gpu_lock(driver().gpu_mutex);
  *count = driver().gpu.count;
  return driver().is_initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

STANDIN_EXPORT void cuda_standin_describe_gpu(const gpufl::standin::CudaGpu& gpu) {
  const std::lock_guard lock(driver().gpu_mutex);
  driver().gpu = gpu;
}

STANDIN_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  if (!driver().is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const std::lock_guard lock(driver().gpu_mutex);
  const bool is_there = ordinal == 0 || (ordinal > 0 && ordinal < driver().gpu.count);
  return is_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

STANDIN_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  constexpr int kMpsEnabled = 133;
  const std::lock_guard lock(driver().gpu_mutex);
  if (static_cast<int>(attribute) != kMpsEnabled) return CUDA_ERROR_INVALID_VALUE;
  *value = driver().gpu.is_under_mps ? 1 : 0;
  return CUDA_SUCCESS;
}

#undef cuDeviceGetUuid_v2
STANDIN_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  const std::lock_guard lock(driver().gpu_mutex);
  std::memcpy(uuid->bytes, driver().gpu.uuid, sizeof uuid->bytes);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  const std::lock_guard lock(driver().gpu_mutex);
  *status =
      driver().gpu.is_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  const std::lock_guard lock(driver().gpu_mutex);
  *flags = 0;
  *active = driver().gpu.primary != 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  const std::lock_guard lock(driver().gpu_mutex);
  *context = handle<CUcontext>(driver().gpu.primary);
  return CUDA_SUCCESS;
}

#undef cuDevicePrimaryCtxRelease_v2
STANDIN_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }

#undef cuCtxPushCurrent_v2
STANDIN_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  const std::lock_guard lock(driver().gpu_mutex);
  const auto number = reinterpret_cast<uintptr_t>(context);
  if (number == driver().gpu.broken && number != 0) return CUDA_ERROR_INVALID_CONTEXT;
  t_current.push_back(context);
  return CUDA_SUCCESS;
}

#undef cuCtxPopCurrent_v2
STANDIN_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = t_current.back();
  t_current.pop_back();
  return CUDA_SUCCESS;
}

#undef cuMemGetInfo_v2
STANDIN_EXPORT CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* all_bytes) {
  const std::lock_guard lock(driver().gpu_mutex);
  *free_bytes = driver().gpu.free_bytes;
  *all_bytes = size_t{80} << 30;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuCtxSynchronize() {
  void (*tell)(uint64_t) = nullptr;
  {
    const std::lock_guard lock(driver().gpu_mutex);
    tell = driver().gpu.on_synchronize;
  }
  if (tell != nullptr) tell(reinterpret_cast<uintptr_t>(t_current.back()));
  return CUDA_SUCCESS;
}

// What a question to the driver does besides: what CUPTI would tell of it. Null: nothing.
STANDIN_EXPORT void cuda_standin_on_question(void (*tell)()) {
  const std::lock_guard lock(driver().mutex);
  driver().on_question = tell;
}

// As in a process that has not touched CUDA.
STANDIN_EXPORT void cuda_standin_forget() {
  const std::lock_guard lock(driver().mutex);
  driver().is_initialised = false;
}

STANDIN_EXPORT void cuda_standin_add_graph(uint64_t graph,
                                           const gpufl::standin::CudaGraphNode* nodes,
                                           size_t count) {
  const std::lock_guard lock(driver().mutex);
  driver().graphs[graph].assign(nodes, nodes + count);
}

STANDIN_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  const std::lock_guard lock(driver().mutex);
  const auto* const known = nodes_of(graph);
  if (known == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t number = reinterpret_cast<uintptr_t>(graph);
  for (size_t i = 0; nodes != nullptr && i < *count && i < known->size(); ++i) {
    nodes[i] = handle<CUgraphNode>((number << kPlaceBits) + i + 1);
  }
  *count = known->size();
  return CUDA_SUCCESS;
}

#undef cuGraphGetEdges
STANDIN_EXPORT CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                        size_t* count) {
  const std::lock_guard lock(driver().mutex);
  const auto* const known = nodes_of(graph);
  if (known == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t first = (reinterpret_cast<uintptr_t>(graph) << kPlaceBits) + 1;
  const size_t edges = known->empty() ? 0 : known->size() - 1;
  for (size_t i = 0; from != nullptr && i < *count && i < edges; ++i) {
    from[i] = handle<CUgraphNode>(first + i);
    to[i] = handle<CUgraphNode>(first + i + 1);
  }
  *count = edges;
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  const std::lock_guard lock(driver().mutex);
  const auto* const known = node_of(node);
  if (known == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = static_cast<CUgraphNodeType>(known->type);
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  const std::lock_guard lock(driver().mutex);
  const auto* const known = node_of(node);
  if (known == nullptr || known->child == 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = handle<CUgraph>(known->child);
  return CUDA_SUCCESS;
}

#undef cuGraphKernelNodeGetParams_v2
STANDIN_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                      CUDA_KERNEL_NODE_PARAMS* parameters) {
  const std::lock_guard lock(driver().mutex);
  if (node_of(node) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *parameters = {};
  parameters->func = handle<CUfunction>(reinterpret_cast<uintptr_t>(node));  // told by its node
  return CUDA_SUCCESS;
}

STANDIN_EXPORT CUresult cuFuncGetName(const char** name, CUfunction function) {
  const std::lock_guard lock(driver().mutex);
  const auto* const known = node_of(function);
  if (known == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = known->name;
  return CUDA_SUCCESS;
}
