// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/activity_decoder.hpp"

#include <cstring>

#include "backend/nvidia/cuda/own_kernel.hpp"

namespace gpufl::backend {
namespace {

// The bound on rows of a kind that wait for their call.
constexpr size_t kMaxWaiting = 65'536;
// Rows that are read before those of which all is known go on, in a round that brings many.
constexpr size_t kRowsPerJoin = 16'384;
// Room for rows that is kept, resident as far as it was used: what comes between two flushes.
constexpr size_t kRowsKept = 3 * kRowsPerJoin;
// A kernel and its call are delivered within a flush of each other.
constexpr uint32_t kMaxFlushes = 3;
// What a kernel may seem to begin before its call: a bound on how far the GPU's clock is off the
// host's, and far below the age of a time that is left over from an earlier kernel.
constexpr int64_t kMaxClockErrorNs = 100'000;

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
      columns_{options.stacks != nullptr, options.queue_times, options.external_correlation},
      says_device_launched_(version_of(api) >= kDeviceLaunchedSince),
      functions_(api),
      configs_(devices.driver()) {
  kernels_.reserve(kRowsKept);
}

void ActivityDecoder::decode(uint8_t* data, size_t valid_bytes, int64_t latest_ns, RowSink& sink) {
  latest_ns_ = latest_ns;
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
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        decode_external(*reinterpret_cast<const ExternalRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_OVERHEAD:
        decode_overhead(*reinterpret_cast<const OverheadRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_DEVICE:
        decode_device(*reinterpret_cast<const DeviceRecord*>(bytes), sink);
        break;
      case CUPTI_ACTIVITY_KIND_CONTEXT:
        decode_context(*reinterpret_cast<const ContextRecord*>(bytes), sink);
        break;
      default: break;  // another tool of this process may have asked for more
    }
  }
  if (rows_held() >= rows_waiting_ + kRowsPerJoin) join_all(Patience::SameFlush, sink);
}

size_t ActivityDecoder::rows_held() const {
  return kernels_.size() + copies_.size() + peer_copies_.size() + fills_.size() + waits_.size() +
         memory_.size();
}

bool ActivityDecoder::is_possible(uint64_t start, uint64_t end) {
  const auto begin_ns = static_cast<int64_t>(start) - origins_.cupti_ns;
  const auto end_ns = static_cast<int64_t>(end) - origins_.cupti_ns;
  if (start != 0 && begin_ns >= 0 && end_ns >= begin_ns && end_ns <= latest_ns_) return true;
  ++counts_.impossible_times;
  return false;
}

template <typename Record>
ActivityRow ActivityDecoder::activity(const Record& record) {
  const int64_t device = devices_.of(record.deviceId);
  context(record.contextId).device = device;
  return {static_cast<int64_t>(record.start) - origins_.cupti_ns,
          static_cast<int64_t>(record.end - record.start),
          device,
          record.contextId,
          record.streamId,
          record.correlationId,
          0};
}

void ActivityDecoder::decode_own_kernel(const KernelRecord& record, RowSink& sink) {
  ApiCall* call = claim(record.correlationId, sink);
  if (call == nullptr) return;
  const bool is_noted = call->is_own;
  call->is_own = true;
  if (!is_noted || options_.own_kernels == nullptr || record.end <= record.start) return;
  const int64_t to_monotonic_ns = origins_.monotonic_ns - origins_.cupti_ns;
  options_.own_kernels->on_own_kernel(devices_.of(record.deviceId),
                                      call->start + origins_.monotonic_ns,
                                      static_cast<int64_t>(record.start) + to_monotonic_ns,
                                      static_cast<int64_t>(record.end) + to_monotonic_ns);
}

void ActivityDecoder::decode_kernel(const KernelRecord& record, RowSink& sink) {
  // Ends at the first letter that differs: names are long, and this is asked of every kernel.
  if (record.name != nullptr && std::strcmp(record.name, kOwnKernel) == 0) {
    return decode_own_kernel(record, sink);
  }
  ++counts_.kernels;
  ++context(record.contextId).kernels;
  const ApiCall* call = nullptr;
  if (record.graphNodeId != 0) {
    ++counts_.graph_kernels;
    graphs_.add_kernel(record.correlationId, record.graphId);
    call = count_node(record.correlationId, true, sink);
  } else {
    call = count_kernel(record.correlationId, sink);
  }
  if (may_be_unfinished_ && record.end == 0) {
    ++counts_.unfinished;
    return;
  }
  if (says_device_launched_ &&
      reinterpret_cast<const uint8_t*>(&record)[kDeviceLaunchedOffset] != 0) {
    ++counts_.device_launched;
  }
  if (!is_possible(record.start, record.end)) return;
  const uint32_t thread = call != nullptr ? call->thread : 0;
  const KernelTimes times{record.correlationId, static_cast<int64_t>(record.start),
                          static_cast<int64_t>(record.end)};
  if (!is_in_order(record, thread, times)) {
    ++counts_.impossible_times;
    return;
  }
  overlaps_.add(record.contextId, record.streamId, thread, times);
  const auto time = [&](uint64_t stamp) {
    return stamp == 0 ? kUnknown : static_cast<int64_t>(stamp) - origins_.cupti_ns;
  };
  const ActivityRow row = activity(record);
  if (record.graphNodeId != 0) graphs_.add_node(row, record.graphId);
  kernels_.push_back({row, configs_.id(record, sink), time(record.queued), time(record.submitted),
                      record.graphNodeId, record.graphId, node_stack(record.graphNodeId)});
}

// Each time may be possible by itself, and left over from another kernel.
bool ActivityDecoder::is_in_order(const KernelRecord& record, uint32_t thread,
                                  const KernelTimes& times) {
  if (times.start == times.end) return false;  // nothing takes no time
  if (record.graphNodeId != 0) {
    return order_.accept_node(record.graphId, record.streamId, times);
  }
  return order_.accept(record.contextId, record.streamId, thread, times);
}

void ActivityDecoder::decode_copy(const MemcpyRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, false, sink);
  if (!is_possible(record.start, record.end)) return;
  const ActivityRow row = activity(record);
  if (record.graphNodeId != 0) graphs_.add_node(row, record.graphId);
  copies_.push_back({row, static_cast<int64_t>(record.bytes), record.graphNodeId, kUnknown,
                     node_stack(record.graphNodeId), record.copyKind, record.srcKind,
                     record.dstKind,
                     static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_peer_copy(const PeerMemcpyRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, false, sink);
  if (!is_possible(record.start, record.end)) return;
  const uint32_t peer =
      record.deviceId == record.srcDeviceId ? record.dstDeviceId : record.srcDeviceId;
  const ActivityRow row = activity(record);
  if (record.graphNodeId != 0) graphs_.add_node(row, record.graphId);
  peer_copies_.push_back({row, static_cast<int64_t>(record.bytes), record.graphNodeId,
                          devices_.of(peer), node_stack(record.graphNodeId), record.copyKind,
                          record.srcKind, record.dstKind,
                          static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_fill(const MemsetRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, false, sink);
  if (!is_possible(record.start, record.end)) return;
  const ActivityRow row = activity(record);
  if (record.graphNodeId != 0) graphs_.add_node(row, record.graphId);
  fills_.push_back({row, static_cast<int64_t>(record.bytes), record.graphNodeId, record.value,
                    record.memoryKind, node_stack(record.graphNodeId)});
}

void ActivityDecoder::decode_wait(const SyncRecord& record) {
  if (!options_.call_records) return;
  if (!is_possible(record.start, record.end)) return;
  waits_.push_back({{static_cast<int64_t>(record.start) - origins_.cupti_ns,
                     static_cast<int64_t>(record.end - record.start), kUnknown, record.contextId,
                     record.streamId, record.correlationId, 0},
                    record.cudaEventId == kNoEventId ? kUnknown : int64_t{record.cudaEventId},
                    static_cast<uint32_t>(record.type)});
}

void ActivityDecoder::decode_call(const ApiRecord& record, RowSink& sink) {
  if (!options_.call_records) return;
  const bool is_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const ApiRole role = functions_.role(is_driver, record.cbid);
  const bool failed = has_failed(record);
  if (role == ApiRole::Other && !failed) return;
  if (!is_possible(record.start, record.end)) return;
  ApiCall* call = claim(record.correlationId, sink);
  if (call == nullptr || call->is_own) return;
  const int64_t start = static_cast<int64_t>(record.start) - origins_.cupti_ns;
  // A runtime call and the driver's inside it share an id: the outer one counts.
  if (call->is_told && start > call->start) return;
  call->is_told = true;
  update(*call, [&] { call->has_ended = true; });
  call->start = start;
  call->duration = static_cast<int64_t>(record.end - record.start);
  call->thread = record.threadId;
  call->result = failed ? record.returnValue : 0;
  call->function = static_cast<uint16_t>(record.cbid);
  call->is_driver = is_driver;
  attribute(*call, sink);
  tell(*call, sink);
}

void ActivityDecoder::decode_memory(const MemoryRecord& record) {
  if (is_own_call(record.correlationId)) return;
  if (!is_possible(record.timestamp, record.timestamp)) return;
  const bool is_host = record.deviceId == CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const auto& pool = record.memoryPoolConfig;
  const bool has_size = pool.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory_.push_back({{static_cast<int64_t>(record.timestamp) - origins_.cupti_ns, 0,
                      is_host ? kUnknown : devices_.of(record.deviceId), record.contextId,
                      record.streamId, record.correlationId, 0},
                     record.address,
                     pool.address,
                     static_cast<int64_t>(record.bytes),
                     has_size ? static_cast<int64_t>(pool.utilizedSize) : 0,
                     static_cast<uint32_t>(record.memoryOperationType),
                     static_cast<uint32_t>(record.memoryKind),
                     record.isAsync != 0});
}

// Delivered before the call's own record. The first of several is the innermost.
void ActivityDecoder::decode_external(const ExternalRecord& record, RowSink& sink) {
  ApiCall* call = claim(record.correlationId, sink);
  if (call != nullptr && call->external == 0) call->external = record.externalId;
}

void ActivityDecoder::decode_overhead(const OverheadRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  counts_.overhead_ns[static_cast<uint32_t>(record.overheadKind)] += record.end - record.start;
}

void ActivityDecoder::decode_device(const DeviceRecord& record, RowSink& sink) {
  if (record.isMigEnabled == 0) return;
  base::Json line = base::Json::object();
  line.set("time", latest_ns_);
  line.set("name", "mig_instance");
  line.set("device", devices_.of(record.id));
  line.set("gpu_instance", int64_t{record.gpuInstanceId});
  line.set("compute_instance", int64_t{record.computeInstanceId});
  line.set("uuid", "MIG-" + uuid_text(record.migUuid));
  sink.write(format::Kind::Event, line);
}

void ActivityDecoder::decode_context(const ContextRecord& record, RowSink& sink) {
  const int64_t device = devices_.of(record.deviceId);
  context(record.contextId).device = device;
  if (record.computeApiKind != CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS) return;
  base::Json line = base::Json::object();
  line.set("time", latest_ns_);
  line.set("name", "mps_context");
  line.set("device", device);
  line.set("context", int64_t{record.contextId});
  sink.write(format::Kind::Event, line);
}

bool ActivityDecoder::is_outside(const ActivityRow& row, const ApiCall* call) const {
  if (options_.gate == nullptr) return false;
  return call != nullptr && call->has_scope ? call->outside : !options_.gate->is_open(row.start);
}

template <typename Row>
void ActivityDecoder::join(base::PageVector<Row>& rows, DeviceBatches& batches, Patience patience,
                           RowSink& sink) {
  const bool may_wait = patience != Patience::None && rows.size() < kMaxWaiting;
  size_t waiting = 0;
  for (Row& row : rows) {
    ApiCall* call = calls_.find(row.correlation);
    if ((call == nullptr || !call->is_told) && may_wait && row.flushes < kMaxFlushes &&
        row.correlation != 0) {
      if (patience == Patience::NextFlush) ++row.flushes;
      rows[waiting++] = row;
      continue;
    }
    if (call != nullptr) call->joined = true;
    if (is_outside(row, call)) {
      ++counts_.outside;
      continue;
    }
    // A call of which neither record nor note came is none.
    const bool is_known = call != nullptr && call->has_scope;
    // Nothing runs before it was asked for.
    if (is_known && row.start < call->start - kMaxClockErrorNs) {
      ++counts_.impossible_times;
      continue;
    }
    if (row.device == kUnknown) row.device = device_of(row.context);
    format::Batch& batch = batches.of(row.device);
    append_row(batch, row, is_known ? call : nullptr, columns_);
    if (batch.rows() >= kRowsPerBatch) submit_batch(batch, sink);
  }
  rows.resize(waiting);
  if (rows.capacity() > kRowsKept && waiting < kRowsPerJoin) {
    base::PageVector<Row> fewer;
    fewer.reserve(kRowsKept);
    fewer.assign(rows.begin(), rows.end());
    rows.swap(fewer);
  }
}

void ActivityDecoder::join_all(Patience patience, RowSink& sink) {
  join(kernels_, kernel_batches_, patience, sink);
  join(copies_, copy_batches_, patience, sink);
  join(peer_copies_, peer_copy_batches_, patience, sink);
  join(fills_, fill_batches_, patience, sink);
  join(waits_, wait_batches_, patience, sink);
  join(memory_, memory_batches_, patience, sink);
  join(graph_rows_, graph_batches_, patience, sink);
  rows_waiting_ = rows_held();
}

void ActivityDecoder::submit_batches(RowSink& sink) {
  for (DeviceBatches* batches :
       {&kernel_batches_, &copy_batches_, &peer_copy_batches_, &fill_batches_, &wait_batches_,
        &memory_batches_, &graph_batches_}) {
    batches->submit(sink);
  }
  submit_batch(call_batch_, sink);
}

void ActivityDecoder::take_graph_launches(bool all) {
  graphs_.take_complete(
      all,
      [&](uint32_t id) {
        using Told = GraphLaunches::Told;
        const ApiCall* call = calls_.find(id);
        if (call == nullptr) return Told::Nothing;
        return call->counts_nodes ? Told::Count : call->varies ? Told::Varies : Told::Nothing;
      },
      graph_rows_);
  if (!options_.graphs) graph_rows_.clear();
}

void ActivityDecoder::submit(bool flushed, int64_t now_ns, RowSink& sink) {
  if (flushed) take_graph_launches(false);
  join_all(flushed ? Patience::NextFlush : Patience::SameFlush, sink);
  if (flushed) {
    calls_.sweep([&](const ApiCall& call) { settle(call, sink); });
  }
  submit_batches(sink);
  tell_pending(now_ns, sink);
}

void ActivityDecoder::finish(RowSink& sink) {
  take_graph_launches(true);
  join_all(Patience::None, sink);
  calls_.forget_all([&](const ApiCall& call) { settle(call, sink); });
  submit_batches(sink);
}

}  // namespace gpufl::backend
