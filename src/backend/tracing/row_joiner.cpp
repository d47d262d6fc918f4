// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/row_joiner.hpp"

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

}  // namespace

RowJoiner::RowJoiner(const TraceOptions& options, CallAccount& account)
    : options_(options), columns_(RowColumns::of(options)), account_(account) {
  kernels_.rows.reserve(kRowsKept);
}

void RowJoiner::note(const CallNote& note, uint32_t thread, RowSink& sink) {
  const ApiCall* call = account_.note(note, thread, sink);
  if (note.kind != CallNoteKind::CallEnd || call == nullptr) return;
  if (options_.call_records || !options_.synchronization) return;
  const uint32_t sort = account_.wait_of(*call);
  if (sort == 0) return;
  add(WaitRow{{call->start, call->duration, kUnknown, call->context, note.stream, call->id, 0},
              note.event == kNoEventId ? kUnknown : int64_t{note.event},
              sort});
}

size_t RowJoiner::rows_held() const {
  return kernels_.rows.size() + copies_.rows.size() + peer_copies_.rows.size() +
         fills_.rows.size() + waits_.rows.size() + memory_.rows.size();
}

void RowJoiner::relieve(RowSink& sink) {
  if (rows_held() >= rows_waiting_ + kRowsPerJoin) join_all(Patience::SameFlush, sink);
}

bool RowJoiner::is_outside(const ActivityRow& row, const ApiCall* call) const {
  if (options_.gate == nullptr) return false;
  return call != nullptr && call->has_scope ? call->outside : !options_.gate->is_open(row.start);
}

template <typename Row>
void RowJoiner::join(Rows<Row>& kind, Patience patience, RowSink& sink) {
  base::PageVector<Row>& rows = kind.rows;
  const bool may_wait = patience != Patience::None && rows.size() < kMaxWaiting;
  size_t waiting = 0;
  for (Row& row : rows) {
    ApiCall* call = account_.find(row.correlation);
    if ((call == nullptr || !call->is_told) && may_wait && row.flushes < kMaxFlushes &&
        row.correlation != 0) {
      if (patience == Patience::NextFlush) ++row.flushes;
      rows[waiting++] = row;
      continue;
    }
    if (call != nullptr) call->joined = true;
    if (is_outside(row, call)) {
      account_.count_outside();
      continue;
    }
    // A call of which neither record nor note came is none.
    const bool is_known = call != nullptr && call->has_scope;
    // Nothing runs before it was asked for.
    if (is_known && row.start < call->start - kMaxClockErrorNs) {
      account_.count_impossible();
      continue;
    }
    if (row.device == kUnknown) row.device = account_.device_of(row.context);
    format::Batch& batch = kind.batches.of(row.device);
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

void RowJoiner::join_all(Patience patience, RowSink& sink) {
  join(kernels_, patience, sink);
  join(copies_, patience, sink);
  join(peer_copies_, patience, sink);
  join(fills_, patience, sink);
  join(waits_, patience, sink);
  join(memory_, patience, sink);
  join(graphs_, patience, sink);
  rows_waiting_ = rows_held();
}

void RowJoiner::take_graph_launches(bool all) {
  account_.take_graph_launches(all, graphs_.rows);
  if (!options_.graphs) graphs_.rows.clear();
}

void RowJoiner::submit_batches(RowSink& sink) {
  kernels_.batches.submit(sink);
  copies_.batches.submit(sink);
  peer_copies_.batches.submit(sink);
  fills_.batches.submit(sink);
  waits_.batches.submit(sink);
  memory_.batches.submit(sink);
  graphs_.batches.submit(sink);
  account_.submit(sink);
}

void RowJoiner::submit(bool flushed, int64_t now_ns, RowSink& sink) {
  if (flushed) take_graph_launches(false);
  join_all(flushed ? Patience::NextFlush : Patience::SameFlush, sink);
  if (flushed) account_.sweep(sink);
  submit_batches(sink);
  account_.submit_pending(now_ns, sink);
}

void RowJoiner::finish(RowSink& sink) {
  take_graph_launches(true);
  join_all(Patience::None, sink);
  account_.forget_all(sink);
  submit_batches(sink);
}

}  // namespace gpufl::backend
