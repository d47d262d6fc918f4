// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/api_functions.hpp"
#include "backend/nvidia/cupti/cupti_records.hpp"
#include "backend/nvidia/cupti/kernel_configs.hpp"
#include "backend/tracing/activity_rows.hpp"
#include "backend/tracing/api_calls.hpp"
#include "backend/tracing/call_notes.hpp"
#include "backend/tracing/graph_execs.hpp"
#include "backend/tracing/graph_launches.hpp"
#include "backend/tracing/kernel_order.hpp"
#include "backend/tracing/kernel_overlaps.hpp"
#include "backend/tracing/pending_calls.hpp"
#include "base/page_allocator.hpp"

// CUPTI's records and the callback's notes to rows of the log: note() and decode() read, submit()
// joins what was read with the API calls behind it and hands it on, one batch per kind and device.
// A row whose call has not arrived waits a few flushes for it. Keeps account, by correlation id, of
// launches that were noted and kernels that were recorded. The collector's thread only; memory is
// bounded.
namespace gpufl::backend {

struct ActivityCounts {
  uint64_t kernels = 0;           // kernel records, good or bad
  uint64_t graph_kernels = 0;     // those of them that a graph launch brought
  uint64_t impossible_times = 0;  // records left out because their times cannot be
  uint64_t outside = 0;           // records left out because the program did not want them
  // From the notes; zeros where nothing was noted.
  uint64_t launches = 0;  // not of graphs
  uint64_t graph_launches = 0;
  uint64_t missing = 0;     // launches whose kernel was never recorded, as far as known by now
  uint64_t unclaimed = 0;   // kernel records, but of graphs, that no noted launch accounts for
  uint64_t unfinished = 0;  // kernels that still ran when recording was stopped
  uint64_t launches_outside = 0;       // made where the program did not want to be recorded
  uint64_t graph_kernels_missing = 0;  // of graphs of which the driver has counted the kernels
  uint64_t silent_graph_launches = 0;  // that brought no record at all: empty, or lost
  // Kernels that another kernel launched, as CUPTI says; before 13.0, that nobody else launched.
  uint64_t device_launched = 0;
  // What CUPTI and the driver say they cost the program, by CUPTI's number for the reason.
  std::map<uint32_t, uint64_t> overhead_ns;
  uint64_t cupti_overhead_ns() const;  // the part that would not be there without CUPTI
};

// Session time 0 by CUPTI's clock and by the monotonic one.
struct ClockOrigins {
  int64_t cupti_ns = 0, monotonic_ns = 0;
};

struct PendingList {
  uint64_t count = 0;
  std::vector<PendingCall> oldest;
};

class ActivityDecoder {
 public:
  ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, ClockOrigins origins,
                  const TraceOptions& options = {});

  // Notes come before or after the records of the call. Scopes of its time must be known to `sink`.
  void note(const CallNote& note, uint32_t thread, RowSink& sink);
  // A node of a graph: rows of its runs carry the stack of the call that made it.
  void note(const GraphNodeNote& note, RowSink& sink);
  // A graph was instantiated: launches of it owe its kernels. Comes before the launches' notes.
  void note(const GraphInstance& instance, RowSink& sink);
  // `latest_ns`: session time after which no record in the buffer can have ended.
  void decode(uint8_t* data, size_t valid_bytes, int64_t latest_ns, RowSink& sink);
  // `flushed`: CUPTI was asked for everything since the last time. Calls and launches older than
  // 200 ms before `now_ns` (session time) that wait still become `pending` rows.
  void submit(bool flushed, int64_t now_ns, RowSink& sink);
  // Recording was stopped by a forced flush: from now on a kernel record without times is that of
  // a kernel which still runs.
  void expect_unfinished() { may_be_unfinished_ = true; }
  // The last submit(): nothing goes on waiting, and the account is closed.
  void finish(RowSink& sink);

  const ActivityCounts& counts() const { return counts_; }
  // What the ledger is to say of records and, with `has_notes`, of launches.
  void account(bool has_notes, format::Ledger& ledger) const;
  // What began and has not ended.
  PendingList pending(size_t at_most) const;

 private:
  enum class Patience { SameFlush, NextFlush, None };
  struct Context {
    int64_t device = kUnknown;
    uint64_t launches = 0, kernels = 0, missing = 0;
  };

  ApiCall* claim(uint32_t id, RowSink& sink);
  // Brings `call` up to date through `change`, and the number of those that wait with it.
  template <typename Change>
  void update(ApiCall& call, Change change);
  void attribute(ApiCall& call, RowSink& sink);
  void note_own(const CallNote& note, RowSink& sink);
  void note_end(const CallNote& note, RowSink& sink);
  void note_wait(const CallNote& note, const ApiCall& call);
  void tell(ApiCall& call, RowSink& sink);
  void settle(const ApiCall& call, RowSink& sink);
  void add_call(const ApiCall& call, RowSink& sink);

  bool is_possible(uint64_t start, uint64_t end);
  template <typename Record>
  ActivityRow activity(const Record& record);
  // A kernel record; a record of a node of a graph.
  const ApiCall* count_kernel(uint32_t correlation, RowSink& sink);
  bool is_own_call(uint32_t correlation);
  const ApiCall* count_node(uint32_t correlation, bool is_kernel, RowSink& sink);
  bool is_in_order(const KernelRecord& record, uint32_t thread, const KernelTimes& times);
  uint32_t node_stack(uint64_t node) const;
  void decode_kernel(const KernelRecord& record, RowSink& sink);
  void decode_own_kernel(const KernelRecord& record, RowSink& sink);
  void decode_copy(const MemcpyRecord& record, RowSink& sink);
  void decode_peer_copy(const PeerMemcpyRecord& record, RowSink& sink);
  void decode_fill(const MemsetRecord& record, RowSink& sink);
  void decode_wait(const SyncRecord& record);
  void decode_call(const ApiRecord& record, RowSink& sink);
  void decode_memory(const MemoryRecord& record);
  void decode_external(const ExternalRecord& record, RowSink& sink);
  void decode_overhead(const OverheadRecord& record);
  void decode_device(const DeviceRecord& record, RowSink& sink);
  void decode_context(const ContextRecord& record, RowSink& sink);

  Context& context(uint32_t id);
  int64_t device_of(uint32_t context) const;
  bool is_outside(const ActivityRow& row, const ApiCall* call) const;
  template <typename Row>
  void join(base::PageVector<Row>& rows, DeviceBatches& batches, Patience patience, RowSink& sink);
  void join_all(Patience patience, RowSink& sink);
  void submit_batches(RowSink& sink);
  size_t rows_held() const;
  void take_graph_launches(bool all);
  void tell_pending(int64_t now_ns, RowSink& sink);

  const CuptiApi& api_;
  DeviceNumbers& devices_;
  const ClockOrigins origins_;
  const TraceOptions options_;
  const RowColumns columns_;
  const bool says_device_launched_;
  int64_t latest_ns_ = 0;
  bool may_be_unfinished_ = false;
  ApiFunctions functions_;
  ApiCalls calls_;
  PendingCalls pending_{calls_};
  uint64_t waiting_ = 0;  // calls that are not settled
  KernelConfigs configs_;
  GraphLaunches graphs_;
  GraphExecs graph_execs_;
  uint32_t topologies_told_ = 0;
  KernelOrder order_;
  KernelOverlaps overlaps_;
  std::unordered_map<uint64_t, uint32_t> node_stacks_;  // the log's ids, by node
  std::unordered_map<uint32_t, Context> contexts_;
  uint32_t last_context_id_ = 0;
  Context* last_context_ = nullptr;  // of contexts_
  ActivityCounts counts_;

  size_t rows_waiting_ = 0;  // of those below, as of the last join
  base::PageVector<KernelRow> kernels_;
  base::PageVector<CopyRow> copies_, peer_copies_;
  base::PageVector<FillRow> fills_;
  base::PageVector<WaitRow> waits_;
  base::PageVector<MemoryRow> memory_;
  base::PageVector<GraphRow> graph_rows_;
  std::vector<ApiCall> overdue_;
  DeviceBatches kernel_batches_{format::Kind::Kernel}, copy_batches_{format::Kind::Memcpy},
      peer_copy_batches_{format::Kind::Memcpy}, fill_batches_{format::Kind::Memset},
      wait_batches_{format::Kind::Sync}, memory_batches_{format::Kind::Memory},
      graph_batches_{format::Kind::Graph};
  format::Batch call_batch_{format::Kind::Api}, pending_batch_{format::Kind::Pending};
};

inline ApiCall* ActivityDecoder::claim(uint32_t id, RowSink& sink) {
  return calls_.claim(id, [&](const ApiCall& call) { settle(call, sink); });
}

template <typename Change>
void ActivityDecoder::update(ApiCall& call, Change change) {
  const bool was_waiting = !call.is_settled();
  change();
  const bool is_waiting = !call.is_settled();
  if (was_waiting != is_waiting) waiting_ += is_waiting ? 1 : uint64_t(-1);
}

}  // namespace gpufl::backend
