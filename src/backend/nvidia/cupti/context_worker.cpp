// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/context_worker.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr microseconds kAttachPatience{50'000};
constexpr milliseconds kRetryEvery{2};
constexpr milliseconds kLongestRetry{200};
constexpr milliseconds kAttachRetry{200};  // launches have waited for as long as the patience was
// Of a program that destroys a context in which we work; a reading of the GPU's clock is shorter.
constexpr milliseconds kOccupiedPatience{50};
constexpr int kAttachTries = 10;
constexpr int64_t kLaunchPatience_ns = 2'000'000'000;
// The gate stays shut for longer than a call may take, so that whoever watches the call opens it.
constexpr int64_t kGateMargin_ns = 500'000'000;

// Calls of CUPTI's that hang in this process: while there are any it is not asked again.
std::atomic<int> g_hanging{0};

}  // namespace

ContextWorker::ContextWorker(const EnginePlace& place)
    : api_(place.api),
      driver_(place.driver),
      contexts_of_(place.driver.contexts()),
      gate_(place.gate),
      devices_(place.devices),
      session_start_ns_(place.session_start_ns),
      gate_session_(place.gate_session) {}

bool ContextWorker::does_any_hang() { return g_hanging != 0; }

// What CUPTI may write to for as long as the process lives.
void ContextWorker::keep_for_good(std::unique_ptr<AttachedContext> attached) noexcept {
  static std::mutex mutex;
  static AttachedContext* kept = nullptr;
  const std::lock_guard lock(mutex);
  attached->kept_before_ = std::exchange(kept, attached.get());
  attached.release();
}

Availability ContextWorker::out_of_memory() const noexcept {
  Availability why{false, "out_of_memory", "", ""};
  try {
    why.detail = std::string("there was no memory for ") + name();
  } catch (const std::bad_alloc&) {  // the reason says it
  }
  return why;
}

Availability ContextWorker::make(const char* call, const std::function<Availability()>& made_by) {
  {
    const std::lock_guard lock(mutex_);
    if (has_hung_) return {false, state_, "", ""};
    call_ = call;
    call_began_ns_ = base::monotonic_ns();
  }
  gate_.renew(patience_ns() + kGateMargin_ns);
  Availability made;
  try {
    const BesideCaptures beside_captures(driver_.exchange_capture_mode());
    made = made_by();
  } catch (const std::bad_alloc&) {
    made = out_of_memory();
  }
  const std::lock_guard lock(mutex_);
  call_ = nullptr;
  if (has_hung_) --g_hanging;  // after all it has come back
  if (has_failed_ && made.available) return {false, state_, "", ""};
  return made;
}

bool ContextWorker::make_or_fail(const char* call, const std::function<Availability()>& made_by) {
  Availability made = make(call, made_by);
  if (!made.available) fail(std::move(made));
  return !is_over_for_good();
}

void ContextWorker::fail_locked(Availability why) noexcept {
  if (std::exchange(has_failed_, true)) return;
  try {
    state_ = why.reason;
    failures_.push_back({std::move(why), true});
  } catch (const std::bad_alloc&) {  // it has failed, and nobody is told
  }
}

void ContextWorker::fail(Availability why) noexcept {
  const std::lock_guard lock(mutex_);
  fail_locked(std::move(why));
}

bool ContextWorker::is_over() const {
  const std::lock_guard lock(mutex_);
  return has_failed_ || end_wanted_;
}

bool ContextWorker::is_over_for_good() const {
  const std::lock_guard lock(mutex_);
  return has_failed_;
}

bool ContextWorker::is_left_on() const {
  const std::lock_guard lock(mutex_);
  return has_hung_ || is_left_on_;
}

bool ContextWorker::knows(uint32_t context) const {
  const std::lock_guard lock(mutex_);
  return has_failed_ || end_wanted_ || has_given_up_any_ || known_.contains(context);
}

void ContextWorker::tell_lacking(Availability why) {
  const std::lock_guard lock(mutex_);
  failures_.push_back({std::move(why), false});
}

void ContextWorker::leave_on() {
  const std::lock_guard lock(mutex_);
  is_left_on_ = true;
}

bool ContextWorker::has_hung() const {
  const std::lock_guard lock(mutex_);
  return has_hung_;
}

// Not where the engine was given up because a call of ours hung: the gate may be another session's.
void ContextWorker::open_gate() {
  if (!has_hung()) gate_.open();
}

void ContextWorker::run() {
  const OwnCalls own;
  try {
    work();
  } catch (const std::bad_alloc&) {
    fail(out_of_memory());
    open_gate();
  }
  forget_new_contexts();
  try {
    detach_all();
  } catch (const std::bad_alloc&) {
    fail(out_of_memory());
    leave_on();
    for (auto& one : attached_) {
      if (one != nullptr) keep_for_good(std::move(one));
    }
    attached_.clear();
    open_gate();
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  if (state_.empty()) state_ = "ended";
  cv_.notify_all();
}

// None comes any more.
void ContextWorker::forget_new_contexts() {
  const std::lock_guard lock(mutex_);
  created_.clear();
  if (!has_hung_) gate_.open(LaunchGate::For::NewContext);
}

void ContextWorker::work() {
  while (wait_for_work()) {
    if (!take_new_contexts() || attached_.empty() || is_over()) continue;
    take_turn();
  }
}

// False: nothing is left to do but to end.
bool ContextWorker::wait_for_work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (end_wanted_ || has_failed_) return false;
    if (attach_wanted_ || !created_.empty() || !destroyed_.empty()) return true;
    const int64_t now_ns = base::monotonic_ns();
    const int64_t next_ns = attached_.empty() ? now_ns + 100'000'000 : next_turn_ns();
    if (now_ns >= next_ns) return true;
    // Nobody wakes us when a deep scope begins.
    cv_.wait_for(lock, nanoseconds(std::min<int64_t>(next_ns - now_ns, 20'000'000)));
  }
}

void ContextWorker::wait_within_turn(nanoseconds length) {
  std::unique_lock lock(mutex_);
  cv_.wait_for(lock, length, [&] { return end_wanted_ || has_failed_ || !destroyed_.empty(); });
}

void ContextWorker::note_destroyed() {
  std::vector<CUcontext> destroyed;
  {
    const std::lock_guard lock(mutex_);
    destroyed.swap(destroyed_);
  }
  for (CUcontext gone : destroyed) {
    for (const auto& one : attached_) {
      if (one == nullptr || one->is_gone_ || one->context() != gone) continue;
      one->is_gone_ = true;
      on_gone(*one);
    }
  }
}

bool ContextWorker::while_it_exists(const AttachedContext& one, const std::function<void()>& call) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_destroyed =
        std::find(destroyed_.begin(), destroyed_.end(), one.context()) != destroyed_.end();
    if (one.is_gone_ || is_destroyed) return false;
    occupied_ = one.context();
  }
  struct Release {
    ContextWorker& worker;
    ~Release() {
      const std::lock_guard lock(worker.mutex_);
      worker.occupied_ = nullptr;
      worker.cv_.notify_all();
    }
  } const release{*this};
  call();
  return true;
}

void ContextWorker::drop_destroyed() {
  note_destroyed();
  retired_.reserve(retired_.size() + attached_.size());
  for (auto& one : attached_) {
    if (one != nullptr && one->is_gone_) retired_.push_back(std::move(one));
  }
  std::erase(attached_, nullptr);
}

bool ContextWorker::is_gone(const AttachedContext& one) {
  note_destroyed();
  return one.is_gone_;
}

// A call that is under way may be one that destroys a context, or it may last. Launches have waited
// for as long as the patience was: less after the first time, and not for ever.
bool ContextWorker::shut_for_new_contexts() {
  if (gate_.shut(gate_session_, attach_tries_ == 0 ? kAttachPatience : kWindowPatience)) {
    attach_tries_ = 0;
    return true;
  }
  std::unique_lock lock(mutex_);
  gate_.open(LaunchGate::For::NewContext);
  if (++attach_tries_ == kAttachTries) {
    attach_tries_ = 0;
    created_.clear();
    has_given_up_any_ = true;
    failures_.push_back({{false, "launch_hangs",
                          "a call of the program was under way whenever a new context was to be "
                          "attached, so that one has nothing of " +
                              std::string(name()),
                          "see the pending calls in the report"},
                         false});
    return false;
  }
  const size_t known = created_.size();
  cv_.wait_for(lock, kAttachRetry, [&] { return end_wanted_ || created_.size() > known; });
  return false;
}

// False: they cannot be attached now, and neither can a window be opened.
bool ContextWorker::take_new_contexts() {
  drop_destroyed();
  bool attaches = false;
  {
    const std::lock_guard lock(mutex_);
    attaches = attach_wanted_;
    if (!attaches && created_.empty()) return true;
  }
  // Of attach() it is shut already; of a new context it is closed, with launches of others inside.
  if (!attaches && !shut_for_new_contexts()) return false;
  drop_destroyed();
  std::vector<CUcontext> created;
  {
    const std::lock_guard lock(mutex_);
    created.swap(created_);
  }
  if (attaches) {
    for (CUcontext context : contexts_of_.hold_primary()) attach_context(context, true);
  }
  for (CUcontext context : created) attach_context(context, false);
  open_gate();
  const std::lock_guard lock(mutex_);
  const bool do_all_refuse = attached_.empty() && refusing_.size() >= contexts_of_.device_count();
  for (auto& [device, why] : std::exchange(refusals_, {})) {
    if (do_all_refuse) {
      fail_locked(std::move(why));
    } else {
      why.detail = "CUDA device " + std::to_string(device) + ": " + why.detail;
      failures_.push_back({std::move(why), false});
    }
  }
  // Another may have come meanwhile.
  if (created_.empty() && !has_hung_) gate_.open(LaunchGate::For::NewContext);
  if (std::exchange(attach_wanted_, false)) cv_.notify_all();
  return true;
}

void ContextWorker::attach_context(CUcontext context, bool is_held) {
  const auto is_same = [&](const auto& one) { return one->context() == context; };
  if (std::any_of(attached_.begin(), attached_.end(), is_same)) {
    if (is_held) contexts_of_.release_primary(context);
    return;
  }
  std::unique_ptr<AttachedContext> one =
      make_context(context, contexts_of_.device_of(context).value_or(0));
  one->is_held_ = is_held;
  api_.cuptiGetContextId(context, &one->id_);
  {
    const std::lock_guard lock(mutex_);
    known_.insert(one->id_);
  }
  has_enabled_ = true;
  attached_.reserve(attached_.size() + 1);  // what is enabled is kept, whatever happens
  bool is_enabled = false;
  Availability enabled =
      make("cuptiProfilerDeviceSupported", [&] { return ask(one->device(), context); });
  if (enabled.available) {
    enabled = make(one->enable_call(), [&] {
      Availability made = one->enable();
      is_enabled = made.available;
      return made;
    });
  }
  if (is_enabled && has_hung()) {  // it came back when nobody waited for it any more
    leave_on();
    return keep_for_good(std::move(one));
  }
  if (is_enabled) {
    attached_.push_back(std::move(one));
    if (enabled.available) on_attached(*attached_.back());
    return;
  }
  refuse(one->device(), std::move(enabled));
  if (is_held) contexts_of_.release_primary(context);
}

// Other GPUs may do all the same.
void ContextWorker::refuse(uint32_t device, Availability why) {
  const std::lock_guard lock(mutex_);
  if (has_failed_ || !refusing_.insert(device).second) return;
  refusals_.emplace_back(device, std::move(why));
}

bool ContextWorker::shut_for_stop() {
  if (has_hung()) return false;  // nobody would open it: see open_gate()
  milliseconds pause = kRetryEvery;
  while (!gate_.shut(gate_session_, kWindowPatience)) {
    const int64_t now_ns = base::monotonic_ns();
    std::unique_lock lock(mutex_);
    if (has_hung_) return false;
    if (end_wanted_ && ending_since_ns_ == 0) ending_since_ns_ = now_ns;
    if (end_wanted_ && now_ns - ending_since_ns_ > kLaunchPatience_ns) {
      fail_locked({false, "launch_hangs",
                   std::string("a launch of the program has not returned for two seconds, so ") +
                       name() + " could not be ended",
                   "see the pending calls in the report"});
      return false;
    }
    cv_.wait_for(lock, pause);
    pause = std::min(2 * pause, kLongestRetry);
  }
  return true;
}

// Whether CUPTI has let go of it.
bool ContextWorker::detach(AttachedContext& one) {
  Availability collected = make(one.collect_call(), [&] { return one.collect(); });
  if (!collected.available && !is_over_for_good()) tell_lacking(std::move(collected));
  bool is_off = false;
  make_or_fail(one.disable_call(), [&] {
    Availability disabled = one.disable();
    is_off = disabled.available;
    return disabled;
  });
  return is_off;
}

void ContextWorker::detach_all() {
  drop_destroyed();
  if (!attached_.empty()) before_detaching();
  for (auto& one : attached_) {
    bool is_off = false;
    if (shut_for_stop()) {
      is_off = !is_gone(*one) && detach(*one);
      open_gate();
    }
    if (one->is_gone_) continue;
    // CUPTI writes to what it was configured with for as long as it has not let go.
    if (!is_off) {
      leave_on();
      keep_for_good(std::move(one));
      continue;
    }
    if (one->is_held_) contexts_of_.release_primary(one->context());
  }
  drop_destroyed();
  attached_.clear();
  if (!has_enabled_ || !shut_for_stop()) return;
  end_calls();
  open_gate();
}

void ContextWorker::attach() {
  std::unique_lock lock(mutex_);
  attach_wanted_ = true;
  cv_.notify_all();
  const auto is_done = [&] { return !attach_wanted_ || has_ended_ || has_hung_; };
  while (!cv_.wait_for(lock, milliseconds(100), is_done)) {
    lock.unlock();
    watch();
    lock.lock();
  }
  // Whoever hangs has had it opened; whoever has ended did not come to do so.
  if (std::exchange(attach_wanted_, false) && !has_hung_) gate_.open();
}

void ContextWorker::on_context_created(CUcontext context) noexcept {
  const std::lock_guard lock(mutex_);
  if (has_failed_ || end_wanted_) return;
  try {
    created_.push_back(context);
  } catch (const std::bad_alloc&) {  // it is left alone
    return;
  }
  gate_.close(LaunchGate::For::NewContext);
  cv_.notify_all();
}

void ContextWorker::on_context_destroyed(CUcontext context) noexcept {
  std::unique_lock lock(mutex_);
  // One that was never attached: the gate was closed for it. A later one may have the same handle.
  if (std::erase(created_, context) != 0) {
    if (created_.empty()) gate_.open(LaunchGate::For::NewContext);
    return;
  }
  try {
    destroyed_.push_back(context);
  } catch (const std::bad_alloc&) {
    fail_locked(out_of_memory());
  }
  cv_.notify_all();
  cv_.wait_for(lock, kOccupiedPatience, [&] { return occupied_ != context; });
}

void ContextWorker::end() {
  const int64_t until_ns = base::monotonic_ns() + 3 * patience_ns();
  std::unique_lock lock(mutex_);
  end_wanted_ = true;
  cv_.notify_all();
  while (!has_ended_ && !has_hung_ && base::monotonic_ns() < until_ns) {
    cv_.wait_for(lock, milliseconds(100));
    lock.unlock();
    watch();
    lock.lock();
  }
  is_left_on_ |= !has_ended_;
}

void ContextWorker::watch() {
  {
    const std::lock_guard lock(mutex_);
    if (call_ == nullptr || has_hung_) return;
    if (base::monotonic_ns() - call_began_ns_ <= patience_ns()) return;
    has_hung_ = true;
    ++g_hanging;
    fail_locked({false, hang_reason(),
                 std::string(call_) + " has not returned for " +
                     std::to_string(patience_ns() / 1'000'000'000) + " seconds: " + name() +
                     " has ended, and tracing continues",
                 "choose the engine Trace for this program"});
    cv_.notify_all();
  }
  gate_.force_open();
}

std::vector<EngineFailure> ContextWorker::take_failures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

std::string ContextWorker::state(const char* when_well) const {
  const std::lock_guard lock(mutex_);
  return state_.empty() ? when_well : state_;
}

std::unique_ptr<ContextEngine> ContextEngine::start(std::shared_ptr<ContextWorker> worker) {
  const base::SignalsBlocked blocked;
  try {
    std::thread([worker] {
      const base::OwnThread own;
      pthread_setname_np(pthread_self(), "gpufl-sampling");
      worker->run();
    }).detach();
  } catch (const std::system_error&) {
    return nullptr;
  }
  return std::unique_ptr<ContextEngine>(new ContextEngine(std::move(worker)));
}

}  // namespace gpufl::backend
