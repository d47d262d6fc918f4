// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pc_sampler.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/nvidia/cupti/sample_windows.hpp"
#include "backend/nvidia/cupti/sampling_support.hpp"
#include "base/clock.hpp"
#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A longer period falls in step with loops of the kernel: with 2^16 some instructions of a plain
// loop were sampled too often by a fifth, with 2^15 and less none.
constexpr int kDefaultPeriodExponent = 14;
// How long the program's launches are waited for when a window is to open or close.
constexpr microseconds kWindowPatience{5'000};
constexpr microseconds kAttachPatience{50'000};
constexpr milliseconds kRetryEvery{2};
constexpr milliseconds kLongestRetry{200};
constexpr milliseconds kAttachRetry{200};  // launches have waited for as long as the patience was
// A call of CUPTI's that takes longer does not come back.
constexpr int64_t kHangNs = 2'000'000'000;
constexpr nanoseconds kDeepWindow{100'000'000};

// Calls of CUPTI's that hang in this process: while there are any it is not asked again.
std::atomic<int> g_hanging{0};

Availability out_of_memory() {
  return {false, "out_of_memory", "there was no memory for PC sampling", ""};
}

// What CUPTI may write to for as long as the process lives.
void keep_for_good(std::unique_ptr<PcSamplingContext> sampling) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<PcSamplingContext>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(sampling));
}

}  // namespace

// All that the thread uses: it may outlive the sampler.
class PcSampler::Worker {
 public:
  Worker(const CuptiApi& api, const CudaDriver& driver, LaunchGate& gate, uint32_t gate_session,
         const SessionDevices& devices, const PcSamplingOptions& options, int64_t session_start_ns)
      : api_(api),
        driver_(driver),
        contexts_of_(driver.contexts()),
        gate_(gate),
        gate_session_(gate_session),
        devices_(devices),
        options_(options),
        session_start_ns_(session_start_ns) {}

  void run();
  void attach();
  void on_context_created(CUcontext context) noexcept;
  void on_context_destroyed(CUcontext context) noexcept;
  void end();
  void watch();
  void drain(DeviceNumbers& devices, RowSink& sink);
  void account(format::Ledger& ledger) const { windows_.account(ledger); }
  std::vector<Failure> take_failures();
  SamplingStatus status() const;
  bool has_hung() const;
  bool is_left_on() const;

 private:
  struct Attached {
    std::unique_ptr<PcSamplingContext> sampling;
    uint32_t device = 0;      // CUDA's number
    uint32_t id = 0;          // of the context, for CUPTI
    bool is_held = false;     // a primary context that we must release
    bool is_sampled = false;  // in the window that is open
  };

  // The thread's.
  void work();
  bool wait_for_work();
  void take_new_contexts();
  void drop_destroyed();
  void attach_context(CUcontext context, bool is_held);
  Availability enable(const Attached& attached);
  void refuse(uint32_t device, Availability why);
  void take_window(bool is_deep);
  bool open_windows();
  void close_windows(int64_t begin_ns, bool is_deep);
  bool shut_for_stop();
  void open_gate();
  void detach_all();
  void leave_on();
  // A call of CUPTI's, watched. Not available where it failed, or sampling was given up meanwhile.
  template <typename Call>
  Availability make(const char* name, Call&& call);
  // The same, where a failure ends sampling.
  template <typename Call>
  bool make_or_fail(const char* name, Call&& call);
  bool is_over() const;
  bool is_over_for_good() const;
  bool is_deep() const {
    return options_.deep_scopes != nullptr && options_.deep_scopes->load() != 0;
  }
  void fail(Availability why);
  void fail_locked(Availability why);

  const CuptiApi api_;  // a copy: the thread may outlive the library's owner
  const CudaDriver& driver_;
  const CudaContexts& contexts_of_;
  LaunchGate& gate_;
  const uint32_t gate_session_;
  const SessionDevices devices_;
  const PcSamplingOptions options_;
  const int64_t session_start_ns_;

  std::vector<Attached> attached_;  // the thread's
  bool has_enabled_ = false;        // or tried to
  std::vector<Attached> retired_;   // of contexts that are gone; CUPTI may still write to them
  int64_t next_window_ns_ = 0;
  int64_t not_before_ns_ = 0;
  int64_t ending_since_ns_ = 0;
  uint64_t held_before_ns_ = 0;
  SampleWindows windows_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable cv_;
  std::vector<CUcontext> created_;
  std::vector<CUcontext> destroyed_;
  bool attach_wanted_ = false;
  bool end_wanted_ = false;
  bool has_ended_ = false;
  bool has_failed_ = false;     // for good
  bool has_hung_ = false;       // and a call of CUPTI's does not come back
  bool is_left_on_ = false;     // sampling could not be ended
  const char* call_ = nullptr;  // of CUPTI's, under way
  int64_t call_began_ns_ = 0;
  std::vector<Failure> failures_;
  std::set<uint32_t> refusing_;                              // CUDA's numbers of devices
  std::vector<std::pair<uint32_t, Availability>> refusals_;  // new ones
  std::string state_ = "sampling";
};

template <typename Call>
Availability PcSampler::Worker::make(const char* name, Call&& call) {
  {
    const std::lock_guard lock(mutex_);
    if (has_hung_) return {false, state_, "", ""};
    call_ = name;
    call_began_ns_ = base::monotonic_ns();
  }
  gate_.renew();
  Availability made;
  try {
    const BesideCaptures beside_captures(driver_.exchange_capture_mode());
    made = call();
  } catch (const std::bad_alloc&) {
    made = out_of_memory();
  }
  const std::lock_guard lock(mutex_);
  call_ = nullptr;
  if (has_hung_) --g_hanging;  // after all it has come back
  if (has_failed_ && made.available) return {false, state_, "", ""};
  return made;
}

template <typename Call>
bool PcSampler::Worker::make_or_fail(const char* name, Call&& call) {
  Availability made = make(name, call);
  if (!made.available) fail(std::move(made));
  return !is_over_for_good();
}

void PcSampler::Worker::fail_locked(Availability why) {
  if (std::exchange(has_failed_, true)) return;
  state_ = why.reason;
  failures_.push_back({std::move(why), true});
}

void PcSampler::Worker::fail(Availability why) {
  const std::lock_guard lock(mutex_);
  fail_locked(std::move(why));
}

bool PcSampler::Worker::is_over() const {
  const std::lock_guard lock(mutex_);
  return has_failed_ || end_wanted_;
}

bool PcSampler::Worker::is_over_for_good() const {
  const std::lock_guard lock(mutex_);
  return has_failed_;
}

bool PcSampler::Worker::has_hung() const {
  const std::lock_guard lock(mutex_);
  return has_hung_;
}

bool PcSampler::Worker::is_left_on() const {
  const std::lock_guard lock(mutex_);
  return has_hung_ || is_left_on_;
}

// Not where sampling was given up because a call of ours hung: the gate may be another session's.
void PcSampler::Worker::open_gate() {
  if (!has_hung()) gate_.open();
}

void PcSampler::Worker::run() {
  const OwnCalls own;
  try {
    work();
  } catch (const std::bad_alloc&) {
    fail(out_of_memory());
  }
  detach_all();
  const std::lock_guard lock(mutex_);
  created_.clear();
  if (!has_hung_) gate_.open();  // a context that was made meanwhile has closed it
  has_ended_ = true;
  if (state_ == "sampling") state_ = "ended";
  cv_.notify_all();
}

void PcSampler::Worker::work() {
  while (wait_for_work()) {
    take_new_contexts();
    if (attached_.empty() || is_over()) continue;
    take_window(is_deep());
  }
}

// False: nothing is left to do but to end.
bool PcSampler::Worker::wait_for_work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (end_wanted_ || has_failed_) return false;
    if (attach_wanted_ || !created_.empty() || !destroyed_.empty()) return true;
    const int64_t now_ns = base::monotonic_ns();
    if (!attached_.empty() && now_ns >= (is_deep() ? not_before_ns_ : next_window_ns_)) return true;
    // Nobody wakes us when a deep scope begins.
    const int64_t until_ns = attached_.empty() ? now_ns + 100'000'000 : next_window_ns_;
    cv_.wait_for(lock, nanoseconds(std::min<int64_t>(until_ns - now_ns, 20'000'000)));
  }
}

void PcSampler::Worker::drop_destroyed() {
  const std::lock_guard lock(mutex_);
  for (CUcontext gone : std::exchange(destroyed_, {})) {
    for (auto one = attached_.begin(); one != attached_.end();) {
      const bool is_gone = one->sampling->context() == gone;
      if (is_gone) retired_.push_back(std::move(*one));
      one = is_gone ? attached_.erase(one) : one + 1;
    }
  }
}

void PcSampler::Worker::take_new_contexts() {
  drop_destroyed();
  std::vector<CUcontext> created;
  bool attaches = false;
  {
    const std::lock_guard lock(mutex_);
    created.swap(created_);
    attaches = attach_wanted_;
  }
  if (!attaches && created.empty()) return;
  // Of attach() it is shut already; of a new context it is closed, with launches of others inside.
  if (!attaches && !gate_.shut(gate_session_, kAttachPatience)) {
    std::unique_lock lock(mutex_);
    created_.insert(created_.end(), created.begin(), created.end());
    cv_.wait_for(lock, kAttachRetry, [&] { return end_wanted_; });
    return;
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
  if (std::exchange(attach_wanted_, false)) cv_.notify_all();
}

void PcSampler::Worker::attach_context(CUcontext context, bool is_held) {
  const auto is_same = [&](const Attached& one) { return one.sampling->context() == context; };
  if (std::any_of(attached_.begin(), attached_.end(), is_same)) {
    if (is_held) contexts_of_.release_primary(context);
    return;
  }
  Attached attached{std::make_unique<PcSamplingContext>(api_, context),
                    contexts_of_.device_of(context).value_or(0), 0, is_held, false};
  api_.cuptiGetContextId(context, &attached.id);
  Availability enabled = enable(attached);
  if (enabled.available) {
    attached_.push_back(std::move(attached));
    return;
  }
  refuse(attached.device, std::move(enabled));
  if (is_held) contexts_of_.release_primary(context);
}

// Other GPUs may be sampled all the same.
void PcSampler::Worker::refuse(uint32_t device, Availability why) {
  const std::lock_guard lock(mutex_);
  if (has_failed_ || !refusing_.insert(device).second) return;
  refusals_.emplace_back(device, std::move(why));
}

Availability PcSampler::Worker::enable(const Attached& attached) {
  const auto ask = [&] {
    Availability why = sampling_support(api_, driver_, devices_, attached.device);
    return why.available ? sampling_memory(contexts_of_, attached.sampling->context()) : why;
  };
  const int period =
      options_.period_exponent != 0 ? options_.period_exponent : kDefaultPeriodExponent;
  has_enabled_ = true;
  Availability made = make("cuptiProfilerDeviceSupported", ask);
  if (!made.available) return made;
  return make("cuptiPCSamplingEnable", [&] { return attached.sampling->enable(period); });
}

void PcSampler::Worker::take_window(bool is_deep) {
  const nanoseconds length = is_deep ? std::max(kDeepWindow, nanoseconds(options_.window_ns))
                                     : nanoseconds(options_.window_ns);
  next_window_ns_ = base::monotonic_ns() + length.count() + options_.pause_ns;
  const bool is_open = open_windows();
  const int64_t begin_ns = base::monotonic_ns();
  if (!is_open) {
    // Others were held for as long as the patience was: not soon again.
    not_before_ns_ = begin_ns + 20 * nanoseconds(kWindowPatience).count();
    next_window_ns_ = std::min(next_window_ns_, not_before_ns_);
    if (!is_over()) windows_.skip();
    return;
  }
  {
    std::unique_lock lock(mutex_);
    cv_.wait_for(lock, length, [&] { return end_wanted_ || has_failed_ || !destroyed_.empty(); });
  }
  close_windows(begin_ns, is_deep);
}

// One context after the other, with launches let through in between: each takes its time. False
// where not even one could be opened.
bool PcSampler::Worker::open_windows() {
  held_before_ns_ = gate_.counts_when_released().held_ns;
  gate_.take_longest_ns();
  bool is_open = false;
  for (Attached& one : attached_) {
    one.is_sampled = false;
    if (is_over() || !gate_.shut(gate_session_, kWindowPatience)) continue;
    one.is_sampled =
        make_or_fail("cuptiPCSamplingStart", [&] { return one.sampling->open_window(); });
    open_gate();
    is_open |= one.is_sampled;
  }
  return is_open;
}

void PcSampler::Worker::close_windows(int64_t begin_ns, bool is_deep) {
  drop_destroyed();
  std::vector<WindowRows> windows;
  for (Attached& one : attached_) {
    if (!one.is_sampled || !shut_for_stop()) continue;
    WindowRows window{begin_ns, base::monotonic_ns(), 0, one.device, one.id, is_deep, {}};
    const bool is_closed = make_or_fail("cuptiPCSamplingStop",
                                        [&] { return one.sampling->close_window(window.samples); });
    open_gate();
    one.is_sampled = false;
    if (is_closed) windows.push_back(std::move(window));
  }
  const auto held_ns = static_cast<int64_t>(gate_.counts_when_released().held_ns - held_before_ns_);
  for (WindowRows& window : windows) {
    window.cost_ns = held_ns / static_cast<int64_t>(windows.size());
  }
  windows_.put(std::move(windows), gate_.take_longest_ns());
}

// A window that is open has to be closed, however long a launch takes: one that loads code may take
// seconds. Only who wants to end does not wait for ever: two seconds for all that is to be ended.
bool PcSampler::Worker::shut_for_stop() {
  milliseconds pause = kRetryEvery;
  while (!gate_.shut(gate_session_, kWindowPatience)) {
    const int64_t now_ns = base::monotonic_ns();
    std::unique_lock lock(mutex_);
    if (has_hung_) return false;
    if (end_wanted_ && ending_since_ns_ == 0) ending_since_ns_ = now_ns;
    if (end_wanted_ && now_ns - ending_since_ns_ > kHangNs) {
      fail_locked({false, "launch_hangs",
                   "a launch of the program has not returned for two seconds, so PC sampling "
                   "could not be ended",
                   "see the pending calls in the report"});
      return false;
    }
    cv_.wait_for(lock, pause);
    pause = std::min(2 * pause, kLongestRetry);
  }
  return true;
}

void PcSampler::Worker::detach_all() {
  drop_destroyed();
  for (Attached& one : attached_) {
    bool is_off = false;
    if (shut_for_stop()) {
      make_or_fail("cuptiPCSamplingDisable", [&] {
        Availability disabled = one.sampling->disable();
        is_off = disabled.available;
        return disabled;
      });
      open_gate();
    }
    // CUPTI writes to what it was configured with for as long as it has not let go.
    if (!is_off) {
      leave_on();
      keep_for_good(std::move(one.sampling));
      continue;
    }
    if (one.is_held) contexts_of_.release_primary(one.sampling->context());
  }
  attached_.clear();
  if (!has_enabled_ || !shut_for_stop()) return;
  make_or_fail("cuptiProfilerDeInitialize", [&] {
    end_sampling(api_);
    return Availability{true, "", "", ""};
  });
  open_gate();
}

void PcSampler::Worker::attach() {
  std::unique_lock lock(mutex_);
  attach_wanted_ = true;
  cv_.notify_all();
  const auto is_done = [&] { return !attach_wanted_ || has_ended_ || has_hung_; };
  while (!cv_.wait_for(lock, milliseconds(100), is_done)) {
    lock.unlock();
    watch();
    lock.lock();
  }
  attach_wanted_ = false;
}

void PcSampler::Worker::on_context_created(CUcontext context) noexcept {
  gate_.close();
  const std::lock_guard lock(mutex_);
  if (has_failed_ || end_wanted_) return gate_.open();
  try {
    created_.push_back(context);
  } catch (const std::bad_alloc&) {  // it is not sampled
    return gate_.open();
  }
  cv_.notify_all();
}

void PcSampler::Worker::on_context_destroyed(CUcontext context) noexcept {
  const std::lock_guard lock(mutex_);
  // One that was never attached: the gate was closed for it. A later one may have the same handle.
  if (std::erase(created_, context) != 0) return gate_.open();
  try {
    destroyed_.push_back(context);
  } catch (const std::bad_alloc&) {
    fail_locked(out_of_memory());
  }
  cv_.notify_all();
}

void PcSampler::Worker::end() {
  const int64_t until_ns = base::monotonic_ns() + 3 * kHangNs;
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

void PcSampler::Worker::watch() {
  {
    const std::lock_guard lock(mutex_);
    if (call_ == nullptr || has_hung_) return;
    if (base::monotonic_ns() - call_began_ns_ <= kHangNs) return;
    has_hung_ = true;
    ++g_hanging;
    fail_locked(
        {false, "sampling_hangs",
         std::string(call_) +
             " has not returned for two seconds: PC sampling has ended, and tracing continues",
         "choose the engine Trace for this program"});
    cv_.notify_all();
  }
  gate_.open();
}

void PcSampler::Worker::leave_on() {
  const std::lock_guard lock(mutex_);
  is_left_on_ = true;
}

void PcSampler::Worker::drain(DeviceNumbers& devices, RowSink& sink) {
  windows_.drain(session_start_ns_, devices, sink);
}

std::vector<PcSampler::Failure> PcSampler::Worker::take_failures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

SamplingStatus PcSampler::Worker::status() const {
  const std::lock_guard lock(mutex_);
  return {state_, windows_.taken(), windows_.skipped(), windows_.busy_ns(), false};
}

std::unique_ptr<PcSampler> PcSampler::start(const CuptiApi& api, const CudaDriver& driver,
                                            LaunchGate& gate, uint32_t gate_session,
                                            const SessionDevices& devices,
                                            const PcSamplingOptions& options,
                                            int64_t session_start_ns) {
  auto worker =
      std::make_shared<Worker>(api, driver, gate, gate_session, devices, options, session_start_ns);
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
  return std::unique_ptr<PcSampler>(new PcSampler(std::move(worker)));
}

PcSampler::~PcSampler() { end(); }
void PcSampler::attach() { worker_->attach(); }
void PcSampler::on_context_created(CUcontext context) noexcept {
  worker_->on_context_created(context);
}
void PcSampler::on_context_destroyed(CUcontext context) noexcept {
  worker_->on_context_destroyed(context);
}
void PcSampler::end() { worker_->end(); }
void PcSampler::watch() { worker_->watch(); }
void PcSampler::drain(DeviceNumbers& devices, RowSink& sink) { worker_->drain(devices, sink); }
void PcSampler::account(format::Ledger& ledger) const { worker_->account(ledger); }
std::vector<PcSampler::Failure> PcSampler::take_failures() { return worker_->take_failures(); }
SamplingStatus PcSampler::status() const { return worker_->status(); }
bool PcSampler::is_left_on() const { return worker_->is_left_on(); }
bool PcSampler::does_any_hang() { return g_hanging != 0; }

}  // namespace gpufl::backend
