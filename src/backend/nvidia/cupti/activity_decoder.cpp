// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/activity_decoder.hpp"

#include <cstring>

#include "backend/nvidia/cuda/own_kernel.hpp"
#include "format/columns.hpp"

namespace gpufl::backend {
namespace {

// The log's numbers for these are its own, and CUPTI's are the same: none has to be looked up.
template <typename Ours>
constexpr bool is_same(Ours ours, int cupti) {
  return static_cast<int>(ours) == cupti;
}
using format::CopyDirection, format::MemoryKind, format::WaitKind;
static_assert(is_same(CopyDirection::HostToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD));
static_assert(is_same(CopyDirection::DeviceToHost, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH));
static_assert(is_same(CopyDirection::HostToArray, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA));
static_assert(is_same(CopyDirection::ArrayToHost, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH));
static_assert(is_same(CopyDirection::ArrayToArray, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA));
static_assert(is_same(CopyDirection::ArrayToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD));
static_assert(is_same(CopyDirection::DeviceToArray, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA));
static_assert(is_same(CopyDirection::DeviceToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD));
static_assert(is_same(CopyDirection::HostToHost, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH));
static_assert(is_same(CopyDirection::PeerToPeer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
static_assert(is_same(MemoryKind::Pageable, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE));
static_assert(is_same(MemoryKind::Pinned, CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
static_assert(is_same(MemoryKind::Device, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
static_assert(is_same(MemoryKind::Array, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY));
static_assert(is_same(MemoryKind::Managed, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED));
static_assert(is_same(MemoryKind::DeviceStatic, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC));
static_assert(is_same(MemoryKind::ManagedStatic, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC));
static_assert(is_same(WaitKind::EventSynchronize,
                      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE));
static_assert(is_same(WaitKind::StreamWaitEvent,
                      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT));
static_assert(is_same(WaitKind::StreamSynchronize,
                      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE));
static_assert(is_same(WaitKind::ContextSynchronize,
                      CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE));

// Unknown where CUPTI has come to have a number that is none of the log's.
template <auto kLast, typename Number>
constexpr Number known(Number number) {
  return number <= static_cast<Number>(kLast) ? number : Number{0};
}
uint8_t route_of(uint8_t kind) { return known<CopyDirection::PeerToPeer>(kind); }
template <typename Number>
Number memory_of(Number kind) {
  return known<MemoryKind::ManagedStatic>(kind);
}

// Others are the driver's, and of every program: loading, compiling, a full queue.
bool is_cupti_overhead(uint32_t kind) {
  constexpr uint32_t kBufferRequest = 7 << 16, kUnifiedMemory = 8 << 16;
  return kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE || kind == kBufferRequest ||
         kind == kUnifiedMemory;
}

// "Not ready" is the answer to a question, not a failure; both APIs have the same number for it.
bool has_failed(const ApiRecord& record) {
  return record.returnValue != CUDA_SUCCESS && record.returnValue != CUDA_ERROR_NOT_READY;
}

uint32_t version_of(const CuptiApi& api) {
  uint32_t version = 0;
  return api.cuptiGetVersion(&version) == CUPTI_SUCCESS ? version : 0;
}

}  // namespace

ActivityDecoder::ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, ClockOrigins origins,
                                 const TraceOptions& options)
    : api_(api),
      devices_(devices),
      origins_(origins),
      options_(options),
      says_device_launched_(version_of(api) >= kDeviceLaunchedSince),
      functions_(api),
      account_(options, origins.monotonic_ns, says_device_launched_, functions_),
      joiner_(options, account_),
      configs_(devices.driver()) {}

uint64_t ActivityDecoder::cupti_overhead_ns() const {
  uint64_t sum = 0;
  for (const auto& [kind, ns] : overhead_ns_) sum += is_cupti_overhead(kind) ? ns : 0;
  return sum;
}

void ActivityDecoder::decode(uint8_t* data, size_t valid_bytes, int64_t latest_ns, RowSink& sink) {
  account_.expect_until(latest_ns);
  CUpti_Activity* record = nullptr;
  while (api_.cuptiActivityGetNextRecord(data, valid_bytes, &record) == CUPTI_SUCCESS) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(record);
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        decode_kernel(*reinterpret_cast<const KernelRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        decode_copy(*reinterpret_cast<const MemcpyRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        decode_peer_copy(*reinterpret_cast<const PeerMemcpyRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        decode_fill(*reinterpret_cast<const MemsetRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        decode_wait(*reinterpret_cast<const SyncRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        decode_call(*reinterpret_cast<const ApiRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_MEMORY2:
        decode_memory(*reinterpret_cast<const MemoryRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& external = *reinterpret_cast<const ExternalRecord*>(bytes);
        account_.add_external(external.correlationId, external.externalId, sink);
        break;
      }
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        decode_overhead(*reinterpret_cast<const OverheadRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_DEVICE:
        decode_device(*reinterpret_cast<const DeviceRecord*>(bytes), latest_ns, sink);
        break;
      case CUPTI_ACTIVITY_KIND_CONTEXT:
        decode_context(*reinterpret_cast<const ContextRecord*>(bytes), latest_ns, sink);
        break;
      default: break;  // another tool of this process may have asked for more
    }
  }
  joiner_.relieve(sink);
}

// A time that is not there, or an end of what has not ended, is one that the account refuses.
template <typename Record>
ActivityRow ActivityDecoder::activity(const Record& record) {
  return {session_time(record.start),
          record.end == 0 ? kUnknown : static_cast<int64_t>(record.end - record.start),
          devices_.of(record.deviceId),
          record.contextId,
          record.streamId,
          record.correlationId,
          0};
}

void ActivityDecoder::decode_own_kernel(const KernelRecord& record, RowSink& sink) {
  const auto called_ns = account_.add_own_kernel(record.correlationId, sink);
  if (!called_ns || options_.own_kernels == nullptr || record.end <= record.start) return;
  const int64_t to_monotonic_ns = origins_.monotonic_ns - origins_.cupti_ns;
  options_.own_kernels->on_own_kernel(devices_.of(record.deviceId),
                                      *called_ns + origins_.monotonic_ns,
                                      static_cast<int64_t>(record.start) + to_monotonic_ns,
                                      static_cast<int64_t>(record.end) + to_monotonic_ns);
}

void ActivityDecoder::decode_kernel(const KernelRecord& record, RowSink& sink) {
  // Ends at the first letter that differs: names are long, and this is asked of every kernel.
  if (record.name != nullptr && std::strcmp(record.name, kOwnKernel) == 0) {
    return decode_own_kernel(record, sink);
  }
  const ActivityRow row = activity(record);
  const bool is_device_launched = says_device_launched_ && reinterpret_cast<const uint8_t*>(
                                                               &record)[kDeviceLaunchedOffset] != 0;
  if (!account_.add_kernel(row, {record.graphNodeId, record.graphId, is_device_launched}, sink)) {
    return;
  }
  joiner_.add(KernelRow{row, configs_.id(record, sink), session_time(record.queued),
                        session_time(record.submitted), record.graphNodeId, record.graphId,
                        account_.node_stack(record.graphNodeId)});
}

void ActivityDecoder::decode_copy(const MemcpyRecord& record, RowSink& sink) {
  const ActivityRow row = activity(record);
  if (!account_.add_transfer(row, record.graphNodeId, record.graphId, sink)) return;
  joiner_.add(CopyRow{row, static_cast<int64_t>(record.bytes), record.graphNodeId, kUnknown,
                      account_.node_stack(record.graphNodeId), route_of(record.copyKind),
                      memory_of(record.srcKind), memory_of(record.dstKind),
                      static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_peer_copy(const PeerMemcpyRecord& record, RowSink& sink) {
  const ActivityRow row = activity(record);
  if (!account_.add_transfer(row, record.graphNodeId, record.graphId, sink)) return;
  const uint32_t peer =
      record.deviceId == record.srcDeviceId ? record.dstDeviceId : record.srcDeviceId;
  joiner_.add(CopyRow{row, static_cast<int64_t>(record.bytes), record.graphNodeId,
                      devices_.of(peer), account_.node_stack(record.graphNodeId),
                      route_of(record.copyKind), memory_of(record.srcKind),
                      memory_of(record.dstKind),
                      static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_fill(const MemsetRecord& record, RowSink& sink) {
  const ActivityRow row = activity(record);
  if (!account_.add_transfer(row, record.graphNodeId, record.graphId, sink)) return;
  joiner_.add(FillRow{row, static_cast<int64_t>(record.bytes), record.graphNodeId, record.value,
                      memory_of(record.memoryKind), account_.node_stack(record.graphNodeId)});
}

void ActivityDecoder::decode_wait(const SyncRecord& record) {
  if (!options_.call_records) return;
  const ActivityRow row{session_time(record.start),
                        static_cast<int64_t>(record.end - record.start),
                        kUnknown,
                        record.contextId,
                        record.streamId,
                        record.correlationId,
                        0};
  if (!account_.is_possible(row.start, row.duration)) return;
  joiner_.add(WaitRow{row,
                      record.cudaEventId == kNoEventId ? kUnknown : int64_t{record.cudaEventId},
                      known<WaitKind::ContextSynchronize>(static_cast<uint32_t>(record.type))});
}

void ActivityDecoder::decode_call(const ApiRecord& record, RowSink& sink) {
  if (!options_.call_records) return;
  account_.add_call({record.correlationId, session_time(record.start),
                     static_cast<int64_t>(record.end - record.start), record.threadId,
                     has_failed(record) ? record.returnValue : 0,
                     static_cast<uint16_t>(record.cbid), record.kind == CUPTI_ACTIVITY_KIND_DRIVER},
                    sink);
}

void ActivityDecoder::decode_memory(const MemoryRecord& record) {
  if (account_.is_own_call(record.correlationId)) return;
  const int64_t time = session_time(record.timestamp);
  if (!account_.is_possible(time, 0)) return;
  const bool is_host = record.deviceId == CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const auto& pool = record.memoryPoolConfig;
  const bool has_size = pool.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  joiner_.add(MemoryRow{{time, 0, is_host ? kUnknown : devices_.of(record.deviceId),
                         record.contextId, record.streamId, record.correlationId, 0},
                        record.address,
                        pool.address,
                        static_cast<int64_t>(record.bytes),
                        has_size ? static_cast<int64_t>(pool.utilizedSize) : kUnknown,
                        static_cast<uint32_t>(record.memoryOperationType),
                        memory_of(static_cast<uint32_t>(record.memoryKind)),
                        record.isAsync != 0});
}

void ActivityDecoder::decode_overhead(const OverheadRecord& record) {
  const auto duration = static_cast<int64_t>(record.end - record.start);
  if (!account_.is_possible(session_time(record.start), duration)) return;
  overhead_ns_[static_cast<uint32_t>(record.overheadKind)] += record.end - record.start;
}

void ActivityDecoder::decode_device(const DeviceRecord& record, int64_t latest_ns, RowSink& sink) {
  if (record.isMigEnabled == 0) return;
  base::Json line = base::Json::object();
  line.set("time", latest_ns);
  line.set("name", "mig_instance");
  line.set("device", devices_.of(record.id));
  line.set("gpu_instance", int64_t{record.gpuInstanceId});
  line.set("compute_instance", int64_t{record.computeInstanceId});
  line.set("uuid", "MIG-" + uuid_text(record.migUuid));
  sink.write(format::Kind::Event, line);
}

void ActivityDecoder::decode_context(const ContextRecord& record, int64_t latest_ns,
                                     RowSink& sink) {
  const int64_t device = devices_.of(record.deviceId);
  account_.set_device(record.contextId, device);
  if (record.computeApiKind != CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS) return;
  base::Json line = base::Json::object();
  line.set("time", latest_ns);
  line.set("name", "mps_context");
  line.set("device", device);
  line.set("context", int64_t{record.contextId});
  sink.write(format::Kind::Event, line);
}

}  // namespace gpufl::backend
