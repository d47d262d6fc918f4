// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/call_account.hpp"

namespace gpufl::backend {
namespace {

// What waits longer is written while it waits, so that it is in the log of a program that hangs.
constexpr int64_t kOverdueNs = 200'000'000;
constexpr size_t kMaxOverdueRows = 256;
constexpr uint32_t kMaxTopologies = 256;

}  // namespace

CallAccount::CallAccount(const TraceOptions& options, int64_t origin_ns, bool says_device_launched,
                         const FunctionSource& functions)
    : options_(options),
      columns_(RowColumns::of(options)),
      origin_ns_(origin_ns),
      says_device_launched_(says_device_launched),
      functions_(functions) {}

inline ApiCall* CallAccount::claim(uint32_t id, RowSink& sink) {
  return calls_.claim(id, [&](const ApiCall& call) { forget(call, sink); });
}

inline ApiCall* CallAccount::claim_new(uint32_t id, RowSink& sink) {
  return calls_.claim_new(id, [&](const ApiCall& call) { forget(call, sink); });
}

template <typename Change>
void CallAccount::update(ApiCall& call, Change change) {
  const bool was_waiting = !call.is_settled();
  change();
  const bool is_waiting = !call.is_settled();
  if (was_waiting != is_waiting) waiting_ += is_waiting ? 1 : uint64_t(-1);
}

// Asked as soon as thread and time are known: scopes that ended long ago are forgotten.
void CallAccount::attribute(ApiCall& call, RowSink& sink) {
  if (call.has_scope) return;
  const ScopeRef scope = sink.scope_at(call.thread, call.start);
  call.has_scope = true;
  call.scope = scope.scope;
  call.inherited = scope.inherited;
  call.outside = options_.gate != nullptr && !options_.gate->is_open(call.start);
}

const ApiCall* CallAccount::note_own(const CallNote& note, RowSink& sink) {
  ApiCall* own = claim_new(note.correlation, sink);
  if (own == nullptr) return nullptr;
  own->is_own = true;
  own->start = note.time_ns - origin_ns_;
  return own;
}

const ApiCall* CallAccount::note_end(const CallNote& note, RowSink& sink) {
  ApiCall* call = calls_.find(note.correlation);
  if (call == nullptr) return nullptr;
  update(*call, [&] { call->has_ended = true; });
  if (options_.call_records) return call;
  call->is_told = true;
  call->duration = note.time_ns - origin_ns_ - call->start;
  if (note.context != 0) call->context = note.context;
  finish_call(*call, sink);
  return call;
}

const ApiCall* CallAccount::note(const CallNote& note, uint32_t thread, RowSink& sink) {
  if (note.kind == CallNoteKind::OwnCall) return note_own(note, sink);
  if (note.kind == CallNoteKind::CallEnd) return note_end(note, sink);
  if (note.kind == CallNoteKind::External) {
    ApiCall* call = claim(note.correlation, sink);
    if (call != nullptr) call->external = note.external;
    return call;
  }
  const bool is_launch = note.kind == CallNoteKind::Launch;
  const bool is_graph_launch = note.kind == CallNoteKind::GraphLaunch;
  const bool is_begin = note.kind == CallNoteKind::CallBegin;
  const bool is_over = is_launch || is_graph_launch || note.kind == CallNoteKind::Call;
  if (!is_begin && !is_over) return nullptr;
  if (is_launch) {
    ++counts_.launches;
    ++contexts_.at(note.context).launches;
  }
  if (is_graph_launch) ++counts_.graph_launches;
  ApiCall* call = claim_new(note.correlation, sink);
  if (call == nullptr) return nullptr;
  const bool was_settled = call->is_settled();
  const GraphExecs::Known* exec =
      is_graph_launch && !options_.counts() ? graph_execs_.find(note.graph, note.time_ns) : nullptr;
  const bool owes_records = !options_.counts();
  update(*call, [&] {
    if (is_launch && owes_records) ++call->launches;
    if (exec != nullptr) call->launches += exec->kernels.value_or(0);
    call->is_graph_launch |= is_graph_launch && owes_records;
    call->counts_nodes |= exec != nullptr && exec->kernels.has_value();
    call->varies |= exec != nullptr && !exec->kernels.has_value();
    call->has_begun |= is_begin;
    call->has_ended |= note.kind == CallNoteKind::Call;
  });
  call->context = note.context;
  if (note.stack != 0) call->stack = static_cast<uint32_t>(sink.stack(note.stack));
  if (!call->is_told) {
    call->start = note.time_ns - origin_ns_;
    call->thread = thread;
    call->function = note.function;
    call->is_driver = !note.is_runtime;
  }
  attribute(*call, sink);
  if (is_launch && call->outside) ++counts_.launches_outside;
  if (was_settled && !call->is_settled()) pending_.add(call->id);
  if (!is_over || options_.call_records) return call;
  call->is_told = true;
  call->duration = note.duration_ns();
  if (note.kind != CallNoteKind::Call) return call;
  call->result = note.result;
  finish_call(*call, sink);
  return call;
}

// A call whose end is known. What a row of its own will carry needs no other, unless it failed.
void CallAccount::finish_call(ApiCall& call, RowSink& sink) {
  const ApiRole role = functions_.role(call.is_driver, call.function);
  const bool has_row = role == ApiRole::Activity || (role == ApiRole::Memory && options_.memory);
  if (has_row && call.result == 0) return;
  append_call_row(call, sink);
  call.joined = true;
}

void CallAccount::note(const GraphInstance& instance, RowSink& sink) {
  graph_execs_.add(instance);
  if (!instance.topology || topologies_written_ == kMaxTopologies) return;
  ++topologies_written_;
  sink.write(format::Kind::Event, topology_line(instance, origin_ns_));
}

void CallAccount::forget(const ApiCall& call, RowSink& sink) {
  settle(call, sink);
  if (!running_kernels_.empty()) running_kernels_.erase(call.id);
}

// What a call that is forgotten owes to the log and to the account.
void CallAccount::settle(const ApiCall& call, RowSink& sink) {
  if (call.is_told && !call.joined && !call.is_own) append_call_row(call, sink);
  // What a graph brings beyond what it owes, its kernels have launched.
  if (!call.has_node && call.kernels > call.launches) {
    counts_.unclaimed += call.kernels - call.launches;
    // A call without a launch may have been on its way when launches began or ceased to be noted.
    if (!says_device_launched_ && call.launches != 0) {
      counts_.device_launched += call.kernels - call.launches;
    }
  }
  if (call.is_settled()) return;
  --waiting_;
  if (call.is_graph_launch && !call.has_node && !call.counts_nodes) {
    ++counts_.silent_graph_launches;
  }
  if (call.kernels >= call.launches) return;
  const uint64_t missing = call.launches - call.kernels;
  if (call.is_graph_launch) {
    counts_.graph_kernels_missing += missing;
    return;
  }
  ContextCounts::Context& context = contexts_.at(call.context);
  const bool may_run = context.last_recorded != 0 && call.id > context.last_recorded;
  if (leaves_unfinished_ && may_run) {
    counts_.unfinished += missing;
    append_pending_row(call, sink);
    return;
  }
  context.missing += missing;
  counts_.missing += missing;
}

const ApiCall* CallAccount::count_kernel(uint32_t correlation, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call == nullptr) {
    ++counts_.unclaimed;
    if (!says_device_launched_) ++counts_.device_launched;
  } else {
    update(*call, [&] { ++call->kernels; });
  }
  return call;
}

const ApiCall* CallAccount::count_node(uint32_t correlation, bool is_kernel, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call == nullptr) return nullptr;
  update(*call, [&] {
    call->has_node = true;
    call->kernels += is_kernel ? 1 : 0;
  });
  return call;
}

bool CallAccount::add_kernel(const ActivityRow& row, const KernelRecordFacts& facts,
                             RowSink& sink) {
  ++counts_.kernels;
  ContextCounts::Context& context = contexts_.at(row.context);
  ++context.kernels;
  context.device = row.device;
  context.last_recorded = std::max(context.last_recorded, row.correlation);
  const ApiCall* call = nullptr;
  if (facts.node != 0) {
    ++counts_.graph_kernels;
    graphs_.add_kernel(row.correlation, facts.graph);
    call = count_node(row.correlation, true, sink);
  } else {
    call = count_kernel(row.correlation, sink);
  }
  if (may_be_unfinished_ && row.duration == kUnknown) {
    ++counts_.unfinished;
    if (call != nullptr && call->launches != 0) append_pending_row(*call, sink);
    return false;
  }
  if (facts.is_device_launched) ++counts_.device_launched;
  if (!is_possible(row.start, row.duration)) return false;
  if (!is_in_order(row, facts, call != nullptr ? call->thread : 0)) {
    ++counts_.impossible_times;
    return false;
  }
  if (facts.node != 0) graphs_.add_node(row, facts.graph);
  return true;
}

// Each time may be possible by itself, and left over from another kernel.
bool CallAccount::is_in_order(const ActivityRow& row, const KernelRecordFacts& facts,
                              uint32_t thread) {
  if (row.duration == 0) return false;  // nothing takes no time
  const KernelTimes times{row.correlation, row.start, row.start + row.duration};
  const bool is_accepted = facts.node != 0 ? order_.accept_node(facts.graph, row.stream, times)
                                           : order_.accept(row.context, row.stream, thread, times);
  if (is_accepted) overlaps_.add(row.context, row.stream, thread, times);
  return is_accepted;
}

bool CallAccount::add_transfer(const ActivityRow& row, uint64_t node, uint32_t graph,
                               RowSink& sink) {
  if (node != 0) count_node(row.correlation, false, sink);
  if (!is_possible(row.start, row.duration)) return false;
  contexts_.at(row.context).device = row.device;
  if (node != 0) graphs_.add_node(row, graph);
  return true;
}

void CallAccount::add_call(const CallRecord& record, RowSink& sink) {
  const ApiRole role = functions_.role(record.is_driver, record.function);
  if (role == ApiRole::Other && record.result == 0) return;
  if (!is_possible(record.start, record.duration)) return;
  ApiCall* call = claim(record.correlation, sink);
  if (call == nullptr || call->is_own) return;
  // A runtime call and the driver's inside it share an id: the outer one counts.
  if (call->is_told && record.start > call->start) return;
  call->is_told = true;
  update(*call, [&] { call->has_ended = true; });
  call->start = record.start;
  call->duration = record.duration;
  call->thread = record.thread;
  call->result = record.result;
  call->function = record.function;
  call->is_driver = record.is_driver;
  attribute(*call, sink);
  finish_call(*call, sink);
}

void CallAccount::add_external(uint32_t correlation, uint64_t external, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call != nullptr && call->external == 0) call->external = external;
}

std::optional<int64_t> CallAccount::add_own_kernel(uint32_t correlation, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call == nullptr) return std::nullopt;
  const bool is_noted = call->is_own;
  call->is_own = true;
  return is_noted ? std::optional(call->start) : std::nullopt;
}

void CallAccount::append_call_row(const ApiCall& call, RowSink& sink) {
  if (call.outside) return;
  append_call(call_batch_, call, functions_.name_id(call.is_driver, call.function, sink),
              functions_.error_id(call.is_driver, call.result, sink), columns_);
  if (call_batch_.rows() >= kRowsPerBatch) submit_batch(call_batch_, sink);
}

void CallAccount::take_graph_launches(bool all, base::PageVector<GraphRow>& out) {
  graphs_.take_complete(
      all,
      [&](uint32_t id) {
        using Told = OpenGraphLaunches::Told;
        const ApiCall* call = calls_.find(id);
        if (call == nullptr) return Told::Nothing;
        return call->counts_nodes ? Told::Count : call->varies ? Told::Varies : Told::Nothing;
      },
      out);
}

void CallAccount::sweep(RowSink& sink) {
  calls_.sweep([&](const ApiCall& call) { forget(call, sink); });
}

void CallAccount::forget_all(RowSink& sink) {
  calls_.forget_all([&](const ApiCall& call) { forget(call, sink); });
}

// Of a graph's kernels any may be the one that runs.
const std::string& CallAccount::kernel_of(const ApiCall& call) const {
  static const std::string unknown;
  if (call.launches == 0 || call.is_graph_launch) return unknown;
  const auto found = running_kernels_.find(call.id);
  if (found != running_kernels_.end()) return found->second;
  return running_kernels_.emplace(call.id, functions_.kernel_of(call.id)).first->second;
}

void CallAccount::append_pending_row(const ApiCall& call, RowSink& sink) {
  if (call.outside) return;
  const std::string& kernel = kernel_of(call);
  append_pending(pending_batch_, call, functions_.name_id(call.is_driver, call.function, sink),
                 kernel.empty() ? 0 : sink.intern(format::Dict::Name, kernel),
                 device_of(call.context), columns_);
}

void CallAccount::submit_pending(int64_t now_ns, RowSink& sink) {
  round_ns_ = now_ns;
  pending_.take_overdue(now_ns - kOverdueNs, kMaxOverdueRows, overdue_);
  for (const ApiCall& call : overdue_) append_pending_row(call, sink);
  overdue_.clear();
  submit_batch(pending_batch_, sink);
}

void CallAccount::fill_ledger(bool has_notes, format::Ledger& ledger) const {
  ledger.kernel_records = counts_.kernels;
  ledger.graph_kernel_records = counts_.graph_kernels;
  ledger.impossible_times = counts_.impossible_times;
  ledger.kernels_overlapping = overlaps_.count();
  ledger.most_overlap_ns = static_cast<uint64_t>(overlaps_.most_ns());
  const OpenGraphLaunches::Learnt learnt = graphs_.learnt();
  ledger.graph_kernels_missing = counts_.graph_kernels_missing + learnt.kernels_missing;
  if (has_notes) {
    ledger.launches_seen = counts_.launches;
    ledger.graph_launches = counts_.graph_launches;
    ledger.launches_missing = counts_.missing;
    ledger.launches_unfinished = counts_.unfinished;
    ledger.launches_outside_range = counts_.launches_outside;
    ledger.kernels_unclaimed = counts_.unclaimed;
    if (options_.counts()) {
      ledger.launches_counted = counts_.launches - counts_.launches_outside;
      // Hardware counts kernels of graphs as it does others.
      ledger.graph_launches_uncounted = options_.sass ? counts_.graph_launches : 0;
    }
  }
  contexts_.fill_ledger(has_notes, ledger);
  if (counts_.device_launched != 0 && (has_notes || says_device_launched_)) {
    ledger.uncounted.insert("device_side_launches");
  }
  if (learnt.differing != 0 || (has_notes && counts_.silent_graph_launches != 0)) {
    ledger.uncounted.insert("conditional_graph_nodes");
  }
}

PendingList CallAccount::pending(size_t at_most) const {
  PendingList list;
  list.count = waiting_;
  std::vector<ApiCall> calls;
  pending_.list(at_most, calls);
  for (const ApiCall& call : calls) {
    // Looked for where it is of interest: this is asked for many times a second.
    const bool is_overdue = call.start + kOverdueNs <= round_ns_;
    list.oldest.push_back({functions_.name(call.is_driver, call.function), call.start,
                           int64_t{call.thread}, device_of(call.context), int64_t{call.id},
                           call.scope, int64_t{call.stack},
                           is_overdue ? kernel_of(call) : std::string()});
  }
  return list;
}

}  // namespace gpufl::backend
