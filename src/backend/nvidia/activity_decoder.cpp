// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/activity_decoder.hpp"

#include <limits>

namespace gpufl::backend {
namespace {

// Rows of a kind that are read before they are joined: also the bound on those that wait.
constexpr size_t kMaxWaiting = 65'536;
// A kernel and its call are delivered within a flush of each other.
constexpr uint32_t kMaxFlushes = 3;
constexpr size_t kMaxContexts = 4096;
constexpr uint32_t kNoEvent = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
// What waits longer is told while it waits, so that it is in the log of a program that hangs.
constexpr int64_t kOverdueNs = 200'000'000;
constexpr size_t kMaxOverdueRows = 256;

void increment(uint16_t& count) {
  if (count != std::numeric_limits<uint16_t>::max()) ++count;
}

}  // namespace

ActivityDecoder::ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, ClockOrigins origins,
                                 const TraceOptions& options)
    : api_(api),
      devices_(devices),
      origins_(origins),
      options_(options),
      columns_{options.stacks != nullptr, options.queue_times, options.external_correlation},
      functions_(api) {}

ApiCall* ActivityDecoder::claim(uint32_t id, RowSink& sink) {
  return calls_.claim(id, [&](const ApiCall& call) { settle(call, sink); });
}

template <typename Change>
void ActivityDecoder::update(ApiCall& call, Change change) {
  const bool was_waiting = !call.is_settled();
  change();
  const bool is_waiting = !call.is_settled();
  if (was_waiting != is_waiting) waiting_ += is_waiting ? 1 : uint64_t(-1);
}

// Asked as soon as thread and time are known: scopes that ended long ago are forgotten.
void ActivityDecoder::attribute(ApiCall& call, RowSink& sink) {
  if (call.has_scope) return;
  const ScopeRef scope = sink.scope_at(call.thread, call.start);
  call.has_scope = true;
  call.scope = scope.scope;
  call.inherited = scope.inherited;
  call.outside = options_.gate != nullptr && !options_.gate->is_open(call.start);
}

void ActivityDecoder::note(const CallNote& note, RowSink& sink) {
  const bool is_launch = note.kind == CallNoteKind::Launch;
  const bool is_graph_launch = note.kind == CallNoteKind::GraphLaunch;
  const bool is_begin = note.kind == CallNoteKind::CallBegin;
  if (!is_launch && !is_graph_launch && !is_begin) return;
  if (is_launch) ++counts_.launches;
  if (is_graph_launch) ++counts_.graph_launches;
  ApiCall* call =
      calls_.claim_new(note.correlation, [&](const ApiCall& gone) { settle(gone, sink); });
  if (call == nullptr) return;
  const bool was_settled = call->is_settled();
  update(*call, [&] {
    if (is_launch) increment(call->launches);
    call->is_graph_launch |= is_graph_launch;
    call->has_begun |= is_begin;
  });
  call->context = note.context;
  if (note.stack != 0) call->stack = static_cast<uint32_t>(sink.stack(note.stack));
  if (!call->has_record) {
    call->start = note.time_ns - origins_.monotonic_ns;
    call->thread = note.thread;
    call->function = note.function;
    call->is_driver = !note.is_runtime;
  }
  attribute(*call, sink);
  if (was_settled && !call->is_settled()) pending_.add(call->id);
}

// `call` is forgotten: what it owes to the log and to the account.
void ActivityDecoder::settle(const ApiCall& call, RowSink& sink) {
  if (call.has_record && !call.joined) add_call(call, sink);
  counts_.unclaimed += call.kernels > call.launches ? call.kernels - call.launches : 0;
  if (call.is_settled()) return;
  --waiting_;
  if (call.is_graph_launch && !call.has_node) ++counts_.silent_graph_launches;
  if (call.kernels >= call.launches) return;
  const uint64_t missing = call.launches - call.kernels;
  counts_.missing += missing;
  counts_.missing_by_device[device_of(call.context)] += missing;
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
      default: break;  // another tool of this process may have asked for more
    }
  }
  if (kernels_.size() >= kMaxWaiting || copies_.size() >= kMaxWaiting ||
      waits_.size() >= kMaxWaiting || fills_.size() >= kMaxWaiting) {
    join_all(Patience::SameFlush, sink);
  }
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
  if (record.contextId != last_context_ && context_devices_.size() < kMaxContexts) {
    context_devices_.try_emplace(record.contextId, device);
    last_context_ = record.contextId;
  }
  return {static_cast<int64_t>(record.start) - origins_.cupti_ns,
          static_cast<int64_t>(record.end - record.start),
          device,
          record.contextId,
          record.streamId,
          record.correlationId,
          0};
}

int64_t ActivityDecoder::device_of(uint32_t context) const {
  const auto found = context_devices_.find(context);
  return found != context_devices_.end() ? found->second : kUnknown;
}

void ActivityDecoder::count_node(uint32_t correlation, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call != nullptr) update(*call, [&] { call->has_node = true; });
}

void ActivityDecoder::decode_kernel(const KernelRecord& record, RowSink& sink) {
  ++counts_.kernels;
  if (record.graphNodeId != 0) {
    ++counts_.graph_kernels;
    count_node(record.correlationId, sink);
  } else if (ApiCall* call = claim(record.correlationId, sink)) {
    update(*call, [&] { increment(call->kernels); });
  } else {
    ++counts_.unclaimed;
  }
  if (may_be_unfinished_ && record.end == 0) {
    ++counts_.unfinished;
    return;
  }
  if (!is_possible(record.start, record.end)) return;
  const auto time = [&](uint64_t stamp) {
    return stamp == 0 ? kUnknown : static_cast<int64_t>(stamp) - origins_.cupti_ns;
  };
  kernels_.push_back({activity(record), configs_.id(record, sink), time(record.queued),
                      time(record.submitted), record.graphNodeId, record.graphId});
}

void ActivityDecoder::decode_copy(const MemcpyRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, sink);
  if (!is_possible(record.start, record.end)) return;
  copies_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                     kUnknown, record.copyKind, record.srcKind, record.dstKind,
                     static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_peer_copy(const PeerMemcpyRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, sink);
  if (!is_possible(record.start, record.end)) return;
  const uint32_t peer =
      record.deviceId == record.srcDeviceId ? record.dstDeviceId : record.srcDeviceId;
  peer_copies_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                          devices_.of(peer), record.copyKind, record.srcKind, record.dstKind,
                          static_cast<uint8_t>(record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC)});
}

void ActivityDecoder::decode_fill(const MemsetRecord& record, RowSink& sink) {
  if (record.graphNodeId != 0) count_node(record.correlationId, sink);
  if (!is_possible(record.start, record.end)) return;
  fills_.push_back({activity(record), static_cast<int64_t>(record.bytes), record.graphNodeId,
                    record.value, record.memoryKind});
}

void ActivityDecoder::decode_wait(const SyncRecord& record) {
  if (!is_possible(record.start, record.end)) return;
  waits_.push_back({{static_cast<int64_t>(record.start) - origins_.cupti_ns,
                     static_cast<int64_t>(record.end - record.start), device_of(record.contextId),
                     record.contextId, record.streamId, record.correlationId, 0},
                    record.cudaEventId == kNoEvent ? kUnknown : int64_t{record.cudaEventId},
                    static_cast<uint32_t>(record.type)});
}

void ActivityDecoder::decode_call(const ApiRecord& record, RowSink& sink) {
  const bool is_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  const ApiRole role = functions_.role(is_driver, record.cbid);
  const bool failed = record.returnValue != 0;
  if (role == ApiRole::Other && !failed) return;
  if (!is_possible(record.start, record.end)) return;
  ApiCall* call = claim(record.correlationId, sink);
  if (call == nullptr) return;
  const int64_t start = static_cast<int64_t>(record.start) - origins_.cupti_ns;
  // A runtime call and the driver's inside it share an id: the outer one counts.
  if (call->has_record && start > call->start) return;
  update(*call, [&] { call->has_record = call->has_ended = true; });
  call->start = start;
  call->duration = static_cast<int64_t>(record.end - record.start);
  call->thread = record.threadId;
  call->result = record.returnValue;
  call->function = static_cast<uint16_t>(record.cbid);
  call->is_driver = is_driver;
  attribute(*call, sink);
  if (role != ApiRole::Activity || failed) {
    add_call(*call, sink);
    call->joined = true;
  }
}

void ActivityDecoder::add_call(const ApiCall& call, RowSink& sink) {
  if (call.outside) return;
  append_call(call_batch_, call, functions_.name_id(call.is_driver, call.function, sink), columns_);
  if (call_batch_.rows() >= kRowsPerBatch) submit_batch(call_batch_, sink);
}

bool ActivityDecoder::is_outside(const ActivityRow& row, const ApiCall* call) const {
  if (options_.gate == nullptr) return false;
  return call != nullptr && call->has_scope ? call->outside : !options_.gate->is_open(row.start);
}

template <typename Row>
void ActivityDecoder::join(std::vector<Row>& rows, DeviceBatches& batches, Patience patience,
                           RowSink& sink) {
  const bool may_wait = patience != Patience::None && rows.size() < kMaxWaiting;
  size_t waiting = 0;
  for (Row& row : rows) {
    ApiCall* call = calls_.find(row.correlation);
    if ((call == nullptr || !call->has_record) && may_wait && row.flushes < kMaxFlushes &&
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
    format::Batch& batch = batches.of(row.device);
    append_row(batch, row, is_known ? call : nullptr, columns_);
    if (batch.rows() >= kRowsPerBatch) submit_batch(batch, sink);
  }
  rows.resize(waiting);
  batches.submit(sink);
}

void ActivityDecoder::join_all(Patience patience, RowSink& sink) {
  join(kernels_, kernel_batches_, patience, sink);
  join(copies_, copy_batches_, patience, sink);
  join(peer_copies_, peer_copy_batches_, patience, sink);
  join(fills_, fill_batches_, patience, sink);
  join(waits_, wait_batches_, patience, sink);
}

void ActivityDecoder::tell_pending(int64_t now_ns, RowSink& sink) {
  pending_.take_overdue(now_ns - kOverdueNs, kMaxOverdueRows, overdue_);
  for (const ApiCall& call : overdue_) {
    if (call.outside) continue;
    append_pending(pending_batch_, call, functions_.name_id(call.is_driver, call.function, sink),
                   device_of(call.context), columns_);
  }
  overdue_.clear();
  submit_batch(pending_batch_, sink);
}

void ActivityDecoder::submit(bool flushed, int64_t now_ns, RowSink& sink) {
  join_all(flushed ? Patience::NextFlush : Patience::SameFlush, sink);
  if (flushed) {
    calls_.sweep([&](const ApiCall& call) { settle(call, sink); });
  }
  submit_batch(call_batch_, sink);
  tell_pending(now_ns, sink);
}

void ActivityDecoder::finish(RowSink& sink) {
  join_all(Patience::None, sink);
  calls_.forget_all([&](const ApiCall& call) { settle(call, sink); });
  submit_batch(call_batch_, sink);
}

PendingList ActivityDecoder::pending(size_t at_most) const {
  PendingList list;
  list.count = waiting_;
  std::vector<ApiCall> calls;
  pending_.list(at_most, calls);
  for (const ApiCall& call : calls) {
    list.oldest.push_back({functions_.name(call.is_driver, call.function), call.start,
                           int64_t{call.thread}, device_of(call.context), int64_t{call.id},
                           call.scope, int64_t{call.stack}});
  }
  return list;
}

}  // namespace gpufl::backend
