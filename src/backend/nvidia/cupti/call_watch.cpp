// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/call_watch.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/nvidia/code/module_watch.hpp"
#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/cupti/other_tool.hpp"
#include "backend/nvidia/cupti/record_delivery.hpp"
#include "base/clock.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How long a program that makes calls at all may take to return from one.
constexpr milliseconds kFinalizeWait{20};
// And one that waits for the GPU, before it is left to finalise by itself.
constexpr milliseconds kOpenCallWait{200};
constexpr milliseconds kStopWait{200};
constexpr milliseconds kFinalizePatience{2'000};
constexpr milliseconds kQuietBeforeFinalize{20};
constexpr milliseconds kHeldWait{500};
// For those who have just been let go to leave their callback.
constexpr milliseconds kLeaveWait{2};

// On a thread of its own: the driver's lock may be held by somebody who waits for the tracer's,
// as while CUDA is initialised.
void ask_driver() {
  const base::SignalsBlocked blocked;
  try {
    std::thread([] { (void)is_cuda_initialised(); }).detach();
  } catch (const std::system_error&) {  // it is left to the program's next call
  }
}

}  // namespace

CallWatch& CallWatch::instance() {
  static CallWatch* const watch = new CallWatch;
  return *watch;
}

Availability CallWatch::subscribe(const CuptiApi& api, const CudaDriver& driver,
                                  const TraceOptions& options) {
  if (!end_late_finalize()) {
    return {false, "detach_hangs",
            "CUPTI is being given up in a call of the program that does not return",
            "see the pending calls in the report of the recording before"};
  }
  // Tables of our own, which callbacks that end late can go on using.
  const CuptiApi* known = api_.load();
  if (known == nullptr || known->cuptiFinalize != api.cuptiFinalize) {
    api_ = tables_.emplace_back(std::make_unique<const CuptiApi>(api)).get();
    watched_.look_up(api);  // once for a library: callbacks that end late read it
  }
  session_ = session_ + 1;
  captures_ = 0;
  for (std::atomic<CUstream>& place : capturing_) place = nullptr;
  contexts_.forget();
  launch_gate_.begin_counts();
  external_kinds_ = 0;
  finalize_wanted_ = false;
  finalized_ = false;
  clock_.mark();
  driver_ = &driver;
  stacks_ = options.stacks;
  gate_ = options.gate;
  on_driver_up_ = options.on_driver_up;
  tells_graphs_ = options.graphs;
  takes_code_ = options.code;
  tells_external_ = options.external_correlation && !options.call_records;
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
    if (watched_.driver(id).role != CallRole::None) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
    if (watched_.runtime(id).role != CallRole::None) enable(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  if (takes_code_) enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
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

int64_t CallWatch::last_launch_ns() {
  uint64_t last = 0;
  NoteRings::for_each([&](NoteRing& ring) {
    last = std::max(last, ring.last_launch_ticks.load(std::memory_order_relaxed));
  });
  if (last == 0) return 0;
  clock_.mark();
  return clock_.monotonic_ns(last);
}

void CallWatch::unsubscribe() {
  if (subscriber_ == nullptr) return;
  stop();
  api_.load()->cuptiUnsubscribe(subscriber_);
  subscriber_ = nullptr;
}

bool CallWatch::finalize() {
  if (subscriber_ == nullptr || finalize_between_calls()) return true;
  const CuptiApi& api = *api_.load();
  finalize_wanted_ = true;
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API);
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API);
  wait_for_finalize();
  // A call that began before the subscription is seen by nobody: where none has been seen since,
  // one that lasts may be under way. Then a call of our own returns: a question to the driver.
  if (!finalized_ && !is_in_call() && !has_seen_calls()) {
    ask_driver();
    wait_for_finalize();
  }
  if (!finalized_ && (is_in_call() || !has_seen_calls())) return false;
  if (finalize_wanted_.exchange(false)) {
    finalize_now();
    return true;
  }
  return wait_until_finalized();
}

// A callback has taken it on: it only has to come to its end. False: CUPTI does not.
bool CallWatch::wait_until_finalized() {
  const auto end = Clock::now() + kFinalizePatience;
  while (!finalized_) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  subscriber_ = nullptr;
  return true;
}

// A thread that CUPTI is given up under crashes where that finds it at the entry of a call. The
// return of another thread's call says nothing of it, so threads are parked where their calls
// return. Whoever was not parked has made no call for a while. False: there is only one thread,
// whose return is enough, or one is inside a call for long.
bool CallWatch::finalize_between_calls() {
  if (calling_threads() < 2) return false;
  launch_gate_.park();
  const bool is_between = wait_until_between_calls();
  if (is_between) finalize_now();
  launch_gate_.unpark();
  return is_between;
}

uint32_t CallWatch::calling_threads() const {
  uint32_t threads = 0;
  NoteRings::for_each([&](NoteRing& ring) { threads += ring.session() == session_ ? 1 : 0; });
  return threads;
}

bool CallWatch::wait_until_between_calls() const {
  const auto end = Clock::now() + kOpenCallWait;
  auto last_call = Clock::now();
  uint32_t parked = launch_gate_.parked();
  const auto are_between = [&] {
    // Before threads are counted: one that makes its first call meanwhile, and is parked, must not
    // stand for another that still runs.
    const uint32_t parked_now = launch_gate_.parked();
    if (std::exchange(parked, parked_now) != parked_now) last_call = Clock::now();
    return parked_now == calling_threads() || Clock::now() - last_call >= kQuietBeforeFinalize;
  };
  while (last_call < end && !are_between()) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (is_in_call() || launch_gate_.is_launch_under_way(session_)) last_call = Clock::now();
  }
  return last_call < end && launch_gate_.is_parking();
}

bool CallWatch::wait_until_none_is_held() const {
  if (launch_gate_.waiting() == 0) return true;
  const auto end = Clock::now() + kHeldWait;
  while (launch_gate_.waiting() != 0) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(kLeaveWait);
  return true;
}

void CallWatch::finalize_now() {
  if (subscriber_ == nullptr) return;
  api_.load()->cuptiUnsubscribe(subscriber_);
  RecordDelivery::on_finalize();
  api_.load()->cuptiFinalize();
  subscriber_ = nullptr;
}

void CallWatch::wait_for_finalize() const {
  const auto began = Clock::now();
  const auto waits = [&] {
    const auto waited = Clock::now() - began;
    return waited < kFinalizeWait || (is_in_call() && waited < kOpenCallWait);
  };
  while (!finalized_ && waits()) std::this_thread::sleep_for(milliseconds(1));
}

// What finalize() left to a call: done by now, or taken back.
bool CallWatch::end_late_finalize() {
  if (subscriber_ == nullptr) return true;
  if (!finalize_wanted_.exchange(false)) return wait_until_finalized();
  unsubscribe();
  return true;
}

bool CallWatch::is_in_call() const {
  bool is_in_call = false;
  NoteRings::for_each([&](NoteRing& ring) {
    is_in_call |= ring.state() == NoteRing::State::Claimed &&
                  ring.open_calls.load(std::memory_order_acquire) != 0;
  });
  return is_in_call;
}

bool CallWatch::has_seen_calls() const {
  bool has_seen = false;
  NoteRings::for_each([&](NoteRing& ring) { has_seen |= ring.session() == session_; });
  return has_seen;
}

void CallWatch::discard() {
  NoteRings::start_anew();
  GraphNodeRings::start_anew();
  graph_instances_.take();
}

void CallWatch::gather() {
  NoteRings::for_each([](NoteRing& ring) { ring.mark = ring.published(); });
  GraphNodeRings::for_each([](GraphNodeRing& ring) { ring.mark = ring.published(); });
  clock_.mark();
}

uint64_t CallWatch::portions() const {
  uint64_t most = 1;
  NoteRings::for_each([&](NoteRing& ring) { most = std::max(most, ring.mark - ring.taken()); });
  return (most + kPortion - 1) / kPortion;
}

void CallWatch::set_own_calls(bool are_own) noexcept {
  t_are_own_calls = are_own;
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
    counts.callback_ns +=
        ring.timed_ns.load(std::memory_order_relaxed) * int64_t{InsideRing::kTimedEvery};
  });
  GraphNodeRings::for_each([&](GraphNodeRing& ring) { counts.dropped_notes += ring.dropped(); });
  return counts;
}

void CallWatch::after_fork_in_child() {
  recording_ = 0;
  // What is left to a call of the parent's is done there: nobody here would wait for its end.
  if (finalize_wanted_.exchange(false)) finalized_ = true;
  launch_gate_.after_fork_in_child();
  // Whoever listened, or held the lock, is not there.
  new (&listener_mutex_) std::mutex;
  context_listener_ = nullptr;
  NoteRings::after_fork_in_child();
  NoteRings::for_each([](NoteRing& ring) { ring.open_calls = 0; });
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

void CallWatch::finalize_on_return() {
  if (!finalize_wanted_.load(std::memory_order_relaxed)) return;
  if (!finalize_wanted_.exchange(false)) return;
  RecordDelivery::on_finalize();
  api_.load()->cuptiFinalize();
  finalized_ = true;
}

void CallWatch::set_context_listener(ContextListener* listener) {
  const std::lock_guard lock(listener_mutex_);
  context_listener_ = listener;
}

void CallWatch::on_context(CUpti_CallbackId id, CUcontext context) {
  const std::lock_guard lock(listener_mutex_);
  if (context_listener_ == nullptr) return;
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    context_listener_->on_context_created(context);
  } else {
    context_listener_->on_context_destroyed(context);
  }
}

void CallWatch::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
      id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    on_context(id, resource.context);
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
      contexts_.add(resource.context);
    } else {
      contexts_.remove(resource.context);
    }
  }
  const uint32_t current = session_.load(std::memory_order_relaxed);
  NoteRing* const ring = NoteRings::of_thread(current);
  if (ring == nullptr) return;
  const InsideRing inside(*ring);
  const uint32_t session = recording_.load(std::memory_order_acquire);
  if (session == 0) return;
  ring->begin_session(current);
  CallNote note{};
  note.ticks = now_ticks();
  note.kind = CallNoteKind::DriverInitialised;
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
    case CUPTI_CBID_RESOURCE_MODULE_LOADED: {
      const auto& module =
          *static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
      return ModuleWatch::instance().on_loaded({module.pCubin, module.cubinSize});
    }
    default: return;
  }
}

}  // namespace gpufl::backend
