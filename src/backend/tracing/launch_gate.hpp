// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backend/tracing/note_rings.hpp"

// Holds the program's threads at the entry of a launch while PC sampling opens or closes a window,
// which can bear no launch under way; and at the exit of one while a recording beside graphs ends.
// The only place where the recorder makes the program wait; ARCHITECTURE.md has the bounds.
//
// A launch pays two stores to its thread's own cache line and a load. The one who shuts the gate
// pays for the order between the two: every thread of the process is made to pass a fence.
namespace gpufl::backend {

class LaunchGate {
 public:
  // Who keeps it shut. Each opens it for itself alone: it is open when nobody keeps it shut.
  enum class For : uint32_t {
    Calls = 1,       // of the vendor's, that cannot bear a launch: one caller at a time
    NewContext = 2,  // one that has to be attached before its first launch
  };
  // Since begin_counts().
  struct Counts {
    uint64_t held = 0;  // launches that waited
    uint64_t held_ns = 0, longest_ns = 0;
  };

  // The program's threads. A launch inside another passes.
  void enter(LaunchesInside& inside, uint32_t session, bool makes_graph = false) noexcept {
    if (inside.session.load(std::memory_order_relaxed) != session) [[unlikely]]
      inside.begin_session(session);
    if (makes_graph) [[unlikely]]
      enter_graph(inside);
    const uint32_t before = inside.count.load(std::memory_order_relaxed);
    inside.count.store(before + 1, std::memory_order_relaxed);
    // shut() sees the count, or the load below sees that it is shut.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (shut_.load(std::memory_order_acquire) != 0 && before == 0) [[unlikely]]
      wait(inside);
  }
  // Whether the thread is inside none any more.
  bool leave(LaunchesInside& inside, bool makes_graph = false) noexcept {
    if (makes_graph) [[unlikely]]
      leave_graph(inside);
    const uint32_t count = inside.count.load(std::memory_order_relaxed);
    if (count != 0) inside.count.store(count - 1, std::memory_order_release);
    return count <= 1;
  }
  // Of threads without a ring.
  void enter_without_ring() noexcept;
  void leave_without_ring() noexcept { ringless_inside_.fetch_sub(1, std::memory_order_release); }

  // The program's threads, when a launch has returned and nothing of theirs is under way any more:
  // where threads are parked, this one waits there.
  void pass_exit() noexcept {
    if (parking_.load(std::memory_order_acquire) != 0) [[unlikely]]
      wait_parked();
  }
  // Parks threads as they return from a launch, until unpark(), or until they have waited for
  // kLongestPark: then is_parking() turns false. For what cannot bear threads at the entry.
  static constexpr int64_t kLongestPark_ns = 600'000'000;
  void park() noexcept;
  void unpark() noexcept { parking_.store(0, std::memory_order_release); }
  bool is_parking() const { return parking_.load(std::memory_order_acquire) != 0; }
  uint32_t parked() const { return parked_.load(std::memory_order_acquire); }
  // Any thread.
  bool is_launch_under_way(uint32_t session) const;

  // Makes launches that begin from now on wait, without waiting for those under way. Any thread.
  void close(For why = For::Calls) noexcept;
  // The same for calls, and waits until no launch of `session` is under way: false, and open again
  // as far as calls go, where one is still after `patience`, where those who wait have opened it
  // meanwhile, or where the system has no fence for us. One caller at a time.
  bool shut(uint32_t session, std::chrono::microseconds patience);
  // The same, for what cannot bear a call that makes a graph: beside any other that lasts longer
  // it stays shut.
  enum class Inside : uint8_t {
    Nobody,
    Others,      // or it cannot be told: the system has no fence for us
    MakesGraph,  // and it is open again
  };
  Inside shut_to_graphs(uint32_t session, std::chrono::microseconds patience);
  void open(For why = For::Calls) noexcept;
  // For all. Also done by those who wait, when it has been shut for this long, or as renew() says.
  static constexpr int64_t kLongestShut_ns = 2'500'000'000;
  void force_open() noexcept { shut_.store(0, std::memory_order_release); }
  // Threads, for it; those who have not counted their hold yet are among them.
  uint32_t waiting() const { return waiting_.load(std::memory_order_acquire); }
  // It stays shut, for another call: the bound begins anew, and is this one until it is opened.
  void renew(int64_t longest_ns = kLongestShut_ns) noexcept;
  bool is_shut() const { return shut_.load(std::memory_order_acquire) != 0; }
  // Monotonic clock; 0: it is open.
  int64_t shut_since_ns() const {
    return is_shut() ? since_ns_.load(std::memory_order_acquire) : 0;
  }

  Counts counts() const;
  Counts counts_when_released() const;  // with those who have just been let go
  // The longest hold since this was asked last. One caller.
  uint64_t take_longest_ns() noexcept {
    return longest_since_ns_.exchange(0, std::memory_order_relaxed);
  }
  void begin_counts() noexcept;
  void after_fork_in_child() noexcept;

 private:
  [[gnu::cold, gnu::noinline]] void wait(LaunchesInside& inside) noexcept;
  void wait_until_open() noexcept;
  static void enter_graph(LaunchesInside& inside) noexcept {
    inside.graph_count.store(inside.graph_count.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
  }
  static void leave_graph(LaunchesInside& inside) noexcept {
    const uint32_t count = inside.graph_count.load(std::memory_order_relaxed);
    if (count != 0) inside.graph_count.store(count - 1, std::memory_order_relaxed);
  }
  bool wait_until_outside(uint32_t session, std::chrono::microseconds patience) const;
  bool is_graph_made(uint32_t session) const;
  [[gnu::cold, gnu::noinline]] void wait_parked() noexcept;
  void add_hold(int64_t began_ns) noexcept;

  std::atomic<uint32_t> shut_{0};  // For, as bits
  std::atomic<uint32_t> waiting_{0};
  std::atomic<int> parking_{0};
  std::atomic<uint32_t> parked_{0};
  std::atomic<int64_t> parking_since_ns_{0};
  std::atomic<int64_t> since_ns_{0};  // while it is shut
  std::atomic<int64_t> longest_shut_ns_{kLongestShut_ns};
  std::atomic<uint32_t> ringless_inside_{0};
  std::atomic<uint64_t> held_{0}, held_ns_{0}, longest_ns_{0}, longest_since_ns_{0};
};

}  // namespace gpufl::backend
