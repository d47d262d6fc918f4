// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tracing/call_table.hpp"

// Rows between a vendor's records and the log's batches: what a record says, kept until the API
// call behind it has come, and how both together fill a batch. The collector's thread only.
namespace gpufl::backend {

inline constexpr size_t kRowsPerBatch = 8192;
inline constexpr int64_t kUnknown = -1;

// What every GPU activity has.
struct ActivityRow {
  int64_t start, duration;
  int64_t device;
  uint32_t context, stream, correlation;
  uint32_t flushes;  // that did not bring its API call
};
struct KernelRow : ActivityRow {
  int64_t config;
  int64_t queued, submitted;
  uint64_t graph_node;
  uint32_t graph, node_stack;
};
struct CopyRow : ActivityRow {
  int64_t bytes;
  uint64_t graph_node;
  int64_t peer;  // kUnknown: none
  uint32_t node_stack;
  uint8_t route, source_memory, target_memory, async;  // by the log's numbers (format/kinds.def)
};
struct FillRow : ActivityRow {
  int64_t bytes;
  uint64_t graph_node;
  uint32_t value, memory, node_stack;
};
struct WaitRow : ActivityRow {
  int64_t event;  // kUnknown: none
  uint32_t wait_kind;
};
struct MemoryRow : ActivityRow {
  uint64_t address, pool;
  int64_t bytes, pool_bytes;
  uint32_t operation, memory;
  bool async;
};
struct GraphRow : ActivityRow {
  uint32_t graph = 0, nodes = 0;
  int64_t end_device = kUnknown;
};

// Columns that are in the log only when they were asked for.
struct RowColumns {
  bool stack = false;  // and, of nodes of graphs, that of the call which made them
  bool queue_times = false;
  bool external = false;

  static RowColumns of(const TraceOptions& options) {
    return {options.stacks != nullptr, options.queue_times, options.external_correlation};
  }
};

// Each appends one row; `call` is null when it never came.
void append_row(format::Batch& batch, const KernelRow& row, const ApiCall* call,
                const RowColumns& columns);
void append_row(format::Batch& batch, const CopyRow& row, const ApiCall* call,
                const RowColumns& columns);
void append_row(format::Batch& batch, const FillRow& row, const ApiCall* call,
                const RowColumns& columns);
void append_row(format::Batch& batch, const WaitRow& row, const ApiCall* call,
                const RowColumns& columns);
void append_row(format::Batch& batch, const MemoryRow& row, const ApiCall* call,
                const RowColumns& columns);
void append_row(format::Batch& batch, const GraphRow& row, const ApiCall* call,
                const RowColumns& columns);
// An `api` row. `name` and `error` are ids of names.
void append_call(format::Batch& batch, const ApiCall& call, int64_t name, int64_t error,
                 const RowColumns& columns);
// A `pending` row. `kernel` 0: unknown, or none.
void append_pending(format::Batch& batch, const ApiCall& call, int64_t name, int64_t kernel,
                    int64_t device, const RowColumns& columns);

void submit_batch(format::Batch& batch, RowSink& sink);  // and clears it

// The batches of one kind: one for each device, and one for rows that know none.
class DeviceBatches {
 public:
  explicit DeviceBatches(format::Kind kind) : kind_(kind) {}
  format::Batch& of(int64_t device) {
    for (auto& [number, batch] : by_device_) {
      if (number == device) return batch;
    }
    return by_device_.emplace_back(device, format::Batch(kind_)).second;
  }
  void submit(RowSink& sink) {
    for (auto& [device, batch] : by_device_) submit_batch(batch, sink);
  }

 private:
  format::Kind kind_;
  std::vector<std::pair<int64_t, format::Batch>> by_device_;  // few: searched one by one
};

}  // namespace gpufl::backend
