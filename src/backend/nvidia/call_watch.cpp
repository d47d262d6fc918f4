// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/call_watch.hpp"

#include <chrono>
#include <thread>

#include "backend/nvidia/cuda_start.hpp"
#include "backend/nvidia/other_tool.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How long a program that makes calls at all may take to return from one.
constexpr milliseconds kFinalizeWait{20};
// And one that waits for the GPU, before it is left to finalise by itself.
constexpr milliseconds kOpenCallWait{200};
constexpr milliseconds kStopWait{200};
// Left with a call when it begins, above the session that was recording then.
constexpr uint64_t kSeenAtEntry = uint64_t{0x6770'7566} << 32;
constexpr uint64_t kSessionBits = 0xffff'ffff;
// One callback in so many is timed.
constexpr uint64_t kTimedEvery = 64;

// The stream of a launch; false where the function does not say.
bool launch_stream(const WatchedCall& watched, const void* parameters, CUstream& stream) {
  switch (watched.shape) {
    case LaunchShape::Kernel:
      stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
      break;
    case LaunchShape::KernelEx:
      stream = static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
      break;
    case LaunchShape::Cooperative:
      stream = static_cast<const cuLaunchCooperativeKernel_params*>(parameters)->hStream;
      break;
    case LaunchShape::Graph:
      stream = static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
      break;
    case LaunchShape::Unknown: return false;
  }
  if (watched.is_per_thread && stream == nullptr) stream = CU_STREAM_PER_THREAD;
  return true;
}

bool is_launch(CallRole role) {
  return role == CallRole::Launch || role == CallRole::MultiLaunch || role == CallRole::GraphLaunch;
}

// A callback's stay in its thread's ring, timed now and then.
class Inside {
 public:
  explicit Inside(NoteRing& ring) : ring_(ring) {
    ring.enter();
    if (ring.callbacks++ % kTimedEvery == 0) began_ns_ = base::monotonic_ns();
  }
  ~Inside() {
    if (began_ns_ != 0) ring_.add_timed(base::monotonic_ns() - began_ns_);
    ring_.leave();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  NoteRing& ring_;
  int64_t began_ns_ = 0;
};

}  // namespace

CallWatch& CallWatch::instance() {
  static CallWatch* const watch = new CallWatch;
  return *watch;
}

Availability CallWatch::subscribe(const CuptiApi& api, const CudaDriver& driver,
                                  const TraceOptions& options) {
  end_late_finalize();
  // A table of our own, which callbacks that end late can go on using.
  const CuptiApi* known = api_.load();
  if (known == nullptr || known->cuptiFinalize != api.cuptiFinalize) api_ = new CuptiApi(api);
  session_ = session_ + 1;
  captures_ = 0;
  finalize_wanted_ = false;
  finalized_ = false;
  driver_ = &driver;
  stacks_ = options.stacks;
  gate_ = options.gate;
  on_driver_up_ = options.on_driver_up;
  counts_launches_ = options.launch_count;
  tells_graphs_ = options.graphs;
  watched_.look_up(api);
  CUptiResult code = api.cuptiSubscribe(&subscriber_, on_callback, this);
  if (code != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    Availability why = cupti_failure(api, code, "cuptiSubscribe(&subscriber, on_callback, this)");
    if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
      const std::string other = other_subscriber(api);
      if (!other.empty()) why.detail += "; held by " + other;
    }
    return why;
  }
  code = enable_callbacks(api);
  if (code == CUPTI_SUCCESS) return {true, "", "", ""};
  unsubscribe();
  return cupti_failure(api, code, "cuptiEnableCallback(1, subscriber, domain, id)");
}

CUptiResult CallWatch::enable_callbacks(const CuptiApi& api) {
  CUptiResult result = CUPTI_SUCCESS;
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (result != CUPTI_SUCCESS) return;
    const CUptiResult code = api.cuptiEnableCallback(1, subscriber_, domain, id);
    // A version that knows a function by name alone has no calls of it either.
    if (code != CUPTI_ERROR_INVALID_PARAMETER) result = code;
  };
  for (CUpti_CallbackId id = 1; id < WatchedCalls::kMaxFunctions; ++id) {
    const CallRole role = watched_.driver(id).role;
    const bool is_wanted = is_launch(role) ? watches_launches() : role != CallRole::None;
    if (is_wanted) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (watched_.runtime(id).role != CallRole::None) enable(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  if (stacks_ != nullptr) {
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  }
  if (stacks_ != nullptr || tells_graphs_) {
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  }
  return result;
}

std::string CallWatch::other_subscriber(const CuptiApi& api) const {
  if (api.cuptiSubscribe_v2 != nullptr) {
    char name[128] = "";
    CuptiSubscriberParams parameters{sizeof parameters, "gpufl", name, sizeof name};
    CUpti_SubscriberHandle subscriber = nullptr;
    if (api.cuptiSubscribe_v2(&subscriber, on_callback, nullptr, &parameters) == CUPTI_SUCCESS) {
      api.cuptiUnsubscribe(subscriber);  // it has just gone, too late for us
      return "";
    }
    name[sizeof name - 1] = '\0';
    if (*name != '\0') return name;
  }
  return other_tool_here(own_library_path());
}

void CallWatch::stop() {
  recording_.store(0, std::memory_order_seq_cst);
  const auto end = Clock::now() + kStopWait;
  while (!NoteRings::wait_until_outside() && Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

int64_t CallWatch::last_launch_ns() const {
  int64_t last_ns = 0;
  NoteRings::for_each([&](NoteRing& ring) {
    last_ns = std::max(last_ns, ring.last_launch_ns.load(std::memory_order_relaxed));
  });
  return last_ns;
}

void CallWatch::await_launch() {
  if (subscriber_ == nullptr || watches_launches()) return;
  const int64_t before_ns = base::monotonic_ns();
  for (CUpti_CallbackId id = 1; id < WatchedCalls::kMaxFunctions; ++id) {
    if (!is_launch(watched_.driver(id).role)) continue;
    api_.load()->cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  const auto end = Clock::now() + kFinalizeWait;
  while (last_launch_ns() < before_ns && Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void CallWatch::unsubscribe() {
  if (subscriber_ == nullptr) return;
  stop();
  api_.load()->cuptiUnsubscribe(subscriber_);
  subscriber_ = nullptr;
}

bool CallWatch::finalize() {
  if (subscriber_ == nullptr) return true;
  const CuptiApi& api = *api_.load();
  finalize_wanted_ = true;
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API);
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API);
  const auto began = Clock::now();
  const auto waits = [&] {
    const auto waited = Clock::now() - began;
    return waited < kFinalizeWait || (open_calls() != 0 && waited < kOpenCallWait);
  };
  while (!finalized_ && waits()) std::this_thread::sleep_for(milliseconds(1));
  if (!finalized_ && open_calls() != 0) return false;
  if (finalize_wanted_.exchange(false)) {
    api.cuptiUnsubscribe(subscriber_);
    api.cuptiFinalize();
  } else {
    // A callback has taken it on: it only has to come to its end.
    while (!finalized_) std::this_thread::yield();
  }
  subscriber_ = nullptr;
  return true;
}

// What finalize() left to a call: done by now, or taken back.
void CallWatch::end_late_finalize() {
  if (subscriber_ == nullptr) return;
  if (finalize_wanted_.exchange(false)) {
    unsubscribe();
  } else {
    while (!finalized_) std::this_thread::yield();
    subscriber_ = nullptr;
  }
}

uint32_t CallWatch::open_calls() const {
  uint32_t open = 0;
  const uint32_t session = session_;
  NoteRings::for_each([&](NoteRing& ring) {
    const bool is_there = ring.state() == NoteRing::State::Claimed && ring.session() == session;
    if (is_there) open += ring.open_calls.load(std::memory_order_acquire);
  });
  return open;
}

void CallWatch::discard() {
  NoteRings::start_anew();
  GraphNodeRings::start_anew();
  graph_instances_.take();
}

void CallWatch::gather() {
  NoteRings::for_each([](NoteRing& ring) { ring.mark = ring.published(); });
  GraphNodeRings::for_each([](GraphNodeRing& ring) { ring.mark = ring.published(); });
}

void CallWatch::set_own_calls(bool are_own) noexcept {
  if (recording_.load(std::memory_order_relaxed) == 0 && are_own) return;
  const uint32_t session = session_.load(std::memory_order_relaxed);
  if (session == 0) return;
  if (NoteRing* const ring = NoteRings::of_thread(session)) ring->is_own = are_own;
}

CallWatch::Counts CallWatch::counts() const {
  Counts counts;
  counts.dropped_notes = ringless_.load(std::memory_order_relaxed);
  counts.dropped_launches = ringless_launches_.load(std::memory_order_relaxed);
  counts.dropped_graph_launches = ringless_graph_launches_.load(std::memory_order_relaxed);
  NoteRings::for_each([&](NoteRing& ring) {
    counts.dropped_notes += ring.dropped();
    counts.dropped_launches += ring.dropped_launches.load(std::memory_order_relaxed);
    counts.dropped_graph_launches += ring.dropped_graph_launches.load(std::memory_order_relaxed);
    counts.callback_ns += ring.timed_ns.load(std::memory_order_relaxed) * int64_t{kTimedEvery};
  });
  GraphNodeRings::for_each([&](GraphNodeRing& ring) { counts.dropped_notes += ring.dropped(); });
  return counts;
}

void CallWatch::after_fork_in_child() {
  recording_ = 0;
  finalize_wanted_ = false;
  NoteRings::after_fork_in_child();
  GraphNodeRings::after_fork_in_child();
}

void CUPTIAPI CallWatch::on_callback(void* watch, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                     const void* data) {
  if (watch == nullptr) return;
  auto& self = *static_cast<CallWatch*>(watch);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    self.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  } else {
    self.on_call(domain == CUPTI_CB_DOMAIN_RUNTIME_API, id,
                 *static_cast<const CUpti_CallbackData*>(data));
  }
}

void CallWatch::on_call(bool is_runtime, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const uint32_t current = session_.load(std::memory_order_relaxed);
  NoteRing* const ring = NoteRings::of_thread(current);
  if (ring == nullptr) {
    const uint32_t session = recording_.load(std::memory_order_acquire);
    if (call.callbackSite == CUPTI_API_ENTER) {
      *call.correlationData = kSeenAtEntry | session;
    } else if (session != 0 && *call.correlationData == (kSeenAtEntry | session)) {
      on_return_without_ring(is_runtime ? WatchedCall{} : watched_.driver(id), call);
    }
    return;
  }
  const Inside inside(*ring);
  const uint32_t session = recording_.load(std::memory_order_acquire);
  ring->begin_session(current);
  const auto watched = [&] { return is_runtime ? watched_.runtime(id) : watched_.driver(id); };
  if (call.callbackSite == CUPTI_API_ENTER) {
    ring->begin_call();
    *call.correlationData = kSeenAtEntry | session;
    if (session == 0) return;
    on_begin(*ring, watched(),
             {base::monotonic_ns(), call.correlationId, call.contextUid,
              static_cast<uint32_t>(ring->thread_id()), 0, 0, static_cast<uint16_t>(id),
              CallNoteKind::CallBegin, is_runtime});
    return;
  }
  const uint64_t seen = *call.correlationData;
  if ((seen & ~kSessionBits) == kSeenAtEntry) ring->end_call();
  if (session == 0) return finalize_on_return();
  if (seen == (kSeenAtEntry | session)) on_return(*ring, watched(), call);
}

void CallWatch::finalize_on_return() {
  if (!finalize_wanted_.load(std::memory_order_relaxed)) return;
  if (!finalize_wanted_.exchange(false)) return;
  api_.load()->cuptiFinalize();
  finalized_ = true;
}

void CallWatch::on_begin(NoteRing& ring, const WatchedCall& watched, CallNote note) {
  if (ring.is_own) {
    note.kind = CallNoteKind::OwnCall;
    return ring.push(note);
  }
  switch (watched.role) {
    case CallRole::Launch:
    case CallRole::MultiLaunch:
    case CallRole::GraphLaunch:
      note.stack = record_stack();
      if (!counts_launches_ && note.stack != 0) ring.push(note);
      note.kind =
          watched.role == CallRole::GraphLaunch ? CallNoteKind::GraphLaunch : CallNoteKind::Launch;
      ring.launch = note;
      return;
    case CallRole::Wait:
    case CallRole::Begin:
      if (note.correlation == ring.last_begin) return;
      ring.last_begin = note.correlation;
      if (watched.role == CallRole::Wait) note.stack = record_stack();
      return ring.push(note);
    case CallRole::GraphInstantiate:
      ring.is_instantiating = tells_graphs_;
      ring.cloned_nodes.clear();
      return;
    case CallRole::ProfilerStart: return on_profiler(ring, note, true);
    case CallRole::ProfilerStop: return on_profiler(ring, note, false);
    default: return;
  }
}

void CallWatch::on_return(NoteRing& ring, const WatchedCall& watched,
                          const CUpti_CallbackData& call) {
  if (ring.is_own) return;
  if (watched.role == CallRole::CaptureBegin) return on_capture(ring, call, true);
  if (watched.role == CallRole::CaptureEnd) return on_capture(ring, call, false);
  if (watched.role == CallRole::Wait || watched.role == CallRole::Begin) {
    if (call.correlationId == ring.last_begin) note_end(ring, call);
    return;
  }
  if (watched.role == CallRole::GraphInstantiate) return on_instantiated(ring, call);
  if (watched.role == CallRole::GraphChange) return on_graph_changed(call);
  if (ring.launch.correlation != call.correlationId) return;
  const uint32_t kernels = launched(watched, call);
  if (kernels != 0) ring.last_launch_ns.store(ring.launch.time_ns, std::memory_order_relaxed);
  if (watched.role == CallRole::GraphLaunch) {
    const auto& parameters = *static_cast<const cuGraphLaunch_params*>(call.functionParams);
    ring.launch.graph = graph_exec_key(parameters.hGraph);
  }
  for (uint32_t i = 0; counts_launches_ && i < kernels; ++i) ring.push(ring.launch);
  ring.launch.correlation = 0;
}

// Its record may be long in coming: CUPTI keeps a buffer back while a kernel in it runs.
void CallWatch::note_end(NoteRing& ring, const CUpti_CallbackData& call) {
  ring.push({base::monotonic_ns(), call.correlationId, call.contextUid,
             static_cast<uint32_t>(ring.thread_id()), 0, 0, 0, CallNoteKind::CallEnd});
}

void CallWatch::on_return_without_ring(const WatchedCall& watched, const CUpti_CallbackData& call) {
  const uint32_t kernels = counts_launches_ ? launched(watched, call) : 0;
  if (kernels == 0) return;
  ringless_.fetch_add(kernels, std::memory_order_relaxed);
  auto& launches =
      watched.role == CallRole::GraphLaunch ? ringless_graph_launches_ : ringless_launches_;
  launches.fetch_add(kernels, std::memory_order_relaxed);
}

// How many kernels, or graphs, a call that returns has launched.
uint32_t CallWatch::launched(const WatchedCall& watched, const CUpti_CallbackData& call) const {
  if (!is_launch(watched.role)) return 0;
  if (has_failed(call)) return 0;
  switch (watched.role) {
    case CallRole::Launch:
    case CallRole::GraphLaunch: return is_captured(watched, call) ? 0 : 1;
    case CallRole::MultiLaunch:
      return static_cast<const cuLaunchCooperativeKernelMultiDevice_params*>(call.functionParams)
          ->numDevices;
    default: return 1;
  }
}

// Asks the driver only while some stream captures. In doubt the launch is not noted: a launch too
// few hides nothing that a record would have shown, one too many cries wolf.
bool CallWatch::is_captured(const WatchedCall& watched, const CUpti_CallbackData& call) const {
  if (captures_.load(std::memory_order_relaxed) == 0) return false;
  CUstream stream = nullptr;
  if (!launch_stream(watched, call.functionParams, stream)) return true;
  return driver_->is_capturing(stream).value_or(true);
}

void CallWatch::on_capture(NoteRing& ring, const CUpti_CallbackData& call, bool begins) {
  if (ring.last_capture == call.correlationId) return;
  ring.last_capture = call.correlationId;
  if (begins) {
    if (!has_failed(call)) captures_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // A capture that went wrong ends with an error; one that began before us was never counted.
  uint32_t captures = captures_.load(std::memory_order_relaxed);
  while (captures != 0 && !captures_.compare_exchange_weak(captures, captures - 1)) {
  }
}

void CallWatch::on_profiler(NoteRing& ring, CallNote note, bool starts) {
  if (ring.last_profiler == note.correlation) return;
  ring.last_profiler = note.correlation;
  note.kind = starts ? CallNoteKind::ProfilerStart : CallNoteKind::ProfilerStop;
  ring.push(note);
  if (gate_ == nullptr) return;
  if (starts) {
    gate_->on_profiler_start(note.time_ns);
  } else {
    gate_->on_profiler_stop(note.time_ns);
  }
}

void CallWatch::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  const uint32_t current = session_.load(std::memory_order_relaxed);
  NoteRing* const ring = NoteRings::of_thread(current);
  if (ring == nullptr) return;
  const Inside inside(*ring);
  const uint32_t session = recording_.load(std::memory_order_acquire);
  if (session == 0) return;
  ring->begin_session(current);
  CallNote note{};
  note.time_ns = base::monotonic_ns();
  note.thread = static_cast<uint32_t>(ring->thread_id());
  note.kind = CallNoteKind::CudaInitialised;
  switch (id) {
    case CUPTI_CBID_RESOURCE_CU_INIT_FINISHED: ring->push(note); [[fallthrough]];
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      if (on_driver_up_ != nullptr) on_driver_up_();
      return;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      note.kind = CallNoteKind::ContextDestroyed;
      api_.load()->cuptiGetContextId(resource.context, &note.context);
      // What the context holds goes with it.
      api_.load()->cuptiActivityFlushAll(0);
      return ring->push(note);
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return note_graph_node(id, *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor),
                             session);
    default: return;
  }
}

}  // namespace gpufl::backend
