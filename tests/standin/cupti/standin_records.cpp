// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/standin/cupti/standin_library.hpp"

// CUPTI's activity and callback functions over a program that the test plays. Records have the
// layout and size of the version that reset() names. API records and GPU records go to buffers of
// their own, as with the real one.
namespace gpufl::standin {

extern uint32_t cupti_version;

namespace {

void complete(Library& lib, Buffer& buffer) {
  if (buffer.data == nullptr) return;
  lib.complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
  buffer = {};
}

// `record` may be shorter than this version's: the rest is noise, which nobody may read.
template <typename Record>
void write(Library& lib, Buffer& buffer, const Record& record) {
  if (lib.request == nullptr) return;
  const size_t size = record_size(record.kind);
  if (buffer.data != nullptr && buffer.used + size > buffer.size) complete(lib, buffer);
  if (buffer.data == nullptr) {
    size_t max_records = 0;
    lib.request(&buffer.data, &buffer.size, &max_records);
    if (buffer.data == nullptr) {
      ++lib.dropped;
      return;
    }
  }
  uint8_t* place = buffer.data + buffer.used;
  std::memset(place, 0xEE, size);
  std::memcpy(place, &record, std::min(size, sizeof record));
  buffer.used += size;
}

}  // namespace

void write_call(Library& lib, CUpti_ActivityKind kind, CUpti_CallbackId id, uint64_t start,
                uint32_t correlation, int result) {
  if (lib.kinds.count(kind) == 0 || lib.left_out.count({kind, id}) != 0) return;
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = id;
  record.start = start;
  record.end = now(lib);
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = lib.thread_ids == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                        ? static_cast<uint32_t>(gettid())
                        : 0xDEAD;
  record.correlationId = correlation;
  record.returnValue = static_cast<uint32_t>(result);
  if (lib.holding) {
    lib.held.push_back(record);
  } else {
    write(lib, lib.calls, record);
  }
}

namespace {

using Times = std::pair<uint64_t, uint64_t>;

// `called`: when the outermost call began. `old`: times that ran before, newest first.
void spoil(BadTime how, uint64_t called, const std::vector<Times>& old, uint64_t& start,
           uint64_t& end) {
  constexpr size_t kOlder = 3;
  switch (how) {
    case BadTime::NoDuration: end = start; break;
    case BadTime::BeforeCall:
      start = called - 1'000'000;
      end = start + 500;
      break;
    case BadTime::Repeated: std::tie(start, end) = old.at(0); break;
    case BadTime::Older: std::tie(start, end) = old.at(std::min(kOlder, old.size() - 1)); break;
    case BadTime::None: break;
    case BadTime::Zero: start = end = 0; break;
    case BadTime::Inverted: std::swap(start, end); break;
    case BadTime::BeforeSession: start = 1; break;  // when the clock began
    case BadTime::Future: end += 3600 * kSecondNs; break;
  }
}

// The times that ran on the stream before, or, of a node, those in launches of its graph.
std::vector<Times> old_times(const Library& lib, const Launch& launch, uint64_t node) {
  std::vector<Times> old;
  if (node == 0) {
    const auto found = lib.stream_times.find(launch.stream);
    if (found != lib.stream_times.end()) old.assign(found->second.rbegin(), found->second.rend());
    return old;
  }
  const auto found = lib.graph_times.find(launch.graph_exec);
  if (found == lib.graph_times.end()) return old;
  for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) {
    old.push_back(one->at(node - 1));
  }
  return old;
}

template <typename Value>
void remember(std::vector<Value>& values, Value value) {
  constexpr size_t kRemembered = 8;
  if (values.size() == kRemembered) values.erase(values.begin());
  values.push_back(std::move(value));
}

struct Run {
  uint32_t correlation;
  uint64_t called;  // when the outermost call began
};

// As 13.0 has it; earlier versions end before.
struct KernelRecord : CUpti_ActivityKernel9 {
  uint8_t is_device_launched;
};
static_assert(sizeof(CUpti_ActivityKernel9) == 208);

void write_kernel(Library& lib, const Launch& launch, const Run& run, uint64_t start,
                  uint64_t node) {
  const bool are_recorded = lib.kinds.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != 0;
  ++(are_recorded ? lib.recorded_kernels : lib.unrecorded_kernels);
  if (launch.withheld || !are_recorded) return;
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.cacheConfig.config.executed = 1;
  record.registersPerThread = 24;
  uint64_t end = start + launch.duration_ns;
  if (node == 0 || launch.bad_node == 0 || launch.bad_node == node) {
    spoil(launch.bad_time, run.called, old_times(lib, launch, node), start, end);
  }
  if (launch.runs_on) start = end = 0;
  record.start = start;
  record.end = end;
  record.deviceId = launch.device;
  record.contextId = launch.context;
  record.streamId = launch.stream;
  record.gridX = launch.grid_x;
  record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
  record.blockX = launch.block_x;
  record.dynamicSharedMemory = 1024;
  record.correlationId = run.correlation;
  record.name = launch.name;
  record.graphNodeId = node;
  record.graphId = node != 0 ? launch.graph_exec : 0;
  write(lib, launch.runs_on ? lib.running : lib.work, record);
}

// Launches of a graph do not overlap, and its nodes run one after the other.
void run_graph(Library& lib, const Launch& launch, const Run& run, uint64_t start) {
  auto& launches = lib.graph_times[launch.graph_exec];
  if (!launches.empty()) start = std::max(start, launches.back().back().second);
  std::vector<Times> times;
  for (uint32_t i = 0; i < launch.graph_kernels; ++i) {
    if (i >= launch.nodes_withheld) write_kernel(lib, launch, run, start, i + 1);
    times.emplace_back(start, start + launch.duration_ns);
    start += launch.duration_ns;
  }
  remember(launches, std::move(times));
}

// Inside of a call of the runtime that began at `called`; 0: by itself.
uint32_t launch_by_driver(const Launch& launch, uint32_t correlation, uint64_t called) {
  const bool is_graph = launch.graph_kernels != 0;
  cuLaunchKernel_params kernel_parameters{};
  cuGraphLaunch_params graph_parameters{graph_exec_handle(launch.graph_exec), nullptr};
  const void* parameters = is_graph ? static_cast<const void*>(&graph_parameters)
                                    : static_cast<const void*>(&kernel_parameters);
  return call(
      CUPTI_CB_DOMAIN_DRIVER_API,
      is_graph ? CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      launch.result, parameters, correlation, [&](Library& lib, uint32_t id, uint64_t start) {
        if (launch.result != 0 || launch.captured) return;
        const Run run{id, called != 0 ? called : start};
        if (is_graph) return run_graph(lib, launch, run, start);
        write_kernel(lib, launch, run, start, 0);
        remember(lib.stream_times[launch.stream], Times{start, start + launch.duration_ns});
      });
}

uint32_t launch(const Launch& launch) {
  if (launch.by_driver) return launch_by_driver(launch, 0, 0);
  PlayedCall runtime(CUPTI_CB_DOMAIN_RUNTIME_API,
                     launch.graph_kernels != 0 ? CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000
                                               : CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                     launch.result, nullptr, 0);
  if (launch.graph_kernels == 0) runtime.set_symbol(launch.name);
  runtime.enter();
  // The driver's part runs inside the runtime's call and shares its id.
  launch_by_driver(launch, runtime.correlation(), runtime.start());
  runtime.exit([](Library&, uint64_t) {});
  return runtime.correlation();
}

void kernel(const Launch& launch, uint32_t correlation, uint64_t start, uint64_t end) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  Launch delivered = launch;
  delivered.withheld = false;
  delivered.duration_ns = end - start;
  write_kernel(lib, delivered, {correlation, start}, start, 0);
}

uint32_t copy(const Copy& copy) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, 0,
              nullptr, 0, [&](Library& lib, uint32_t correlation, uint64_t start) {
                const auto fill = [&](auto record, CUpti_ActivityKind kind) {
                  record.kind = kind;
                  record.copyKind = copy.kind;
                  record.srcKind = 2;
                  record.dstKind = 3;
                  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
                  record.bytes = copy.bytes;
                  record.start = start;
                  record.end = start + 500;
                  record.deviceId = copy.device;
                  record.contextId = copy.context;
                  record.streamId = copy.stream;
                  record.correlationId = correlation;
                  return record;
                };
                if (copy.peer < 0) {
                  write(lib, lib.work, fill(CUpti_ActivityMemcpy5{}, CUPTI_ACTIVITY_KIND_MEMCPY));
                  return;
                }
                auto record = fill(CUpti_ActivityMemcpyPtoP4{}, CUPTI_ACTIVITY_KIND_MEMCPY2);
                record.srcDeviceId = copy.device;
                record.dstDeviceId = static_cast<uint32_t>(copy.peer);
                write(lib, lib.work, record);
              });
}

uint32_t fill(uint32_t stream, uint64_t bytes, uint32_t value) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, 0,
              nullptr, 0, [&](Library& lib, uint32_t correlation, uint64_t start) {
                CUpti_ActivityMemset4 record{};
                record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
                record.value = value;
                record.bytes = bytes;
                record.start = start;
                record.end = start + 300;
                record.contextId = 1;
                record.streamId = stream;
                record.correlationId = correlation;
                record.memoryKind = 3;
                write(lib, lib.work, record);
              });
}

uint32_t synchronize(uint32_t context) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, 0,
              nullptr, 0, [&](Library& lib, uint32_t correlation, uint64_t start) {
                if (lib.kinds.count(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) == 0) return;
                CUpti_ActivitySynchronization record{};
                record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
                record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
                record.start = start;
                record.end = start + 100;
                record.correlationId = correlation;
                record.contextId = context;
                record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
                record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
                write(lib, lib.work, record);
              });
}

uint32_t allocate(int result) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, result,
              nullptr, 0, [](Library&, uint32_t, uint64_t) {});
}

uint32_t allocate_on_host() {
  return call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, 0, nullptr, 0,
              [](Library&, uint32_t, uint64_t) {});
}

void capture(bool begin) {
  // Both begin with the stream.
  const cuStreamEndCapture_params parameters{reinterpret_cast<CUstream>(uintptr_t{7}), nullptr};
  call(CUPTI_CB_DOMAIN_DRIVER_API,
       begin ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2
             : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
       0, &parameters, 0, [](Library&, uint32_t, uint64_t) {});
}

// What a library just loaded knows; the lock and the count of finalisations stay.
void forget(Library& lib) {
  lib.failures.clear();
  lib.request = nullptr;
  lib.complete = nullptr;
  lib.timestamp = nullptr;
  lib.thread_ids = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  lib.kinds.clear();
  lib.left_out.clear();
  lib.calls = lib.work = lib.running = {};
  lib.callback = nullptr;
  lib.callbacks.clear();
  lib.domains.clear();
  lib.flushes = 0;
}

void reset(uint32_t version) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  forget(lib);
  lib.holding = false;
  lib.held.clear();
  lib.dropped = 0;
  lib.stream_times.clear();
  lib.graph_times.clear();
  lib.next_correlation = 1;
  lib.finalized = lib.surprised = 0;
  lib.entry_us = 0;
  lib.context = 0;
  lib.holds_finalize = false;
  lib.other_tool.clear();
  cupti_version = version;
}

void fail(const char* function, int code) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  lib.failures[function] = static_cast<CUptiResult>(code);
}

void next_correlation(uint32_t id) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  lib.next_correlation = id;
}

void hold_calls(bool hold) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  lib.holding = hold;
  if (hold) return;
  for (const CUpti_ActivityAPI& record : lib.held) write(lib, lib.calls, record);
  lib.held.clear();
}

uint32_t finalized() {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  return lib.finalized;
}

uint32_t surprised() {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  return lib.surprised;
}

void delay_entry(uint32_t microseconds) { library().entry_us = microseconds; }

void hold_finalize(bool hold) { library().holds_finalize = hold; }

uint32_t finalizing() { return library().finalizing; }

bool is_subscribed() {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  return lib.callback != nullptr;
}

uint32_t enabled_kinds() {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  return static_cast<uint32_t>(lib.kinds.size());
}

CUptiResult leave_out(Library& lib, CUpti_ActivityKind kind, CUpti_CallbackId id,
                      bool is_left_out) {
  if (is_left_out) {
    lib.left_out.insert({kind, id});
  } else {
    lib.left_out.erase({kind, id});
  }
  return CUPTI_SUCCESS;
}

constexpr CuptiStandin kStandin = {
    reset,         fail,    launch,           copy,       fill,        synchronize,
    allocate,      capture, next_correlation, hold_calls, finalized,   is_subscribed,
    enabled_kinds, kernel,  allocate_on_host, surprised,  delay_entry, hold_finalize,
    finalizing};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT const CuptiStandin* cupti_standin() { return &kStandin; }

STANDIN_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    default: return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  STANDIN_MAY_FAIL(cuptiGetTimestamp);
  *timestamp = now(lib);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                                const char** name) {
  const char* const known = function_name(domain, id);
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = known;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  STANDIN_MAY_FAIL(cuptiSetThreadIdType);
  lib.thread_ids = type;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                          CUpti_CallbackFunc callback, void* user) {
  STANDIN_MAY_FAIL(cuptiSubscribe);
  if (lib.callback != nullptr || !lib.other_tool.empty()) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  lib.callback = callback;
  lib.callback_data = user;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&lib);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  STANDIN_MAY_FAIL(cuptiUnsubscribe);
  lib.callback = nullptr;
  lib.callbacks.clear();
  lib.domains.clear();
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                               CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  STANDIN_MAY_FAIL(cuptiEnableCallback);
  if (enable != 0) {
    lib.callbacks.insert({domain, id});
  } else {
    lib.callbacks.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle,
                                             CUpti_CallbackDomain domain) {
  STANDIN_MAY_FAIL(cuptiEnableDomain);
  if (enable != 0) {
    lib.domains.insert(domain);
  } else {
    lib.domains.erase(domain);
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiFinalize() {
  ++library().finalizing;
  while (library().holds_finalize) usleep(100);
  --library().finalizing;
  STANDIN_MAY_FAIL(cuptiFinalize);
  // The real one crashes a thread that it finds there.
  lib.surprised += lib.entering;
  forget(lib);
  ++lib.finalized;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  STANDIN_MAY_FAIL(cuptiActivityEnable);
  if (lib.launching != 0) ++lib.disturbed;
  lib.kinds.insert(kind);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  STANDIN_MAY_FAIL(cuptiActivityDisable);
  lib.kinds.erase(kind);
  return CUPTI_SUCCESS;
}

// By itself neither makes records of a function: the kind has to be enabled.
STANDIN_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
  STANDIN_MAY_FAIL(cuptiActivityEnableDriverApi);
  return leave_out(lib, CUPTI_ACTIVITY_KIND_DRIVER, id, enable == 0);
}

STANDIN_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  STANDIN_MAY_FAIL(cuptiActivityEnableRuntimeApi);
  return leave_out(lib, CUPTI_ACTIVITY_KIND_RUNTIME, id, enable == 0);
}

STANDIN_EXPORT CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
  STANDIN_MAY_FAIL(cuptiActivityRegisterCallbacks);
  lib.request = requested;
  lib.complete = completed;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  STANDIN_MAY_FAIL(cuptiActivityRegisterTimestampCallback);
  lib.timestamp = timestamp;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  STANDIN_MAY_FAIL(cuptiActivityFlushAll);
  if (lib.request == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  ++lib.flushes;
  complete(lib, lib.work);
  complete(lib, lib.calls);
  if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) complete(lib, lib.running);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  STANDIN_MAY_FAIL(cuptiActivityGetNumDroppedRecords);
  *dropped = std::exchange(lib.dropped, 0);
  return CUPTI_SUCCESS;
}
