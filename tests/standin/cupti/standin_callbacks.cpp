// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_callbacks.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tests/standin/cupti/standin_library.hpp"

namespace gpufl::standin {
namespace {

// Handles are numbers here.
template <typename Handle>
Handle handle(uint64_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}

constexpr auto kNothing = [](Library&, uint64_t) {};

uint32_t play(CUpti_CallbackId runtime, CUpti_CallbackId driver, Inside inside, void* data,
              const void* parameters = nullptr) {
  PlayedCall outer(CUPTI_CB_DOMAIN_RUNTIME_API, runtime, 0, parameters, 0);
  outer.enter();
  PlayedCall inner(CUPTI_CB_DOMAIN_DRIVER_API, driver, 0, parameters, outer.correlation());
  inner.enter();
  if (inside != nullptr) inside(data);
  inner.exit(kNothing);
  outer.exit(kNothing);
  return outer.correlation();
}

uint32_t device_synchronize(Inside inside, void* data) {
  return play(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
              CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, inside, data);
}

uint32_t copy_and_wait(Inside inside, void* data) {
  return play(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
              inside, data);
}

uint32_t stream_synchronize(uint64_t stream) {
  cudaStreamSynchronize_v3020_params parameters{handle<cudaStream_t>(stream)};
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, 0,
              &parameters, 0, [](Library&, uint32_t, uint64_t) {});
}

uint32_t stream_wait_event(uint64_t stream, uint64_t event) {
  cudaStreamWaitEvent_v3020_params parameters{handle<cudaStream_t>(stream),
                                              handle<cudaEvent_t>(event), 0};
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, 0,
              &parameters, 0, [](Library&, uint32_t, uint64_t) {});
}

uint32_t launch_around(Inside inside, void* data, int driver_result, int runtime_result) {
  static cuLaunchKernel_params parameters{};
  PlayedCall outer(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                   runtime_result, nullptr, 0);
  outer.enter();
  if (inside != nullptr) inside(data);
  PlayedCall inner(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                   driver_result, &parameters, outer.correlation());
  inner.enter();
  inner.exit(kNothing);
  outer.exit(kNothing);
  return outer.correlation();
}

void begin_forever() {
  static std::deque<PlayedCall> calls;
  calls
      .emplace_back(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, 0,
                    nullptr, 0)
      .enter();
}

void fail_to_end_capture(int result) {
  const cudaStreamEndCapture_v10000_params parameters{handle<cudaStream_t>(7), nullptr};
  call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000, result,
       &parameters, 0, [](Library&, uint32_t, uint64_t) {});
}

uint32_t load_module(Inside inside, void* data) {
  PlayedCall call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, 0, nullptr,
                  0);
  call.enter();
  if (inside != nullptr) inside(data);
  call.exit(kNothing);
  return call.correlation();
}

uint32_t launch_on_devices(uint32_t devices) {
  cuLaunchCooperativeKernelMultiDevice_params parameters{};
  parameters.numDevices = devices;
  return call(CUPTI_CB_DOMAIN_DRIVER_API,
              CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice, 0, &parameters, 0,
              [](Library&, uint32_t, uint64_t) {});
}

uint32_t launch_ex(int result) {
  CUlaunchConfig config{};
  cuLaunchKernelEx_ptsz_params parameters{};
  parameters.config = &config;
  return call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, result,
              &parameters, 0, [](Library&, uint32_t, uint64_t) {});
}

// All that follows the stream is not looked at.
struct CaptureParams {
  CUstream stream;
  uint64_t rest[4];
};

void capture_on(bool begin, uint64_t stream) {
  const CaptureParams parameters{handle<CUstream>(stream), {}};
  play(begin ? CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000
             : CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000,
       begin ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2
             : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
       nullptr, nullptr, &parameters);
}

void capture(bool begin) { capture_on(begin, 7); }

void destroy_stream(uint64_t stream) {
  const CaptureParams parameters{handle<CUstream>(stream), {}};
  play(CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050, CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2,
       nullptr, nullptr, &parameters);
}

uint32_t make_graph(Inside inside, void* data) {
  CUgraphExec made = graph_exec_handle(5);
  const cuGraphInstantiateWithFlags_params parameters{&made, handle<CUgraph>(1), 0};
  std::pair<Inside, void*> given{inside, data};
  const Inside disturbed_by_cupti = [](void* what) {
    const auto& [function, argument] = *static_cast<const std::pair<Inside, void*>*>(what);
    ++library().launching;
    if (function != nullptr) function(argument);
    --library().launching;
  };
  return play(CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000,
              CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, disturbed_by_cupti, &given,
              &parameters);
}

void profiler(bool start) {
  call(CUPTI_CB_DOMAIN_DRIVER_API,
       start ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, 0,
       nullptr, 0, [](Library&, uint32_t, uint64_t) {});
}

void resource(uint32_t id) { notify_resource(id, nullptr); }

void resource_of(uint32_t id, uint64_t context) { notify_resource(id, nullptr, context); }

void set_context(uint64_t context) { library().context = context; }

void graph_node(uint64_t node, uint64_t original) {
  CUpti_GraphData graph{};
  graph.node = handle<CUgraphNode>(node);
  graph.originalNode = handle<CUgraphNode>(original);
  graph.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  notify_resource(
      original != 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
      &graph);
}

uint32_t instantiate(uint32_t exec, uint64_t graph, uint32_t nodes, uint64_t first_clone) {
  CUgraphExec made = graph_exec_handle(exec);
  cuGraphInstantiateWithFlags_params parameters{&made, handle<CUgraph>(graph), 0};
  PlayedCall call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
                  0, &parameters, 0);
  call.enter();
  for (uint32_t i = 0; i < nodes; ++i) graph_node(first_clone + i, (graph << 16) + i + 1);
  call.exit(kNothing);
  return call.correlation();
}

void enable_node(uint32_t exec) {
  cuGraphNodeSetEnabled_params parameters{graph_exec_handle(exec), handle<CUgraphNode>(1), 0};
  call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, 0, &parameters, 0,
       [](Library&, uint32_t, uint64_t) {});
}

void subscribe_other(const char* name) {
  const std::lock_guard lock(library().mutex);
  library().other_tool = name;
}

// The other tool's callbacks. Buffers of ours that CUPTI held come to it, as with the real one.
std::atomic<uint32_t> g_others_buffers{0};
CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;
constexpr size_t kOthersBytes = 4096;

void CUPTIAPI others_request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kOthersBytes));
  *size = kOthersBytes;
  *max_records = 0;
}

void CUPTIAPI others_complete(CUcontext, uint32_t, uint8_t* buffer, size_t size, size_t) {
  ++g_others_buffers;
  if (size == kOthersBytes) std::free(buffer);
}

void register_other(bool registers) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  if (registers) {
    g_others_buffers = 0;
    g_request = lib.request;
    g_complete = lib.complete;
    lib.request = others_request;
    lib.complete = others_complete;
    return;
  }
  for (Buffer* buffer : {&lib.calls, &lib.work, &lib.running}) {
    if (buffer->data != nullptr) others_complete(nullptr, 0, buffer->data, buffer->size, 0);
    *buffer = {};
  }
  lib.request = g_request;
  lib.complete = g_complete;
}

uint32_t others_buffers() { return g_others_buffers; }

uint32_t flushes() {
  const std::lock_guard lock(library().mutex);
  return library().flushes;
}

constexpr CuptiStandinCallbacks kCallbacks = {
    device_synchronize, copy_and_wait,  load_module,   launch_on_devices,
    launch_ex,          capture,        profiler,      resource,
    graph_node,         instantiate,    enable_node,   subscribe_other,
    register_other,     others_buffers, flushes,       stream_synchronize,
    stream_wait_event,  launch_around,  begin_forever, fail_to_end_capture,
    resource_of,        set_context,    make_graph,    capture_on,
    destroy_stream};

// Ids that the program has pushed.
std::vector<uint64_t>& external_ids(CUpti_ExternalCorrelationKind kind) {
  thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<uint64_t>> ids;
  return ids[kind];
}

// As the real one lays it out; headers before 13.0 lack it.
struct SubscriberParams {
  size_t struct_size;
  const char* name;
  char* old_name;
  size_t old_size;
};

}  // namespace

void notify_resource(CUpti_CallbackId id, void* descriptor, uint64_t context) {
  Library& lib = library();
  CUpti_CallbackFunc function = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(lib.mutex);
    if (lib.callbacks.count({CUPTI_CB_DOMAIN_RESOURCE, id}) != 0) {
      function = lib.callback;
      user = lib.callback_data;
    }
  }
  CUpti_ResourceData data{};
  data.context = handle<CUcontext>(context);
  data.resourceDescriptor = descriptor;
  if (function != nullptr) function(user, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT const CuptiStandinCallbacks* cupti_standin_callbacks() { return &kCallbacks; }

#if CUPTI_API_VERSION >= 130000
STANDIN_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                             CUpti_CallbackFunc callback, void* user,
                                             CUpti_SubscriberParams* given) {
#else
STANDIN_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                             CUpti_CallbackFunc callback, void* user, void* given) {
#endif
  const CUptiResult result = cuptiSubscribe(subscriber, callback, user);
  SubscriberParams parameters{};
  std::memcpy(&parameters, given, sizeof parameters);
  const std::lock_guard lock(library().mutex);
  if (result != CUPTI_SUCCESS && parameters.old_name != nullptr) {
    const size_t length = library().other_tool.copy(parameters.old_name, parameters.old_size - 1);
    parameters.old_name[length] = '\0';
  }
  return result;
}

STANDIN_EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  STANDIN_MAY_FAIL(cuptiGetContextId);
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* id) {
  STANDIN_MAY_FAIL(cuptiGetStreamIdEx);
  constexpr uint32_t kDefaultStream = 7;
  *id = stream != nullptr ? static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream))
                          : kDefaultStream;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  external_ids(kind).push_back(id);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                                 uint64_t* id) {
  auto& ids = external_ids(kind);
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (id != nullptr) *id = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  STANDIN_MAY_FAIL(cuptiGetGraphNodeId);
  *id = reinterpret_cast<uintptr_t>(node);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  STANDIN_MAY_FAIL(cuptiGetGraphExecId);
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(exec) >> 4);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  STANDIN_MAY_FAIL(cuptiActivityEnableLatencyTimestamps);
  return CUPTI_SUCCESS;
}
