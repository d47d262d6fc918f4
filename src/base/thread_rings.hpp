// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "base/event_ring.hpp"

// The rings of one sort of event (Ring: an EventRing, or a class on top of one): process-wide,
// older and younger than any session. A thread gets its ring (address space for the largest,
// resident as far as it is used) at its first event and keeps it until it ends; from then on
// finding it is one load. Any thread where nothing else is said; no lock.
namespace gpufl::base {

// Every thread is made to pass a fence, in the kernel, so that none has to pay for one when it
// enters its ring. False where the system does not offer it.
bool fence_all_threads();

template <typename Ring>
class ThreadRings {
 public:
  static constexpr uint32_t kMaxRings = 1024;  // threads beyond that have none, and are counted

  // The calling thread's, for an event of `session` (never 0). Null: the event is dropped, and
  // counted here.
  static Ring* of_thread(uint32_t session) noexcept {
    return t_ring != nullptr ? t_ring : of_new_thread(session);
  }

  // Rings 0 .. count()-1; null for one that is just being made.
  static uint32_t count() { return std::min(g_count.load(std::memory_order_acquire), kMaxRings); }
  static Ring* at(uint32_t number) { return g_rings[number].load(std::memory_order_acquire); }
  template <typename Visit>
  static void for_each(Visit&& visit) {
    for (uint32_t i = 0; i < count(); ++i) {
      if (Ring* ring = at(i)) visit(*ring);
    }
  }
  // Events that found no ring, since the process began.
  static uint64_t ringless_drops() { return g_ringless_drops.load(std::memory_order_relaxed); }

  // The one consumer, at the start of a session: what the last one left is void.
  static void start_anew() {
    for_each([](Ring& ring) {
      ring.discard();
      if (ring.state() == Ring::State::Exited) ring.make_free(0);
    });
    Ring::share_anew();
  }
  // The one consumer, when no session records: the rings' memory is the system's.
  static void return_memory() {
    for_each([](Ring& ring) { ring.return_memory(); });
  }
  // While no session records. A thread that is inside its ring is either seen here, and waited
  // for, or sees that nothing is recorded. False when one does not come out soon.
  static bool wait_until_outside() {
    constexpr int kTries = 1000;
    if (!fence_all_threads()) return false;
    int tries = 0;
    for (uint32_t i = 0; i < count(); ++i) {
      const Ring* ring = at(i);
      while (ring != nullptr && ring->is_inside()) {
        if (++tries > kTries) return false;
        sched_yield();
      }
    }
    return true;
  }
  // In the child of fork(), on its only thread: the rings of threads that are not there are free.
  static void after_fork_in_child() {
    for_each([](Ring& ring) { ring.after_fork(&ring == t_ring ? gettid() : 0); });
    Ring::share_anew();
  }

 private:
  // A pthread key and not a thread_local's destructor, because it runs after all of those: events
  // in them are still taken. It does not run for the main thread at exit(), which goes on to run
  // the destructors of statics.
  static bool make_exit_key(pthread_key_t& key) {
    return pthread_key_create(&key, [](void* ring) {
             t_ring = nullptr;
             static_cast<Ring*>(ring)->exit_thread();
           }) == 0;
  }
  static void watch_thread_exit(Ring* ring) {
    static pthread_key_t key;
    static const bool made = make_exit_key(key);
    if (made) pthread_setspecific(key, ring);
  }

  static Ring* make(uint32_t number, int64_t thread_id) {
    void* events = mmap(nullptr, Ring::kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (events == MAP_FAILED) return nullptr;
    madvise(events, Ring::kBytes, MADV_NOHUGEPAGE);  // a page for a few events, not 2 MiB
    auto* ring =
        new (std::nothrow) Ring(number, static_cast<typename Ring::Event*>(events), thread_id);
    if (ring == nullptr) munmap(events, Ring::kBytes);
    return ring;
  }
  static Ring* claim_or_make(int64_t thread_id) {
    const uint32_t made = count();
    for (uint32_t i = 0; i < made; ++i) {
      Ring* ring = at(i);
      if (ring != nullptr && ring->claim(thread_id)) return ring;
    }
    const uint32_t number = g_count.fetch_add(1, std::memory_order_relaxed);
    if (number >= kMaxRings) {
      g_count.store(kMaxRings, std::memory_order_relaxed);
      return nullptr;
    }
    Ring* ring = make(number, thread_id);
    g_rings[number].store(ring, std::memory_order_release);
    return ring;
  }
  __attribute__((noinline)) static Ring* of_new_thread(uint32_t session) noexcept {
    if (t_refused != session) {
      t_ring = claim_or_make(gettid());
      if (t_ring != nullptr) {
        watch_thread_exit(t_ring);
        return t_ring;
      }
      t_refused = session;
    }
    g_ringless_drops.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }

  static inline constinit std::atomic<Ring*> g_rings[kMaxRings] = {};
  static inline constinit std::atomic<uint32_t> g_count{0};
  static inline constinit std::atomic<uint64_t> g_ringless_drops{0};
  // Initial-exec: one load from the thread's own block instead of a call to the dynamic linker. Its
  // few bytes fit the space that the linker keeps for libraries that are opened late.
  __attribute__((tls_model("initial-exec"))) static inline constinit thread_local Ring* t_ring =
      nullptr;
  // The session in which this thread was refused a ring: it is not asked for at every event.
  __attribute__((
      tls_model("initial-exec"))) static inline constinit thread_local uint32_t t_refused = 0;
};

}  // namespace gpufl::base
