// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/activity_decoder.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kRowsPerBatch = 8192;
// Rows of a kind that are read before they are joined: also the bound on those that wait.
constexpr size_t kMaxWaiting = 65'536;
// A kernel and its call are delivered within a flush of each other.
constexpr uint32_t kMaxFlushes = 3;
constexpr int64_t kUnknown = -1;
constexpr size_t kMaxContexts = 4096;
constexpr uint32_t kNoStreamOrEvent = CUPTI_SYNCHRONIZATION_INVALID_VALUE;

// The columns that every activity begins with, at the numbers of its kind.
template <typename Columns, typename Activity>
void append_activity(format::Batch& batch, const Columns& at, const Activity& row,
                     const ApiCall* call) {
  const auto put = [&](size_t column, int64_t value) {
    batch.mutable_column(column).push_back(value);
  };
  put(at.start, row.start);
  put(at.duration, row.duration);
  if (row.device != kUnknown) put(at.device, row.device);
  put(at.context, row.context);
  put(at.stream, row.stream == kNoStreamOrEvent ? kUnknown : int64_t{row.stream});
  put(at.correlation, row.correlation);
  put(at.api_start, call != nullptr ? call->start : kUnknown);
  put(at.api_duration, call != nullptr ? call->duration : kUnknown);
  put(at.thread, call != nullptr ? int64_t{call->thread} : 0);
  batch.set_rows(batch.rows() + 1);
}

struct ActivityColumns {
  size_t start, duration, device, context, stream, correlation, api_start, api_duration, thread;
};
#define GPUFL_ACTIVITY_COLUMNS(kind)                                             \
  ActivityColumns {                                                              \
    kind::kStart, kind::kDuration, kind::kDevice, kind::kContext, kind::kStream, \
        kind::kCorrelation, kind::kApiStart, kind::kApiDuration, kind::kThread   \
  }
constexpr ActivityColumns kKernelColumns = GPUFL_ACTIVITY_COLUMNS(format::kernel_column);
constexpr ActivityColumns kCopyColumns = GPUFL_ACTIVITY_COLUMNS(format::memcpy_column);
constexpr ActivityColumns kFillColumns = GPUFL_ACTIVITY_COLUMNS(format::memset_column);
constexpr ActivityColumns kWaitColumns = GPUFL_ACTIVITY_COLUMNS(format::sync_column);
#undef GPUFL_ACTIVITY_COLUMNS

void submit_batch(format::Batch& batch, RowSink& sink) {
  if (batch.empty()) return;
  sink.submit(batch);
  batch.clear();
}

}  // namespace

ActivityDecoder::ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, int64_t origin_ns)
    : api_(api), devices_(devices), origin_ns_(origin_ns), functions_(api) {}

format::Batch& ActivityDecoder::Batches::of(int64_t device) {
  for (auto& [number, batch] : by_device) {
    if (number == device) return batch;
  }
  return by_device.emplace_back(device, format::Batch(kind)).second;
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
        decode_copy(*reinterpret_cast<const MemcpyRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        decode_peer_copy(*reinterpret_cast<const PeerMemcpyRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        decode_fill(*reinterpret_cast<const MemsetRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        decode_wait(*reinterpret_cast<const SyncRecord*>(bytes));
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        decode_call(*reinterpret_cast<const ApiRecord*>(bytes), sink);
        break;
      default: break;  // another tool of this process may have asked for more
    }
  }
  if (kernels_.size() >= kMaxWaiting || copies_.size() >= kMaxWaiting ||
      waits_.size() >= kMaxWaiting || fills_.size() >= kMaxWaiting) {
    join_all(Patience::SameFlush, sink);
  }
}

bool ActivityDecoder::is_possible(uint64_t start, uint64_t end) {
  const auto begin_ns = static_cast<int64_t>(start) - origin_ns_;
  const auto end_ns = static_cast<int64_t>(end) - origin_ns_;
  if (start != 0 && begin_ns >= 0 && end_ns >= begin_ns && end_ns <= latest_ns_) return true;
  ++counts_.impossible_times;
  return false;
}

template <typename Record>
ActivityDecoder::Activity ActivityDecoder::activity(const Record& record) {
  const int64_t device = devices_.of(record.deviceId);
  if (record.contextId != last_context_ && context_devices_.size() < kMaxContexts) {
    context_devices_.try_emplace(record.contextId, device);
    last_context_ = record.contextId;
  }
  return {static_cast<int64_t>(record.start) - origin_ns_,
          static_cast<int64_t>(record.end - record.start),
          device,
          record.contextId,
          record.streamId,
          record.correlationId,
          0};
}

void ActivityDecoder::decode_kernel(const KernelRecord& record, RowSink& sink) {
  ++counts_.kernels;
  if (record.graphNodeId != 0) ++counts_.graph_kernels;
  if (!is_possible(record.start, record.end)) return;
  kernels_.push_back(
      {activity(record), configs_.id(record, sink), record.graphNodeId, record.graphId});
}

void ActivityDecoder::decode_copy(const MemcpyRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  copies_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                     kUnknown, record.copyKind, record.srcKind, record.dstKind,
                     static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_peer_copy(const PeerMemcpyRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  const uint32_t peer =
      record.deviceId == record.srcDeviceId ? record.dstDeviceId : record.srcDeviceId;
  peer_copies_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                          devices_.of(peer), record.copyKind, record.srcKind, record.dstKind,
                          static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_fill(const MemsetRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  fills_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                    record.value, record.memoryKind});
}

void ActivityDecoder::decode_wait(const SyncRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  const auto device = context_devices_.find(record.contextId);
  waits_.push_back({{static_cast<int64_t>(record.start) - origin_ns_,
                     static_cast<int64_t>(record.end - record.start),
                     device != context_devices_.end() ? device->second : kUnknown, record.contextId,
                     record.streamId, record.correlationId, 0},
                    record.cudaEventId == kNoStreamOrEvent ? kUnknown : int64_t{record.cudaEventId},
                    static_cast<uint32_t>(record.type)});
}

void ActivityDecoder::decode_call(const ApiRecord& record, RowSink& sink) {
  const bool is_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const ApiRole role = functions_.role(is_driver, record.cbid);
  const bool failed = record.returnValue != 0;
  if (role == ApiRole::Other && !failed) return;
  if (!is_possible(record.start, record.end)) return;
  ApiCall call{static_cast<int64_t>(record.start) - origin_ns_,
               static_cast<int64_t>(record.end - record.start),
               record.correlationId,
               record.threadId,
               record.returnValue,
               static_cast<uint16_t>(record.cbid),
               is_driver,
               false};
  if (role != ApiRole::Activity || failed) {
    add_call(call, sink);
    call.joined = true;
  }
  const ApiCall* evicted = calls_.remember(call);
  if (evicted != nullptr && !evicted->joined) add_call(*evicted, sink);
}

void ActivityDecoder::add_call(const ApiCall& call, RowSink& sink) {
  namespace column = format::api_column;
  const auto put = [&](size_t at, int64_t value) {
    call_batch_.mutable_column(at).push_back(value);
  };
  put(column::kStart, call.start);
  put(column::kDuration, call.duration);
  put(column::kName, functions_.name_id(call.is_driver, call.function, sink));
  put(column::kCorrelation, call.id);
  put(column::kThread, call.thread);
  put(column::kResult, call.result);
  call_batch_.set_rows(call_batch_.rows() + 1);
  if (call_batch_.rows() >= kRowsPerBatch) submit_batch(call_batch_, sink);
}

void ActivityDecoder::append(format::Batch& batch, const Kernel& row, const ApiCall* call) {
  namespace column = format::kernel_column;
  append_activity(batch, kKernelColumns, row, call);
  batch.mutable_column(column::kConfig).push_back(row.config);
  batch.mutable_column(column::kGraph).push_back(row.graph);
  batch.mutable_column(column::kGraphNode).push_back(static_cast<int64_t>(row.graph_node));
}

void ActivityDecoder::append(format::Batch& batch, const Copy& row, const ApiCall* call) {
  namespace column = format::memcpy_column;
  append_activity(batch, kCopyColumns, row, call);
  batch.mutable_column(column::kBytes).push_back(row.bytes);
  batch.mutable_column(column::kDirection).push_back(row.direction);
  batch.mutable_column(column::kSourceKind).push_back(row.source_kind);
  batch.mutable_column(column::kTargetKind).push_back(row.target_kind);
  if (row.peer != kUnknown) batch.mutable_column(column::kPeerDevice).push_back(row.peer);
  batch.mutable_column(column::kAsync).push_back(row.async);
  batch.mutable_column(column::kGraphNode).push_back(static_cast<int64_t>(row.graph_node));
}

void ActivityDecoder::append(format::Batch& batch, const Fill& row, const ApiCall* call) {
  namespace column = format::memset_column;
  append_activity(batch, kFillColumns, row, call);
  batch.mutable_column(column::kBytes).push_back(row.bytes);
  batch.mutable_column(column::kValue).push_back(row.value);
  batch.mutable_column(column::kMemoryKind).push_back(row.memory_kind);
  batch.mutable_column(column::kGraphNode).push_back(static_cast<int64_t>(row.graph_node));
}

void ActivityDecoder::append(format::Batch& batch, const Wait& row, const ApiCall* call) {
  namespace column = format::sync_column;
  append_activity(batch, kWaitColumns, row, call);
  batch.mutable_column(column::kCall).push_back(row.call);
  batch.mutable_column(column::kEventId).push_back(row.event);
}

template <typename Row>
void ActivityDecoder::join(std::vector<Row>& rows, Batches& batches, Patience patience,
                           RowSink& sink) {
  const bool may_wait = patience != Patience::None && rows.size() < kMaxWaiting;
  size_t waiting = 0;
  for (Row& row : rows) {
    ApiCall* call = calls_.find(row.correlation);
    if (call == nullptr && may_wait && row.flushes < kMaxFlushes && row.correlation != 0) {
      if (patience == Patience::NextFlush) ++row.flushes;
      rows[waiting++] = row;
      continue;
    }
    if (call != nullptr) call->joined = true;
    format::Batch& batch = batches.of(row.device);
    append(batch, row, call);
    if (batch.rows() >= kRowsPerBatch) submit_batch(batch, sink);
  }
  rows.resize(waiting);
  for (auto& [device, batch] : batches.by_device) submit_batch(batch, sink);
}

void ActivityDecoder::join_all(Patience patience, RowSink& sink) {
  join(kernels_, kernel_batches_, patience, sink);
  join(copies_, copy_batches_, patience, sink);
  join(peer_copies_, peer_copy_batches_, patience, sink);
  join(fills_, fill_batches_, patience, sink);
  join(waits_, wait_batches_, patience, sink);
}

void ActivityDecoder::submit(bool flushed, RowSink& sink) {
  join_all(flushed ? Patience::NextFlush : Patience::SameFlush, sink);
  submit_batch(call_batch_, sink);
}

void ActivityDecoder::finish(RowSink& sink) {
  join_all(Patience::None, sink);
  calls_.forget_all([&](const ApiCall& call) {
    if (!call.joined) add_call(call, sink);
  });
  submit_batch(call_batch_, sink);
}

}  // namespace gpufl::backend
