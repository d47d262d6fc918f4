// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "backend/tracing/call_notes.hpp"
#include "backend/tracing/call_role.hpp"
#include "backend/tracing/launched_symbols.hpp"
#include "base/clock.hpp"
#include "base/thread_rings.hpp"

// The notes of one thread on their way to the collector (base/thread_rings.hpp), and what its
// callbacks remember between the beginning and the end of a call. Counts are since the process
// began.
namespace gpufl::backend {

// A storm of launches makes some 12,000 notes between two rounds.
constexpr uint32_t kNotesPerThread = 65'536;

// A call of the program that is under way, with what is inside it.
struct OpenCall {
  CallNote note{};        // as it will be when the call returns
  uint32_t launched = 0;  // kernels, or graphs, by the driver's calls in it
  CallRole role = CallRole::None;
  bool is_one_kernel = false;  // known from itself: what the driver does inside tells nothing new
};

// Launches of a thread that are under way, for the gate (launch_gate.hpp). The thread writes, any
// thread reads.
struct LaunchesInside {
  // What an earlier session saw begin may have ended unseen.
  void begin_session(uint32_t now) noexcept {
    count.store(0, std::memory_order_relaxed);
    graph_count.store(0, std::memory_order_relaxed);
    session.store(now, std::memory_order_release);
  }
  std::atomic<uint32_t> count{0};
  std::atomic<uint32_t> graph_count{0};  // of them, or about to be: calls that may make a graph
  std::atomic<uint32_t> session{0};
};

class NoteRing : public base::EventRing<CallNote, kNotesPerThread, kNotesPerThread> {
 public:
  using EventRing::EventRing;

  // Producer, before anything else of its kind in a session.
  void begin_session(uint32_t session) noexcept {
    if (!enter_session(session)) return;
    open_count = 0;
    launches = 0;
    is_instantiating = false;
    symbols.clear();
  }
  // Producer.
  void push(const CallNote& note) noexcept {
    if (CallNote* slot = claim_slot()) {
      *slot = note;
      publish();
      return;
    }
    if (note.kind == CallNoteKind::Launch) add(dropped_launches);
    if (note.kind == CallNoteKind::GraphLaunch) add(dropped_graph_launches);
  }
  // Producer. The call with this id that is under way on this thread, if any: a call of the
  // runtime's has the driver's inside, with the same id.
  OpenCall* find_open(uint32_t correlation) noexcept {
    if (open_count == 0) return nullptr;
    OpenCall& last = open[open_count - 1];
    return last.note.correlation == correlation ? &last : find_outer(correlation);
  }
  bool is_in_one_kernel(uint32_t in_session, uint32_t correlation) const noexcept {
    if (open_count == 0 || session() != in_session) return false;
    const OpenCall& last = open[open_count - 1];
    return last.is_one_kernel && last.note.correlation == correlation;
  }
  [[gnu::cold]] OpenCall* find_outer(uint32_t correlation) noexcept {
    for (uint32_t i = open_count; i-- > 0;) {
      if (open[i].note.correlation == correlation) return &open[i];
    }
    return nullptr;
  }
  OpenCall& push_open() noexcept {
    // More than any program has under way at once: left by calls that will never return.
    if (open_count == kMaxOpen) open_count = 0;
    open[open_count] = {};
    return open[open_count++];
  }
  // Together with those inside it that have not returned, and never will.
  void pop_open(const OpenCall* call) noexcept { open_count = static_cast<uint8_t>(call - open); }
  void begin_call() noexcept { add(open_calls); }
  void end_call() noexcept {
    const uint32_t open = open_calls.load(std::memory_order_relaxed);
    if (open != 0) open_calls.store(open - 1, std::memory_order_release);
  }
  void add_timed(int64_t ns) noexcept {
    timed_ns.store(timed_ns.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  }

  // The producer's own. What every call touches shares a cache line.
  static constexpr uint32_t kMaxOpen = 4;
  alignas(64) std::atomic<uint64_t> last_launch_ticks{0};  // of a launch that was successful
  std::atomic<uint32_t> open_calls{0};                     // whatever session saw them begin
  LaunchesInside launches_inside;
  uint32_t launches = 0;  // in session()
  uint8_t open_count = 0;
  uint8_t until_timed = 1;  // callbacks
  bool is_own = false;      // the recorder itself calls
  // While it instantiates a graph whose topology is wanted: handles of its nodes, and the
  // ids that GPU records give to those made of them.
  bool is_instantiating = false;
  OpenCall open[kMaxOpen];
  std::vector<std::pair<const void*, uint64_t>> cloned_nodes;

  // Written by the producer, read by any thread.
  std::atomic<int64_t> timed_ns{0};  // in those callbacks that were timed
  std::atomic<uint64_t> dropped_launches{0}, dropped_graph_launches{0};

  LaunchedSymbols symbols;

  alignas(64) uint64_t mark = 0;  // the consumer's: notes before it have been gathered
};
using NoteRings = base::ThreadRings<NoteRing>;

// A callback's stay in its thread's ring, timed now and then.
class InsideRing {
 public:
  // One callback in so many. A prime: calls have two or four callbacks each, of unequal cost, and
  // each has its turn.
  static constexpr uint8_t kTimedEvery = 61;
  static_assert(std::gcd(kTimedEvery, 12) == 1);
  explicit InsideRing(NoteRing& ring) : ring_(ring) {
    ring.enter();
    if (--ring.until_timed == 0) [[unlikely]]
      began_ns_ = begin_timed(ring);
  }
  ~InsideRing() {
    if (began_ns_ != 0) [[unlikely]]
      end_timed();
    ring_.leave();
  }
  InsideRing(const InsideRing&) = delete;
  InsideRing& operator=(const InsideRing&) = delete;

 private:
  [[gnu::cold]] static int64_t begin_timed(NoteRing& ring) {
    ring.until_timed = kTimedEvery;
    return base::monotonic_ns();
  }
  [[gnu::cold]] void end_timed() { ring_.add_timed(base::monotonic_ns() - began_ns_); }
  NoteRing& ring_;
  int64_t began_ns_ = 0;
};

class GraphNodeRing : public base::EventRing<GraphNodeNote, kNotesPerThread, kNotesPerThread> {
 public:
  using EventRing::EventRing;
  uint64_t mark = 0;  // the consumer's
};
using GraphNodeRings = base::ThreadRings<GraphNodeRing>;

}  // namespace gpufl::backend
