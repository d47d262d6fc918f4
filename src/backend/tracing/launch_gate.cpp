// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_gate.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr timespec kNap{0, 50'000};

// A thread that is held may be cancelled. It must not end in the middle of a call of the vendor's,
// and cannot where nothing may be thrown: that is left to what it does next.
class NotCancelled {
 public:
  NotCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

void keep_larger(std::atomic<uint64_t>& kept, uint64_t value) {
  uint64_t largest = kept.load(std::memory_order_relaxed);
  while (value > largest && !kept.compare_exchange_weak(largest, value)) {
  }
}

}  // namespace

// Whoever shut it may hang: those who wait see to it that they do not wait for ever.
void LaunchGate::wait_until_open() noexcept {
  const NotCancelled not_cancelled;
  while (is_shut()) {
    nanosleep(&kNap, nullptr);
    const int64_t since_ns = shut_since_ns();
    const int64_t longest_ns = longest_shut_ns_.load(std::memory_order_acquire);
    if (since_ns != 0 && base::monotonic_ns() - since_ns > longest_ns) force_open();
  }
}

void LaunchGate::wait(LaunchesInside& inside) noexcept {
  const int64_t began_ns = base::monotonic_ns();
  waiting_.fetch_add(1, std::memory_order_acq_rel);
  do {
    inside.count.store(0, std::memory_order_release);
    wait_until_open();
    inside.count.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (is_shut());
  add_hold(began_ns);
  waiting_.fetch_sub(1, std::memory_order_acq_rel);
}

void LaunchGate::enter_without_ring() noexcept {
  ringless_inside_.fetch_add(1, std::memory_order_seq_cst);
  if (!is_shut()) return;
  const int64_t began_ns = base::monotonic_ns();
  waiting_.fetch_add(1, std::memory_order_acq_rel);
  do {
    ringless_inside_.fetch_sub(1, std::memory_order_release);
    wait_until_open();
    ringless_inside_.fetch_add(1, std::memory_order_seq_cst);
  } while (is_shut());
  add_hold(began_ns);
  waiting_.fetch_sub(1, std::memory_order_acq_rel);
}

void LaunchGate::add_hold(int64_t began_ns) noexcept {
  const auto held_ns = static_cast<uint64_t>(base::monotonic_ns() - began_ns);
  held_.fetch_add(1, std::memory_order_relaxed);
  held_ns_.fetch_add(held_ns, std::memory_order_relaxed);
  keep_larger(longest_ns_, held_ns);
  keep_larger(longest_since_ns_, held_ns);
}

// The time is there before anybody can wait for it.
void LaunchGate::close(For why) noexcept {
  uint32_t before = shut_.load(std::memory_order_acquire);
  do {
    if (before == 0) since_ns_.store(base::monotonic_ns(), std::memory_order_release);
  } while (!shut_.compare_exchange_weak(before, before | static_cast<uint32_t>(why),
                                        std::memory_order_seq_cst));
}

bool LaunchGate::wait_until_outside(uint32_t session, std::chrono::microseconds patience) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  while (is_launch_under_way(session)) {
    if (Clock::now() >= end) return false;
    sched_yield();
  }
  return true;
}

bool LaunchGate::shut(uint32_t session, std::chrono::microseconds patience) {
  close();
  if (!base::fence_all_threads() || !wait_until_outside(session, patience)) {
    open();
    return false;
  }
  // Those who wait may have let themselves in.
  return (shut_.load(std::memory_order_acquire) & static_cast<uint32_t>(For::Calls)) != 0;
}

LaunchGate::Inside LaunchGate::shut_to_graphs(uint32_t session,
                                              std::chrono::microseconds patience) {
  close();
  if (!base::fence_all_threads()) {
    open();
    return Inside::Others;
  }
  if (wait_until_outside(session, patience)) return Inside::Nobody;
  if (!is_graph_made(session)) return Inside::Others;
  open();
  return Inside::MakesGraph;
}

bool LaunchGate::is_graph_made(uint32_t session) const {
  bool is_made = false;
  NoteRings::for_each([&](NoteRing& ring) {
    const LaunchesInside& inside = ring.launches_inside;
    is_made |= ring.state() == NoteRing::State::Claimed &&
               inside.session.load(std::memory_order_relaxed) == session &&
               inside.count.load(std::memory_order_acquire) != 0 &&
               inside.graph_count.load(std::memory_order_relaxed) != 0;
  });
  return is_made;
}

bool LaunchGate::is_launch_under_way(uint32_t session) const {
  bool is_under_way = ringless_inside_.load(std::memory_order_acquire) != 0;
  NoteRings::for_each([&](NoteRing& ring) {
    is_under_way |= ring.state() == NoteRing::State::Claimed &&
                    ring.launches_inside.session.load(std::memory_order_relaxed) == session &&
                    ring.launches_inside.count.load(std::memory_order_acquire) != 0;
  });
  return is_under_way;
}

void LaunchGate::open(For why) noexcept {
  if (why == For::Calls) {  // for whoever keeps it shut still the bound begins anew
    longest_shut_ns_.store(kLongestShut_ns, std::memory_order_release);
    since_ns_.store(base::monotonic_ns(), std::memory_order_release);
  }
  shut_.fetch_and(~static_cast<uint32_t>(why), std::memory_order_acq_rel);
}

void LaunchGate::renew(int64_t longest_ns) noexcept {
  if (!is_shut()) return;
  longest_shut_ns_.store(longest_ns, std::memory_order_release);
  since_ns_.store(base::monotonic_ns(), std::memory_order_release);
}

void LaunchGate::park() noexcept {
  parking_since_ns_.store(base::monotonic_ns(), std::memory_order_release);
  parking_.store(1, std::memory_order_release);
}

void LaunchGate::wait_parked() noexcept {
  const NotCancelled not_cancelled;
  const int64_t began_ns = base::monotonic_ns();
  parked_.fetch_add(1, std::memory_order_acq_rel);
  while (is_parking()) {
    nanosleep(&kNap, nullptr);
    const int64_t since_ns = parking_since_ns_.load(std::memory_order_acquire);
    if (base::monotonic_ns() - since_ns > kLongestPark_ns) unpark();
  }
  add_hold(began_ns);
  parked_.fetch_sub(1, std::memory_order_acq_rel);
}

LaunchGate::Counts LaunchGate::counts() const {
  return {held_.load(std::memory_order_relaxed), held_ns_.load(std::memory_order_relaxed),
          longest_ns_.load(std::memory_order_relaxed)};
}

LaunchGate::Counts LaunchGate::counts_when_released() const {
  const auto is_held = [&] { return parked() != 0 || (waiting() != 0 && !is_shut()); };
  for (int tries = 0; is_held() && tries < 200; ++tries) nanosleep(&kNap, nullptr);
  return counts();
}

void LaunchGate::begin_counts() noexcept {
  for (auto* count : {&held_, &held_ns_, &longest_ns_, &longest_since_ns_}) {
    count->store(0, std::memory_order_relaxed);
  }
}

void LaunchGate::after_fork_in_child() noexcept {
  shut_.store(0, std::memory_order_relaxed);
  waiting_.store(0, std::memory_order_relaxed);
  parking_.store(0, std::memory_order_relaxed);
  parked_.store(0, std::memory_order_relaxed);
  since_ns_.store(0, std::memory_order_relaxed);
  longest_shut_ns_.store(kLongestShut_ns, std::memory_order_relaxed);
  ringless_inside_.store(0, std::memory_order_relaxed);
}

}  // namespace gpufl::backend
