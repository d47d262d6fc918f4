// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/backend.hpp"
#include "backend/tracing/activity_rows.hpp"
#include "backend/tracing/call_account.hpp"
#include "backend/tracing/call_notes.hpp"
#include "backend/tracing/call_table.hpp"
#include "base/page_allocator.hpp"

// Rows of GPU work, joined with the calls behind them and handed on, one batch per kind and device.
// A row whose call has not arrived waits a few flushes for it. What was asked of the account (which
// counts a row before it comes here) is not asked again. The collector's thread only; memory is
// bounded.
namespace gpufl::backend {

class RowJoiner {
 public:
  RowJoiner(const TraceOptions& options, CallAccount& account);

  // A note of a call: counted, and where it ends a wait, the row of that wait.
  void note(const CallNote& note, uint32_t thread, RowSink& sink);
  void add(const KernelRow& row) { kernels_.rows.push_back(row); }
  // Copies between GPUs carry the other one, which others lack: a batch of their own.
  void add(const CopyRow& row) {
    (row.peer == kUnknown ? copies_ : peer_copies_).rows.push_back(row);
  }
  void add(const FillRow& row) { fills_.rows.push_back(row); }
  void add(const WaitRow& row) { waits_.rows.push_back(row); }
  void add(const MemoryRow& row) { memory_.rows.push_back(row); }
  // Hands on what has its call, where a round brings many rows.
  void relieve(RowSink& sink);
  // `flushed`: the vendor was asked for everything since the last time. `now_ns` is session time.
  void submit(bool flushed, int64_t now_ns, RowSink& sink);
  // The last submit(): nothing goes on waiting, and the account is closed.
  void finish(RowSink& sink);

 private:
  enum class Patience { SameFlush, NextFlush, None };
  // Rows of a kind that wait for their calls, and those that have them.
  template <typename Row>
  struct Rows {
    explicit Rows(format::Kind kind) : batches(kind) {}
    base::PageVector<Row> rows;
    DeviceBatches batches;
  };

  size_t rows_held() const;
  bool is_outside(const ActivityRow& row, const ApiCall* call) const;
  template <typename Row>
  void join(Rows<Row>& kind, Patience patience, RowSink& sink);
  void join_all(Patience patience, RowSink& sink);
  void take_graph_launches(bool all);
  void submit_batches(RowSink& sink);

  const TraceOptions options_;
  const RowColumns columns_;
  CallAccount& account_;
  size_t rows_waiting_ = 0;  // of those below, as of the last join
  Rows<KernelRow> kernels_{format::Kind::Kernel};
  Rows<CopyRow> copies_{format::Kind::Memcpy}, peer_copies_{format::Kind::Memcpy};
  Rows<FillRow> fills_{format::Kind::Memset};
  Rows<WaitRow> waits_{format::Kind::Sync};
  Rows<MemoryRow> memory_{format::Kind::Memory};
  Rows<GraphRow> graphs_{format::Kind::Graph};
};

}  // namespace gpufl::backend
