// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tracing/activity_rows.hpp"
#include "backend/tracing/call_functions.hpp"
#include "backend/tracing/call_notes.hpp"
#include "backend/tracing/call_table.hpp"
#include "backend/tracing/context_counts.hpp"
#include "backend/tracing/graph_execs.hpp"
#include "backend/tracing/graph_node_stacks.hpp"
#include "backend/tracing/kernel_order.hpp"
#include "backend/tracing/kernel_overlaps.hpp"
#include "backend/tracing/open_graph_launches.hpp"
#include "backend/tracing/pending_calls.hpp"
#include "base/page_allocator.hpp"

// The account of the program's calls, by correlation id: launches that callbacks noted against
// kernels that the vendor recorded, what still waits, and what of it all cannot be true. Writes the
// rows of calls that no row of GPU work carries, and those of calls that hang. Notes and records
// come in any order. A vendor's ids that have more than 32 bits are given by their lower 32. The
// collector's thread only; memory is bounded.
namespace gpufl::backend {

struct CallCounts {
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
  uint64_t graph_kernels_missing = 0;  // of graphs whose kernels were counted
  uint64_t silent_graph_launches = 0;  // that brought no record at all: empty, or lost
  // Kernels that another kernel launched, where records say so; else, that nobody else launched.
  uint64_t device_launched = 0;
};

struct PendingList {
  uint64_t count = 0;
  std::vector<PendingCall> oldest;
};

// A call as the vendor's record has it. Times are session time.
struct CallRecord {
  uint32_t correlation = 0;
  int64_t start = 0, duration = 0;
  uint32_t thread = 0;
  uint32_t result = 0;  // 0: no error
  uint16_t function = 0;
  bool is_driver = false;
};

// A kernel as the vendor's record has it, but for what only its row needs.
struct KernelRecordFacts {
  uint64_t node = 0;   // of a graph; 0: launched by itself
  uint32_t graph = 0;  // that the node is of
  bool is_device_launched = false;
};

class CallAccount {
 public:
  // `origin_ns`: session time 0 on the monotonic clock. `says_device_launched`: whether the
  // vendor's records say which kernels another kernel launched. `functions` outlives it.
  CallAccount(const TraceOptions& options, int64_t origin_ns, bool says_device_launched,
              const FunctionSource& functions);

  // What callbacks noted; the call is null where none is known by the id. Notes come before or
  // after the records of the call. Scopes of its time must be known to `sink`.
  const ApiCall* note(const CallNote& note, uint32_t thread, RowSink& sink);
  // A node of a graph: rows of its runs carry the stack of the call that made it.
  void note(const GraphNodeNote& note, RowSink& sink) { node_stacks_.add(note, sink); }
  // A graph was instantiated: launches of it owe its kernels. Comes before the launches' notes.
  void note(const GraphInstance& instance, RowSink& sink);

  // What the vendor recorded. Each counts what it is given; false: no row is to be made of it.
  // `latest_ns`: session time after which no record that comes next can have ended.
  void expect_until(int64_t latest_ns) { latest_ns_ = latest_ns; }
  // Recording was stopped by force: from now on a kernel without an end is one that still runs.
  void expect_unfinished() { may_be_unfinished_ = true; }
  // Recording was stopped, and records of kernels that still run do not come any more. Launches
  // after the last of their context that has a record are taken for such; those before it are
  // missing, as are kernels of graphs.
  void leave_unfinished() { leaves_unfinished_ = true; }
  bool add_kernel(const ActivityRow& row, const KernelRecordFacts& facts, RowSink& sink);
  // Copies and fills; `node` and `graph` are 0 where they are of none.
  bool add_transfer(const ActivityRow& row, uint64_t node, uint32_t graph, RowSink& sink);
  void add_call(const CallRecord& record, RowSink& sink);
  // The id that the program or a framework pushed; of several the first, which is the innermost.
  void add_external(uint32_t correlation, uint64_t external, RowSink& sink);
  // A kernel of the recorder's own, which is in no count. When its call began (session time), where
  // that was noted.
  std::optional<int64_t> add_own_kernel(uint32_t correlation, RowSink& sink);
  void set_device(uint32_t context, int64_t device) { contexts_.at(context).device = device; }
  bool is_possible(int64_t start, int64_t duration) {
    if (start >= 0 && duration >= 0 && start + duration <= latest_ns_) return true;
    ++counts_.impossible_times;
    return false;
  }
  bool is_own_call(uint32_t correlation) {
    const ApiCall* call = calls_.find(correlation);
    return call != nullptr && call->is_own;
  }

  // What rows are joined with.
  ApiCall* find(uint32_t correlation) { return calls_.find(correlation); }
  int64_t device_of(uint32_t context) const { return contexts_.device_of(context); }
  uint32_t node_stack(uint64_t node) const { return node_stacks_.find(node); }
  uint32_t wait_of(const ApiCall& call) { return functions_.wait(call.is_driver, call.function); }
  void count_outside() { ++counts_.outside; }
  void count_impossible() { ++counts_.impossible_times; }

  // After the vendor was asked for everything: appends launches of graphs that are complete, or
  // with `all` the others as well; forgets calls of which nothing more has to come.
  void take_graph_launches(bool all, base::PageVector<GraphRow>& out);
  void sweep(RowSink& sink);
  void forget_all(RowSink& sink);
  void submit(RowSink& sink) {
    submit_batch(call_batch_, sink);
    submit_batch(pending_batch_, sink);
  }
  // Calls and launches that began 200 ms before `now_ns` (session time) and wait still become
  // `pending` rows.
  void submit_pending(int64_t now_ns, RowSink& sink);

  const CallCounts& counts() const { return counts_; }
  // What the ledger is to say of records and, with `has_notes`, of launches.
  void fill_ledger(bool has_notes, format::Ledger& ledger) const;
  // What began and has not ended.
  PendingList pending(size_t at_most) const;

 private:
  ApiCall* claim(uint32_t id, RowSink& sink);
  ApiCall* claim_new(uint32_t id, RowSink& sink);
  // Brings `call` up to date through `change`, and the number of those that wait with it.
  template <typename Change>
  void update(ApiCall& call, Change change);
  void attribute(ApiCall& call, RowSink& sink);
  const ApiCall* note_own(const CallNote& note, RowSink& sink);
  const ApiCall* note_end(const CallNote& note, RowSink& sink);
  void finish_call(ApiCall& call, RowSink& sink);
  void forget(const ApiCall& call, RowSink& sink);
  void settle(const ApiCall& call, RowSink& sink);
  void append_call_row(const ApiCall& call, RowSink& sink);
  void append_pending_row(const ApiCall& call, RowSink& sink);
  // The kernel that a call which is overdue has launched. Empty: unknown.
  const std::string& kernel_of(const ApiCall& call) const;
  const ApiCall* count_kernel(uint32_t correlation, RowSink& sink);
  const ApiCall* count_node(uint32_t correlation, bool is_kernel, RowSink& sink);
  bool is_in_order(const ActivityRow& row, const KernelRecordFacts& facts, uint32_t thread);

  const TraceOptions options_;
  const RowColumns columns_;
  const int64_t origin_ns_;
  const bool says_device_launched_;
  CallFunctions functions_;
  CallTable calls_;
  PendingCalls pending_{calls_};
  uint64_t waiting_ = 0;  // calls that are not settled
  ContextCounts contexts_;
  OpenGraphLaunches graphs_;
  GraphExecs graph_execs_;
  GraphNodeStacks node_stacks_;
  uint32_t topologies_written_ = 0;
  KernelOrder order_;
  KernelOverlaps overlaps_;
  int64_t latest_ns_ = 0;
  int64_t round_ns_ = 0;  // when submit_pending() was called last
  bool may_be_unfinished_ = false, leaves_unfinished_ = false;
  CallCounts counts_;
  std::vector<ApiCall> overdue_;
  // By call: looked for once, while the thread that launched it still knows the name.
  mutable std::unordered_map<uint32_t, std::string> running_kernels_;
  format::Batch call_batch_{format::Kind::Api}, pending_batch_{format::Kind::Pending};
};

}  // namespace gpufl::backend
