// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

// The events of one thread on their way to a session's collector: one producer (the thread that
// claimed the ring), one consumer. Full means dropped and counted. The producer writes to its own
// cache lines only, takes no lock and makes no system call. A ring begins small and grows when a
// burst fills it, while the room that all rings of one sort of event share lasts; but not when the
// producer is never found resting, so events that come in storms need the room from the start.
// ThreadRings gives each thread one.
namespace gpufl::base {

template <typename EventType, uint32_t kFirst = 1024, uint32_t kMost = 32768>
class EventRing {
 public:
  using Event = EventType;

  static_assert(std::has_single_bit(kFirst) && std::has_single_bit(kMost) && kFirst <= kMost);
  static constexpr uint32_t kEvents = kMost;                  // at most
  static constexpr uint32_t kFirstEvents = kFirst;            // at first
  static constexpr int64_t kSharedEvents = int64_t{1} << 20;  // what all rings together may grow by
  static constexpr size_t kBytes = kEvents * sizeof(Event);

  enum class State : uint32_t { Free, Claimed, Exited };

  // `events` has kEvents of them; born claimed by `thread_id`.
  EventRing(uint32_t number, Event* events, int64_t thread_id)
      : number_(number), events_(events), thread_id_(thread_id) {}
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  // Producer. Between the two it uses what is_inside() protects.
  void enter() noexcept {
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the other half is a membarrier
  }
  void leave() noexcept { inside_.store(false, std::memory_order_release); }
  bool is_inside() const { return inside_.load(std::memory_order_acquire); }

  // Producer, before its events of `session`. True when it is the first time: counts of its own
  // begin at zero.
  bool enter_session(uint32_t session) noexcept {
    if (session_.load(std::memory_order_relaxed) == session) return false;
    if (head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire)) {
      capacity_.store(kFirstEvents, std::memory_order_relaxed);
    } else {  // an event that the last session did not take: the ring stays as large as it is
      g_shared_events.fetch_sub(capacity() - kFirstEvents, std::memory_order_relaxed);
    }
    session_.store(session, std::memory_order_relaxed);
    return true;
  }
  // Producer. The place of the next event, when at least `room` are free, else null and counted.
  // It is the consumer's after publish().
  Event* claim_slot(uint64_t room = 1) noexcept {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    // A drained ring starts over at its beginning, so that a thread which has few events touches a
    // page or two of its ring, not all of it. The consumer cannot be looking: there is nothing.
    if (head == tail) base_.store(head, std::memory_order_relaxed);
    if (head - tail + room > capacity() && !grow(head, head - tail + room)) {
      add(dropped_);
      return nullptr;
    }
    return &events_[(head - base_.load(std::memory_order_relaxed)) & (capacity() - 1)];
  }
  void publish() noexcept {
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Consumer. How far the producer has come: events before that mark may be read.
  uint64_t published() const { return head_.load(std::memory_order_acquire); }
  // Consumer. How many it has taken.
  uint64_t taken() const { return tail_.load(std::memory_order_relaxed); }
  // Consumer. Calls `take` with every event up to `mark`; drain_until also frees them.
  template <typename Take>
  void visit_until(uint64_t mark, Take&& take) const {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t base = base_.load(std::memory_order_relaxed);
    const uint64_t mask = capacity() - 1;
    for (uint64_t i = tail; i != mark; ++i) take(events_[(i - base) & mask]);
  }
  template <typename Take>
  uint64_t drain_until(uint64_t mark, Take&& take) {
    // Also when `take` throws: events are taken once or lost, never twice.
    struct Freeing {
      std::atomic<uint64_t>& tail;
      uint64_t mark;
      ~Freeing() { tail.store(mark, std::memory_order_release); }
    } const freeing{tail_, mark};
    const uint64_t taken = mark - tail_.load(std::memory_order_relaxed);
    visit_until(mark, take);
    return taken;
  }

  // Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  uint32_t session() const { return session_.load(std::memory_order_relaxed); }
  uint32_t number() const { return number_; }
  uint32_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  State state() const { return state_.load(std::memory_order_acquire); }
  // Consumer, of a ring from which it has drained an event: the thread that pushed it.
  int64_t thread_id() const { return thread_id_.load(std::memory_order_relaxed); }
  // Of a ring in State::Exited.
  int64_t exit_time_ns() const { return exit_time_ns_; }

  // A thread makes the ring its own; false when it is another's.
  bool claim(int64_t thread_id) {
    State expected = State::Free;
    if (!state_.compare_exchange_strong(expected, State::Claimed, std::memory_order_acquire)) {
      return false;
    }
    thread_id_.store(thread_id, std::memory_order_relaxed);
    return true;
  }
  // The ring's thread ends: what it left open ended now.
  void exit_thread() {
    exit_time_ns_ = monotonic_ns();
    state_.store(State::Exited, std::memory_order_release);
  }
  // Consumer, of a ring in State::Exited that it has drained.
  void make_free(uint32_t session) {
    if (session_.load(std::memory_order_relaxed) == session) {
      g_shared_events.fetch_add(capacity() - kFirstEvents, std::memory_order_relaxed);
    }
    capacity_.store(kFirstEvents, std::memory_order_relaxed);
    session_.store(0, std::memory_order_relaxed);
    return_memory();
    state_.store(State::Free, std::memory_order_release);
  }
  // Consumer of a new session: what was left by the last one is void.
  void discard() { tail_.store(head_.load(std::memory_order_acquire), std::memory_order_release); }
  // What is in the ring is void, its memory the system's.
  void return_memory() { madvise(events_, kBytes, MADV_DONTNEED); }
  // For a new session: no ring has grown in it.
  static void share_anew() { g_shared_events.store(kSharedEvents, std::memory_order_relaxed); }
  // In the child of fork(), on its only thread: `thread_id` 0 when the ring's thread is not there.
  void after_fork(int64_t thread_id) {
    discard();
    session_.store(0, std::memory_order_relaxed);
    capacity_.store(kFirstEvents, std::memory_order_relaxed);
    inside_.store(false, std::memory_order_relaxed);
    thread_id_.store(thread_id, std::memory_order_relaxed);
    state_.store(thread_id != 0 ? State::Claimed : State::Free, std::memory_order_relaxed);
  }

 protected:
  // For counters with one writer: cheaper than an atomic add.
  template <typename T>
  static void add(std::atomic<T>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  // Only while nothing has come round to the ring's beginning again: then all events stay where
  // they are, and the consumer may be reading.
  __attribute__((noinline)) bool grow(uint64_t head, uint64_t needed) noexcept {
    if (needed > kEvents || head - base_.load(std::memory_order_relaxed) > capacity()) return false;
    const auto wanted = std::bit_ceil(static_cast<uint32_t>(needed));
    const int64_t more = int64_t{wanted} - capacity();
    if (g_shared_events.load(std::memory_order_relaxed) < more) return false;
    g_shared_events.fetch_sub(more, std::memory_order_relaxed);
    capacity_.store(wanted, std::memory_order_relaxed);
    return true;
  }

  // Room that the rings have not taken; a few too many when threads grow at the same moment.
  static inline constinit std::atomic<int64_t> g_shared_events{kSharedEvents};

  // Written by the producer.
  alignas(64) std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> base_{0};                 // the value of head_ that lies at events_[0]
  std::atomic<uint32_t> capacity_{kFirstEvents};  // a power of two
  std::atomic<bool> inside_{false};
  std::atomic<uint32_t> session_{0};
  std::atomic<uint64_t> dropped_{0};
  const uint32_t number_;
  Event* const events_;

  // Written by the consumer, a few times a second: stays in the producer's cache.
  alignas(64) std::atomic<uint64_t> tail_{0};

  alignas(64) std::atomic<State> state_{State::Claimed};
  std::atomic<int64_t> thread_id_{0};
  int64_t exit_time_ns_ = 0;
};

}  // namespace gpufl::base
