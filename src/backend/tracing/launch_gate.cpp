// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_gate.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr timespec kNap{0, 50'000};

void keep_larger(std::atomic<uint64_t>& kept, uint64_t value) {
  uint64_t largest = kept.load(std::memory_order_relaxed);
  while (value > largest && !kept.compare_exchange_weak(largest, value)) {
  }
}

}  // namespace

// Whoever shut it may hang: those who wait see to it that they do not wait for ever.
void LaunchGate::wait_until_open() noexcept {
  while (is_shut()) {
    nanosleep(&kNap, nullptr);
    const int64_t since_ns = shut_since_ns();
    const int64_t longest_ns = longest_shut_ns_.load(std::memory_order_acquire);
    if (since_ns != 0 && base::monotonic_ns() - since_ns > longest_ns) open();
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

void LaunchGate::close() noexcept {
  if (shut_.exchange(1, std::memory_order_seq_cst) != 0) return;
  since_ns_.store(base::monotonic_ns(), std::memory_order_release);
}

bool LaunchGate::shut(uint32_t session, std::chrono::microseconds patience) {
  using Clock = std::chrono::steady_clock;
  close();
  if (base::fence_all_threads()) {
    const auto end = Clock::now() + patience;
    while (is_launch_under_way(session)) {
      if (Clock::now() >= end) {
        open();
        return false;
      }
      sched_yield();
    }
    return true;
  }
  open();
  return false;
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

void LaunchGate::open() noexcept {
  since_ns_.store(0, std::memory_order_release);
  longest_shut_ns_.store(kLongestShut_ns, std::memory_order_release);
  shut_.store(0, std::memory_order_release);
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
