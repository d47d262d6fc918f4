// SPDX-License-Identifier: Apache-2.0
// The account of calls: what was noted of them, what was recorded, and what is owed.
#include "backend/nvidia/cuda/cuda_errors.hpp"
#include "backend/nvidia/cupti/activity_decoder.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMaxContexts = 4096;
// What waits longer is told while it waits, so that it is in the log of a program that hangs.
constexpr int64_t kOverdueNs = 200'000'000;
constexpr size_t kMaxOverdueRows = 256;
constexpr uint32_t kMaxTopologies = 256;
constexpr size_t kMaxNodes = size_t{1} << 18;

// Others are the driver's, and of every program: loading, compiling, a full queue.
bool is_cupti_overhead(uint32_t kind) {
  constexpr uint32_t kBufferRequest = 7 << 16, kUnifiedMemory = 8 << 16;
  return kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION ||
         kind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE || kind == kBufferRequest ||
         kind == kUnifiedMemory;
}

}  // namespace

uint64_t ActivityCounts::cupti_overhead_ns() const {
  uint64_t sum = 0;
  for (const auto& [kind, ns] : overhead_ns) sum += is_cupti_overhead(kind) ? ns : 0;
  return sum;
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

bool ActivityDecoder::is_own_call(uint32_t correlation) {
  const ApiCall* call = calls_.find(correlation);
  return call != nullptr && call->is_own;
}

void ActivityDecoder::note_own(const CallNote& note, RowSink& sink) {
  ApiCall* own =
      calls_.claim_new(note.correlation, [&](const ApiCall& gone) { settle(gone, sink); });
  if (own == nullptr) return;
  own->is_own = true;
  own->start = note.time_ns - origins_.monotonic_ns;
}

void ActivityDecoder::note_end(const CallNote& note, RowSink& sink) {
  ApiCall* call = calls_.find(note.correlation);
  if (call == nullptr) return;
  update(*call, [&] { call->has_ended = true; });
  if (options_.call_records) return;
  call->is_told = true;
  call->duration = note.time_ns - origins_.monotonic_ns - call->start;
  if (note.context != 0) call->context = note.context;
  note_wait(note, *call);
  tell(*call, sink);
}

void ActivityDecoder::note_wait(const CallNote& note, const ApiCall& call) {
  const uint32_t type = functions_.wait(call.is_driver, call.function);
  if (type == 0 || !options_.synchronization) return;
  waits_.push_back({{call.start, call.duration, kUnknown, call.context, note.stream, call.id, 0},
                    note.event == kNoEventId ? kUnknown : int64_t{note.event},
                    type});
}

void ActivityDecoder::note(const CallNote& note, uint32_t thread, RowSink& sink) {
  if (note.kind == CallNoteKind::OwnCall) return note_own(note, sink);
  if (note.kind == CallNoteKind::CallEnd) return note_end(note, sink);
  if (note.kind == CallNoteKind::External) {
    ApiCall* call = claim(note.correlation, sink);
    if (call != nullptr) call->external = note.external;
    return;
  }
  const bool is_launch = note.kind == CallNoteKind::Launch;
  const bool is_graph_launch = note.kind == CallNoteKind::GraphLaunch;
  const bool is_begin = note.kind == CallNoteKind::CallBegin;
  const bool is_over = is_launch || is_graph_launch || note.kind == CallNoteKind::Call;
  if (!is_begin && !is_over) return;
  if (is_launch) {
    ++counts_.launches;
    ++context(note.context).launches;
  }
  if (is_graph_launch) ++counts_.graph_launches;
  ApiCall* call =
      calls_.claim_new(note.correlation, [&](const ApiCall& gone) { settle(gone, sink); });
  if (call == nullptr) return;
  const bool was_settled = call->is_settled();
  const GraphExecs::Known* exec =
      is_graph_launch ? graph_execs_.find(note.graph, note.time_ns) : nullptr;
  update(*call, [&] {
    if (is_launch) ++call->launches;
    if (exec != nullptr) call->launches += exec->kernels.value_or(0);
    call->is_graph_launch |= is_graph_launch;
    call->counts_nodes |= exec != nullptr && exec->kernels.has_value();
    call->varies |= exec != nullptr && !exec->kernels.has_value();
    call->has_begun |= is_begin;
    call->has_ended |= note.kind == CallNoteKind::Call;
  });
  call->context = note.context;
  if (note.stack != 0) call->stack = static_cast<uint32_t>(sink.stack(note.stack));
  if (!call->is_told) {
    call->start = note.time_ns - origins_.monotonic_ns;
    call->thread = thread;
    call->function = note.function;
    call->is_driver = !note.is_runtime;
  }
  attribute(*call, sink);
  if (is_launch && call->outside) ++counts_.launches_outside;
  if (was_settled && !call->is_settled()) pending_.add(call->id);
  if (!is_over || options_.call_records) return;
  call->is_told = true;
  call->duration = note.duration_ns();
  if (note.kind != CallNoteKind::Call) return;
  call->result = note.result;
  tell(*call, sink);
}

// A call whose end is known. What a row of its own will carry needs no other, unless it failed.
void ActivityDecoder::tell(ApiCall& call, RowSink& sink) {
  const ApiRole role = functions_.role(call.is_driver, call.function);
  const bool has_row = role == ApiRole::Activity || (role == ApiRole::Memory && options_.memory);
  if (has_row && call.result == 0) return;
  add_call(call, sink);
  call.joined = true;
}

void ActivityDecoder::note(const GraphInstance& instance, RowSink& sink) {
  graph_execs_.add(instance);
  if (!instance.topology || topologies_told_ == kMaxTopologies) return;
  ++topologies_told_;
  sink.write(format::Kind::Event, topology_line(instance, origins_.monotonic_ns));
}

void ActivityDecoder::note(const GraphNodeNote& note, RowSink& sink) {
  const uint32_t stack = note.original != 0 ? node_stack(note.original)
                                            : static_cast<uint32_t>(sink.stack(note.stack));
  if (stack == 0) return;
  if (node_stacks_.size() >= kMaxNodes) node_stacks_.clear();
  node_stacks_[note.node] = stack;
}

uint32_t ActivityDecoder::node_stack(uint64_t node) const {
  if (node_stacks_.empty() || node == 0) return 0;
  const auto found = node_stacks_.find(node);
  return found != node_stacks_.end() ? found->second : 0;
}

// `call` is forgotten: what it owes to the log and to the account.
void ActivityDecoder::settle(const ApiCall& call, RowSink& sink) {
  if (call.is_told && !call.joined && !call.is_own) add_call(call, sink);
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
  context(call.context).missing += missing;
  counts_.missing += missing;
}

// Beyond the bound all contexts are one, of no device.
ActivityDecoder::Context& ActivityDecoder::context(uint32_t id) {
  if (last_context_ != nullptr && id == last_context_id_) return *last_context_;
  constexpr uint32_t kOthers = UINT32_MAX;
  const bool is_known = contexts_.size() < kMaxContexts || contexts_.count(id) != 0;
  last_context_ = &contexts_[is_known ? id : kOthers];
  last_context_id_ = id;
  return *last_context_;
}

int64_t ActivityDecoder::device_of(uint32_t context) const {
  const auto found = contexts_.find(context);
  return found != contexts_.end() ? found->second.device : kUnknown;
}

const ApiCall* ActivityDecoder::count_kernel(uint32_t correlation, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call == nullptr) {
    ++counts_.unclaimed;
    if (!says_device_launched_) ++counts_.device_launched;
  } else {
    update(*call, [&] { ++call->kernels; });
  }
  return call;
}

const ApiCall* ActivityDecoder::count_node(uint32_t correlation, bool is_kernel, RowSink& sink) {
  ApiCall* call = claim(correlation, sink);
  if (call == nullptr) return nullptr;
  update(*call, [&] {
    call->has_node = true;
    call->kernels += is_kernel ? 1 : 0;
  });
  return call;
}

void ActivityDecoder::add_call(const ApiCall& call, RowSink& sink) {
  if (call.outside) return;
  const int64_t error =
      call.result == 0
          ? 0
          : sink.intern(format::Dict::Name, cuda_error_name(call.is_driver, call.result));
  append_call(call_batch_, call, functions_.name_id(call.is_driver, call.function, sink), error,
              columns_);
  if (call_batch_.rows() >= kRowsPerBatch) submit_batch(call_batch_, sink);
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

void ActivityDecoder::account(bool has_notes, format::Ledger& ledger) const {
  ledger.kernel_records = counts_.kernels;
  ledger.graph_kernel_records = counts_.graph_kernels;
  ledger.impossible_times = counts_.impossible_times;
  ledger.kernels_overlapping = overlaps_.count();
  ledger.most_overlap_ns = static_cast<uint64_t>(overlaps_.most_ns());
  const GraphLaunches::Learnt learnt = graphs_.learnt();
  ledger.graph_kernels_missing = counts_.graph_kernels_missing + learnt.kernels_missing;
  ledger.cupti_overhead_ns = counts_.cupti_overhead_ns();
  if (has_notes) {
    ledger.launches_seen = counts_.launches;
    ledger.graph_launches = counts_.graph_launches;
    ledger.launches_missing = counts_.missing;
    ledger.launches_unfinished = counts_.unfinished;
    ledger.launches_outside_range = counts_.launches_outside;
    ledger.kernels_unclaimed = counts_.unclaimed;
  }
  for (const auto& [id, context] : contexts_) {
    format::DeviceLedger& device = ledger.by_device[context.device];
    const auto add = [](std::optional<uint64_t>& sum, uint64_t count) {
      sum = sum.value_or(0) + count;
    };
    add(device.kernel_records, context.kernels);
    if (!has_notes) continue;
    add(device.launches, context.launches);
    add(device.launches_missing, context.missing);
  }
  if (counts_.device_launched != 0 && (has_notes || says_device_launched_)) {
    ledger.uncounted.insert("device_side_launches");
  }
  if (learnt.differing != 0 || (has_notes && counts_.silent_graph_launches != 0)) {
    ledger.uncounted.insert("conditional_graph_nodes");
  }
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
