// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/activity_rows.hpp"

#include "backend/tracing/call_notes.hpp"

namespace gpufl::backend {
namespace {

// The columns that every activity has, at the numbers of its kind.
struct ActivityColumns {
  size_t start, duration, device, context, stream, correlation, api_start, api_duration, thread,
      scope, inherited, stack;
};
#define GPUFL_ACTIVITY_COLUMNS(kind)                                                          \
  ActivityColumns {                                                                           \
    kind::kStart, kind::kDuration, kind::kDevice, kind::kContext, kind::kStream,              \
        kind::kCorrelation, kind::kApiStart, kind::kApiDuration, kind::kThread, kind::kScope, \
        kind::kInherited, kind::kStack                                                        \
  }
constexpr ActivityColumns kKernelColumns = GPUFL_ACTIVITY_COLUMNS(format::kernel_column);
constexpr ActivityColumns kCopyColumns = GPUFL_ACTIVITY_COLUMNS(format::memcpy_column);
constexpr ActivityColumns kFillColumns = GPUFL_ACTIVITY_COLUMNS(format::memset_column);
constexpr ActivityColumns kWaitColumns = GPUFL_ACTIVITY_COLUMNS(format::sync_column);
constexpr ActivityColumns kGraphColumns = GPUFL_ACTIVITY_COLUMNS(format::graph_column);
constexpr ActivityColumns kMemoryColumns = {
    format::memory_column::kTime,      format::kNoColumn,
    format::memory_column::kDevice,    format::memory_column::kContext,
    format::memory_column::kStream,    format::memory_column::kCorrelation,
    format::memory_column::kApiStart,  format::memory_column::kApiDuration,
    format::memory_column::kThread,    format::memory_column::kScope,
    format::memory_column::kInherited, format::memory_column::kStack};
#undef GPUFL_ACTIVITY_COLUMNS

void put(format::Batch& batch, size_t column, int64_t value) {
  batch.mutable_column(column).push_back(value);
}

void append_activity(format::Batch& batch, const ActivityColumns& at, const ActivityRow& row,
                     const ApiCall* call, const RowColumns& columns) {
  static constexpr ApiCall kNoCall{.start = kUnknown};
  if (call == nullptr) call = &kNoCall;
  put(batch, at.start, row.start);
  if (at.duration != format::kNoColumn) put(batch, at.duration, row.duration);
  if (row.device != kUnknown) put(batch, at.device, row.device);
  put(batch, at.context, row.context);
  put(batch, at.stream, row.stream == kNoStreamId ? kUnknown : int64_t{row.stream});
  put(batch, at.correlation, row.correlation);
  put(batch, at.api_start, call->start);
  put(batch, at.api_duration, call->duration);
  put(batch, at.thread, call->thread);
  put(batch, at.scope, call->scope);
  put(batch, at.inherited, call->inherited ? 1 : 0);
  if (columns.stack) put(batch, at.stack, call->stack);
  batch.set_rows(batch.rows() + 1);
}

}  // namespace

void append_row(format::Batch& batch, const KernelRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::kernel_column;
  append_activity(batch, kKernelColumns, row, call, columns);
  put(batch, column::kConfig, row.config);
  put(batch, column::kGraph, row.graph);
  put(batch, column::kGraphNode, static_cast<int64_t>(row.graph_node));
  if (columns.stack) put(batch, column::kNodeStack, row.node_stack);
  if (columns.queue_times) {
    put(batch, column::kQueued, row.queued);
    put(batch, column::kSubmitted, row.submitted);
  }
  if (columns.external) {
    put(batch, column::kExternal, call != nullptr ? static_cast<int64_t>(call->external) : 0);
  }
}

void append_row(format::Batch& batch, const CopyRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::memcpy_column;
  append_activity(batch, kCopyColumns, row, call, columns);
  put(batch, column::kBytes, row.bytes);
  put(batch, column::kRoute, row.route);
  put(batch, column::kSourceMemory, row.source_memory);
  put(batch, column::kTargetMemory, row.target_memory);
  if (row.peer != kUnknown) put(batch, column::kPeerDevice, row.peer);
  put(batch, column::kAsync, row.async);
  put(batch, column::kGraphNode, static_cast<int64_t>(row.graph_node));
  if (columns.stack) put(batch, column::kNodeStack, row.node_stack);
}

void append_row(format::Batch& batch, const FillRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::memset_column;
  append_activity(batch, kFillColumns, row, call, columns);
  put(batch, column::kBytes, row.bytes);
  put(batch, column::kValue, row.value);
  put(batch, column::kMemory, row.memory);
  put(batch, column::kGraphNode, static_cast<int64_t>(row.graph_node));
  if (columns.stack) put(batch, column::kNodeStack, row.node_stack);
}

void append_row(format::Batch& batch, const WaitRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::sync_column;
  append_activity(batch, kWaitColumns, row, call, columns);
  put(batch, column::kWaitKind, row.wait_kind);
  put(batch, column::kEventId, row.event);
}

void append_row(format::Batch& batch, const MemoryRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::memory_column;
  append_activity(batch, kMemoryColumns, row, call, columns);
  put(batch, column::kOperation, row.operation);
  put(batch, column::kMemory, row.memory);
  put(batch, column::kAddress, static_cast<int64_t>(row.address));
  put(batch, column::kBytes, row.bytes);
  put(batch, column::kAsync, row.async ? 1 : 0);
  put(batch, column::kPool, static_cast<int64_t>(row.pool));
  put(batch, column::kPoolBytes, row.pool_bytes);
}

void append_row(format::Batch& batch, const GraphRow& row, const ApiCall* call,
                const RowColumns& columns) {
  namespace column = format::graph_column;
  append_activity(batch, kGraphColumns, row, call, columns);
  put(batch, column::kGraph, row.graph);
  put(batch, column::kNodes, row.nodes);
  put(batch, column::kEndDevice, row.end_device);
}

void append_call(format::Batch& batch, const ApiCall& call, int64_t name, int64_t error,
                 const RowColumns& columns) {
  namespace column = format::api_column;
  put(batch, column::kStart, call.start);
  put(batch, column::kDuration, call.duration);
  put(batch, column::kName, name);
  put(batch, column::kCorrelation, call.id);
  put(batch, column::kThread, call.thread);
  put(batch, column::kScope, call.scope);
  put(batch, column::kInherited, call.inherited ? 1 : 0);
  if (columns.stack) put(batch, column::kStack, call.stack);
  put(batch, column::kResult, call.result);
  put(batch, column::kContext, call.context);
  put(batch, column::kError, error);
  batch.set_rows(batch.rows() + 1);
}

void append_pending(format::Batch& batch, const ApiCall& call, int64_t name, int64_t kernel,
                    int64_t device, const RowColumns& columns) {
  namespace column = format::pending_column;
  put(batch, column::kTime, call.start);
  put(batch, column::kFunction, name);
  put(batch, column::kThread, call.thread);
  put(batch, column::kDevice, device);
  put(batch, column::kCorrelation, call.id);
  put(batch, column::kScope, call.scope);
  put(batch, column::kInherited, call.inherited ? 1 : 0);
  if (columns.stack) put(batch, column::kStack, call.stack);
  put(batch, column::kKernel, kernel);
  batch.set_rows(batch.rows() + 1);
}

void submit_batch(format::Batch& batch, RowSink& sink) {
  if (batch.empty()) return;
  sink.submit(batch);
  batch.clear();
}

}  // namespace gpufl::backend
