// SPDX-License-Identifier: Apache-2.0
// What callbacks note of calls: of the outermost one, and of what the driver launches inside it.
#include "backend/nvidia/cupti/call_watch.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

// Left with a call when it begins, above the session that was recording then: what was seen of it.
constexpr uint64_t kOutermost = uint64_t{0x6770'7566} << 32;
constexpr uint64_t kInside = uint64_t{0x6770'7567} << 32;  // of another call that was seen
constexpr uint64_t kPassedOver = 0;
constexpr uint64_t kGated = uint64_t{1} << 63;             // beside one of them: the gate counts it
constexpr uint64_t kGatedWithoutRing = uint64_t{1} << 60;  // likewise: its thread had no ring then
constexpr uint64_t kSessionBits = 0xffff'ffff;
// So many launches of a thread, and later one in so many, are asked for external ids of every sort.
constexpr uint32_t kLookEvery = 64;

struct StreamAndEventParams {
  CUstream stream;
  CUevent event;
};

// The stream of a call; false where the function does not say.
bool stream_of(WatchedCall watched, const void* parameters, CUstream& stream) {
  switch (watched.shape) {
    case CallShape::Kernel:
      stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
      break;
    case CallShape::KernelEx:
      stream = static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
      break;
    case CallShape::Cooperative:
      stream = static_cast<const cuLaunchCooperativeKernel_params*>(parameters)->hStream;
      break;
    case CallShape::Graph:
      stream = static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
      break;
    case CallShape::Stream:
    case CallShape::StreamAndEvent: stream = *static_cast<const CUstream*>(parameters); break;
    case CallShape::Event:
    case CallShape::Unknown: return false;
  }
  if (watched.is_per_thread && stream == nullptr) stream = CU_STREAM_PER_THREAD;
  return true;
}

// The stream of calls that begin or end a capture, or destroy it.
CUstream first_parameter(const CUpti_CallbackData& call) {
  return call.functionParams != nullptr ? *static_cast<const CUstream*>(call.functionParams)
                                        : nullptr;
}

// "Not ready" is an answer, not a failure; both APIs have the same number for it.
uint32_t error_of(const CUpti_CallbackData& call) {
  const CUresult result = result_of(call);
  return result == CUDA_ERROR_NOT_READY ? 0 : static_cast<uint32_t>(result);
}

// Handles are addresses: their upper part hardly differs.
uint32_t event_number(CUevent event) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(event) >> 4);
}

bool is_launch(CallRole role) {
  return role == CallRole::Launch || role == CallRole::MultiLaunch || role == CallRole::GraphLaunch;
}

bool is_runtime_launch(CallRole role) {
  return role == CallRole::RuntimeKernel || role == CallRole::RuntimeLaunch;
}

// All that may take locks of the driver's and of CUPTI's, one inside the other: not launches alone,
// but streams that are made, copies, allocations.
bool waits_at_gate(WatchedCall watched) {
  return watched.role != CallRole::None && !watched.only_waits;
}

bool is_told_at_both_ends(CallRole role) {
  return role == CallRole::Begin || role == CallRole::Wait || role == CallRole::StreamWait;
}

bool wants_stack(CallRole role) {
  return is_launch(role) || is_runtime_launch(role) || role == CallRole::Wait ||
         role == CallRole::StreamWait;
}

}  // namespace

void CallWatch::on_call(bool is_runtime, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const uint32_t current = session_.load(std::memory_order_relaxed);
  NoteRing* const ring = NoteRings::of_thread(current);
  if (ring == nullptr) [[unlikely]]
    return on_call_without_ring(is_runtime, id, call);
  if (!is_runtime && ring->is_in_one_kernel(current, call.correlationId)) {
    *call.correlationData = kPassedOver;
    return;
  }
  const WatchedCall watched = is_runtime ? watched_.runtime(id) : watched_.driver(id);
  // Before the ring is entered: whoever ends the notes does not wait for those whom the gate holds.
  const bool is_gated =
      call.callbackSite == CUPTI_API_ENTER && waits_at_gate(watched) && !ring->is_own;
  if (is_gated) launch_gate_.enter(ring->launches_inside, current, watched.makes_graph);
  const bool has_left = on_call_in_ring(*ring, current, is_runtime, id, watched, call, is_gated);
  if (has_left) launch_gate_.pass_exit();
}

// Whether a call has returned that the gate counted, and no other is under way around it.
bool CallWatch::on_call_in_ring(NoteRing& ring, uint32_t current, bool is_runtime,
                                CUpti_CallbackId id, WatchedCall watched,
                                const CUpti_CallbackData& call, bool is_gated) {
  const InsideRing inside(ring);
  const uint32_t session = recording_.load(std::memory_order_acquire);
  if (ring.session() != current) [[unlikely]]
    ring.begin_session(current);
  if (call.callbackSite == CUPTI_API_ENTER) {
    ring.begin_call();
    *call.correlationData = kOutermost | session | (is_gated ? kGated : 0);
    if (session != 0) on_enter(ring, is_runtime, id, watched.role, call);
    return false;
  }
  const uint64_t seen = *call.correlationData;
  const uint64_t how = seen & ~kSessionBits & ~kGated & ~kGatedWithoutRing;
  const bool was_seen = how == kOutermost || how == kInside;
  if (was_seen && (seen & kGatedWithoutRing) != 0) [[unlikely]]
    launch_gate_.leave_without_ring();
  const bool was_gated = was_seen && (seen & kGated) != 0;
  const bool has_left = was_gated && launch_gate_.leave(ring.launches_inside, watched.makes_graph);
  if (was_seen) ring.end_call();
  if (session == 0) [[unlikely]] {
    // Captures and graphs matter also while nothing is noted: by the driver's calls, which both
    // APIs make.
    if (!is_runtime) on_capture(watched.role, call);
    if (watched.role == CallRole::GraphLaunch) see_graph(call);
    finalize_on_return();
  } else if (was_seen && (seen & kSessionBits) == session && !ring.is_own) [[likely]] {
    on_return(ring, watched, call, how == kOutermost);
  }
  return has_left;
}

void CallWatch::on_call_without_ring(bool is_runtime, CUpti_CallbackId id,
                                     const CUpti_CallbackData& call) {
  const uint32_t session = recording_.load(std::memory_order_acquire);
  const WatchedCall watched = is_runtime ? watched_.runtime(id) : watched_.driver(id);
  if (call.callbackSite == CUPTI_API_ENTER) {
    const bool is_gated = waits_at_gate(watched) && !t_are_own_calls;
    if (is_gated) launch_gate_.enter_without_ring();
    *call.correlationData = kOutermost | session | (is_gated ? kGatedWithoutRing : 0);
    return;
  }
  const uint64_t seen = *call.correlationData & ~kGatedWithoutRing;
  const bool was_gated = seen != *call.correlationData;
  if (was_gated && (seen & ~kSessionBits) == kOutermost) launch_gate_.leave_without_ring();
  if (session != 0 && seen == (kOutermost | session)) {
    on_return_without_ring(is_runtime ? WatchedCall{} : watched, call);
  }
}

void CallWatch::on_enter(NoteRing& ring, bool is_runtime, CUpti_CallbackId id, CallRole role,
                         const CUpti_CallbackData& call) {
  OpenCall* open = ring.find_open(call.correlationId);
  const bool is_outermost = open == nullptr;
  if (is_outermost) {
    open = &ring.push_open();
    open->note.ticks = now_ticks();
    open->note.correlation = call.correlationId;
    open->note.context = call.contextUid;
    open->note.function = static_cast<uint16_t>(id);
    open->note.is_runtime = is_runtime;
    open->role = role;
    open->is_one_kernel =
        role == CallRole::RuntimeKernel && captures_.load(std::memory_order_relaxed) == 0;
    if (ring.is_own) [[unlikely]]
      return note_own_call(ring, *open);
  } else {
    *call.correlationData ^= kOutermost ^ kInside;
  }
  if (stacks_ != nullptr && wants_stack(role) && open->note.stack == 0) {
    open->note.stack = stacks_->record();
  }
  if (role == CallRole::GraphInstantiate) [[unlikely]] {
    graphs_seen_.store(true, std::memory_order_relaxed);
    ring.is_instantiating = tells_graphs_;
    ring.cloned_nodes.clear();
  }
  if (is_outermost && role != CallRole::RuntimeKernel) on_outermost(ring, *open);
}

void CallWatch::note_own_call(NoteRing& ring, OpenCall& open) {
  open.note.kind = CallNoteKind::OwnCall;
  ring.push(open.note);
  ring.pop_open(&open);
}

void CallWatch::on_outermost(NoteRing& ring, OpenCall& open) {
  if (open.role == CallRole::ProfilerStart) on_profiler(ring, open.note, true);
  if (open.role == CallRole::ProfilerStop) on_profiler(ring, open.note, false);
  if (!is_told_at_both_ends(open.role)) return;
  open.note.kind = CallNoteKind::CallBegin;
  ring.push(open.note);
}

void CallWatch::on_return(NoteRing& ring, WatchedCall watched, const CUpti_CallbackData& call,
                          bool is_outermost) {
  OpenCall* const open = ring.find_open(call.correlationId);
  // Taken for one that would never return.
  if (open == nullptr) [[unlikely]]
    return on_return_without_ring(watched, call);
  // The first call of a program finds no context when it begins.
  if (call.contextUid != 0) open->note.context = call.contextUid;
  if (watched.role == CallRole::GraphInstantiate) on_instantiated(ring, call);
  if (watched.role == CallRole::GraphChange) on_graph_changed(call);
  const uint32_t kernels =
      open->is_one_kernel ? (is_outermost && !has_failed(call) ? 1 : 0) : launched(watched, call);
  if (kernels != 0) {
    ring.last_launch_ticks.store(open->note.ticks, std::memory_order_relaxed);
    open->launched += kernels;
    if (watched.role == CallRole::GraphLaunch) {
      const auto& parameters = *static_cast<const cuGraphLaunch_params*>(call.functionParams);
      see_graph(call);
      open->note.kind = CallNoteKind::GraphLaunch;
      open->note.graph = graph_exec_key(parameters.hGraph);
    } else {
      open->note.kind = CallNoteKind::Launch;
      ring.symbols.add(call.correlationId, call.symbolName);
    }
  }
  if (!is_outermost) return;
  on_capture(watched.role, call);
  close(ring, *open, watched, call);
  ring.pop_open(open);
}

// What is noted of a call that is over.
void CallWatch::close(NoteRing& ring, OpenCall& open, WatchedCall watched,
                      const CUpti_CallbackData& call) {
  const uint32_t error = error_of(call);
  const bool is_told_at_end = is_told_at_both_ends(open.role) && error == 0;
  if (is_told_at_end) ring.push(end_note(open, watched, call));
  const bool is_told =
      open.launched != 0 || is_runtime_launch(open.role) || is_launch(open.role) || error != 0;
  if (!is_told) return;
  if (tells_external_ && open.launched != 0) note_external(ring, open.note.correlation);
  open.note.set_duration(static_cast<int64_t>(now_ticks() - open.note.ticks));
  for (uint32_t i = 0; i < open.launched; ++i) ring.push(open.note);
  if (open.launched != 0 && error == 0) return;
  if (open.note.stack == 0) open.note.stack = record_stack();
  open.note.kind = CallNoteKind::Call;
  open.note.result = error;
  ring.push(open.note);
}

// CUPTI tells these ids in records that come with those of calls only, which cost far more. The
// thread's own stacks of them can be looked at by taking the last one off and putting it back, at
// 0.2 us for each sort of id: those sorts alone that are in use, which is found out now and then.
void CallWatch::note_external(NoteRing& ring, uint32_t correlation) {
  const uint32_t number = ring.launches++;
  const bool looks_at_all = number < kLookEvery || number % kLookEvery == 0;
  const uint32_t kinds =
      looks_at_all ? UINT32_MAX : external_kinds_.load(std::memory_order_relaxed);
  if (kinds != 0) look_for_external(ring, correlation, kinds);
}

void CallWatch::look_for_external(NoteRing& ring, uint32_t correlation, uint32_t kinds) {
  const CuptiApi& api = *api_.load();
  for (uint32_t kind = CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN;
       kind <= CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2; ++kind) {
    if ((kinds >> kind & 1) == 0) continue;
    const auto which = static_cast<CUpti_ExternalCorrelationKind>(kind);
    uint64_t id = 0;
    if (api.cuptiActivityPopExternalCorrelationId(which, &id) != CUPTI_SUCCESS) continue;
    api.cuptiActivityPushExternalCorrelationId(which, id);
    external_kinds_.fetch_or(uint32_t{1} << kind, std::memory_order_relaxed);
    CallNote note;
    note.external = id;
    note.correlation = correlation;
    note.kind = CallNoteKind::External;
    return ring.push(note);
  }
}

CallNote CallWatch::end_note(const OpenCall& open, WatchedCall watched,
                             const CUpti_CallbackData& call) const {
  CallNote note = open.note;
  note.kind = CallNoteKind::CallEnd;
  note.ticks = now_ticks();
  note.stream = kNoStreamId;
  note.event = kNoEventId;
  CUstream stream = nullptr;
  if (stream_of(watched, call.functionParams, stream)) {
    const uint8_t is_per_thread = watched.is_per_thread ? 1 : 0;
    api_.load()->cuptiGetStreamIdEx(call.context, stream, is_per_thread, &note.stream);
  }
  if (watched.shape == CallShape::Event) {
    note.event = event_number(*static_cast<const CUevent*>(call.functionParams));
  } else if (watched.shape == CallShape::StreamAndEvent) {
    note.event = event_number(static_cast<const StreamAndEventParams*>(call.functionParams)->event);
  }
  return note;
}

void CallWatch::on_return_without_ring(WatchedCall watched, const CUpti_CallbackData& call) {
  const uint32_t kernels = launched(watched, call);
  if (kernels == 0) return;
  ringless_.fetch_add(kernels, std::memory_order_relaxed);
  auto& launches =
      watched.role == CallRole::GraphLaunch ? ringless_graph_launches_ : ringless_launches_;
  launches.fetch_add(kernels, std::memory_order_relaxed);
}

// How many kernels, or graphs, a call that returns has launched.
uint32_t CallWatch::launched(WatchedCall watched, const CUpti_CallbackData& call) {
  if (!is_launch(watched.role)) return 0;
  if (has_failed(call)) return 0;
  switch (watched.role) {
    case CallRole::Launch:
    case CallRole::GraphLaunch:
      return captures_.load(std::memory_order_relaxed) != 0 && is_captured(watched, call) ? 0 : 1;
    case CallRole::MultiLaunch:
      return static_cast<const cuLaunchCooperativeKernelMultiDevice_params*>(call.functionParams)
          ->numDevices;
    default: return 1;
  }
}

// Asks the driver: only while some stream captures. In doubt the launch is not noted: a launch too
// few hides nothing that a record would have shown, one too many cries wolf.
bool CallWatch::is_captured(WatchedCall watched, const CUpti_CallbackData& call) {
  CUstream stream = nullptr;
  if (!stream_of(watched, call.functionParams, stream)) return is_capturing();
  const bool is_captured = driver_->is_capturing(stream).value_or(is_capturing());
  uint32_t nobody_saw_it_begin = kMayCapture;
  if (is_captured && captures_.compare_exchange_strong(nobody_saw_it_begin, kMayCapture + 1)) {
    remember_capture(stream);
  }
  return is_captured;
}

void CallWatch::begin_capture(const CUpti_CallbackData& call) {
  graphs_seen_.store(true, std::memory_order_relaxed);
  if (has_failed(call)) return;
  captures_.fetch_add(1, std::memory_order_relaxed);
  remember_capture(first_parameter(call));
}

void CallWatch::remember_capture(CUstream stream) {
  for (std::atomic<CUstream>& place : capturing_) {
    CUstream none = nullptr;
    if (place.compare_exchange_strong(none, stream)) return;
  }
}

void CallWatch::end_capture(const CUpti_CallbackData& call) {
  // A capture that went wrong ends with an error, but for those that say that none has ended; one
  // that began before us was never counted.
  const CUresult result = result_of(call);
  if (result == CUDA_ERROR_ILLEGAL_STATE || result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return;
  (void)forget_capture(call);
  uncount_capture();
}

// A capture ends with its stream as well.
void CallWatch::destroy_stream(const CUpti_CallbackData& call) {
  if (!has_failed(call) && forget_capture(call)) uncount_capture();
}

bool CallWatch::forget_capture(const CUpti_CallbackData& call) {
  CUstream const stream = first_parameter(call);
  if (stream == nullptr) return false;
  return std::any_of(capturing_.begin(), capturing_.end(), [&](std::atomic<CUstream>& place) {
    CUstream found = stream;
    return place.compare_exchange_strong(found, nullptr);
  });
}

void CallWatch::uncount_capture() {
  uint32_t captures = captures_.load(std::memory_order_relaxed);
  while ((captures & ~kMayCapture) != 0 &&
         !captures_.compare_exchange_weak(captures, captures - 1)) {
  }
}

void CallWatch::on_profiler(NoteRing& ring, CallNote note, bool starts) {
  note.kind = starts ? CallNoteKind::ProfilerStart : CallNoteKind::ProfilerStop;
  ring.push(note);
  if (gate_ == nullptr) return;
  const int64_t now_ns = base::monotonic_ns();
  if (starts) {
    gate_->on_profiler_start(now_ns);
  } else {
    gate_->on_profiler_stop(now_ns);
  }
}

}  // namespace gpufl::backend
