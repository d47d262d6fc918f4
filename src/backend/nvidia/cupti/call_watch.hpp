// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/call_roles.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/nvidia/cupti/seen_contexts.hpp"
#include "backend/tracing/graph_execs.hpp"
#include "backend/tracing/launch_gate.hpp"
#include "backend/tracing/note_rings.hpp"
#include "base/ticks.hpp"

// Our subscription to CUPTI's callbacks: what they note (call_notes.hpp), and giving CUPTI up. A
// callback takes no lock and, once its thread is known, allocates nothing, but where a graph is
// instantiated or a module loaded. One object per process, never destroyed: callbacks may end late.
// All but the callbacks is called by one thread at a time.
namespace gpufl::backend {

// What a call that returns says. Both APIs return numbers of the same size, with 0 for success.
inline CUresult result_of(const CUpti_CallbackData& call) {
  return *static_cast<const CUresult*>(call.functionReturnValue);
}
inline bool has_failed(const CUpti_CallbackData& call) { return result_of(call) != CUDA_SUCCESS; }

// Told of contexts that come and go, in CUPTI's callbacks on the program's threads.
class ContextListener {
 public:
  virtual ~ContextListener() = default;
  virtual void on_context_created(CUcontext context) noexcept = 0;
  virtual void on_context_destroyed(CUcontext context) noexcept = 0;
};

class alignas(4096) CallWatch {
 public:
  // Since the process began.
  struct Counts {
    uint64_t dropped_notes = 0;                                 // found no room
    uint64_t dropped_launches = 0, dropped_graph_launches = 0;  // of them
    int64_t callback_ns = 0;  // time in callbacks, from a sample of them
  };

  static CallWatch& instance();

  // Not available: somebody else holds CUPTI's callbacks, or worse. `driver` outlives the process's
  // last callback, what `options` points to stop().
  Availability subscribe(const CuptiApi& api, const CudaDriver& driver,
                         const TraceOptions& options);
  // Also after a subscribe() that failed because a thread of the program is giving CUPTI up still.
  bool is_subscribed() const { return subscriber_ != nullptr; }
  // Calls that begin after start() and return before stop() are noted. The subscription
  // outlasts stop(), which returns when no callback uses what `options` pointed to.
  void start() { recording_.store(session_, std::memory_order_release); }
  void stop();
  // The gate that launches pass, of the subscription that there is.
  LaunchGate& launch_gate() { return launch_gate_; }
  uint32_t session() const { return session_.load(std::memory_order_relaxed); }
  // That a graph is or was captured, instantiated or launched, in this subscription or one before:
  // it may run later, or run still. Forgotten only between tests.
  bool has_seen_graphs() const { return graphs_seen_.load(std::memory_order_relaxed); }
  void forget_graphs() { graphs_seen_.store(false, std::memory_order_relaxed); }
  // Where they may run: contexts in which graphs were launched, or that were made, in this
  // subscription.
  const SeenContexts& contexts() const { return contexts_; }
  // Some stream records into a graph now.
  bool is_capturing() const {
    return (captures_.load(std::memory_order_relaxed) & ~kMayCapture) != 0;
  }
  // The program used CUDA before this subscription: streams may capture that nobody saw begin, so
  // every launch is asked about until that is over.
  void expect_captures() { captures_.fetch_or(kMayCapture, std::memory_order_relaxed); }
  void expect_no_captures() { captures_.fetch_and(~kMayCapture, std::memory_order_relaxed); }
  // From now on; null: nobody, and callbacks are done with the one before.
  void set_context_listener(ContextListener* listener);
  // When the last launch that was successful began, while notes were made. Monotonic clock; 0:
  // never. The collector's thread, or while it waits.
  int64_t last_launch_ns();
  // Gives up the subscription alone.
  void unsubscribe();
  // Gives CUPTI up entirely (cuptiFinalize), so that the program runs at its old speed. CUPTI
  // allows that when an API call returns, or when none is under way. So: where several threads make
  // calls, they are parked as these return, and this thread does it. Otherwise the next call to
  // return does it, on its own thread. When for a moment none returns and none that is watched is
  // under way, this thread does it, in a call of its own where none was seen since the
  // subscription. When a call is under way and does not return, it is left to the next that does:
  // false.
  bool finalize();
  // CUPTI must not be given up under threads that still stand at the gate, which is open: they
  // crash when they go on. False: one still does.
  bool wait_until_none_is_held() const;
  // While threads are parked: until all that make calls are, or nobody has made one for a while.
  // False: one is inside a call for long, or they are parked no more.
  bool wait_until_between_calls() const;
  // The same as finalize(), at once and on this thread: threads of the program are parked, and
  // between calls.
  void finalize_now();

  // The collector's thread: gathers what has been noted by now; then takes what was gathered, as
  // take(note, system thread id) and take(note). Notes of calls in so many portions of each thread
  // as portions() says, so that a collector which fell behind can read records in between.
  void gather();
  uint64_t portions() const;
  template <typename Take>
  void take_portion(Take&& take) {
    take_gathered<NoteRings>(kPortion, [&](CallNote note, NoteRing& ring) {
      note.place(clock_);
      take(note, static_cast<uint32_t>(ring.thread_id()));
    });
  }
  template <typename Take>
  void take_graph_nodes(Take&& take) {
    take_gathered<GraphNodeRings>(UINT64_MAX,
                                  [&](const GraphNodeNote& note, GraphNodeRing&) { take(note); });
  }
  template <typename Take>
  void take_graph_instances(Take&& take) {
    for (GraphInstance& instance : graph_instances_.take()) {
      instance.time_ns = clock_.monotonic_ns(instance.ticks);
      take(instance);
    }
  }
  // Whether what the calling thread calls from now on is the recorder's own: see OwnCalls.
  void set_own_calls(bool are_own) noexcept;
  // Nothing of an earlier session is left.
  void discard();

  Counts counts() const;
  // In the child of fork(): no callback does anything from now on.
  void after_fork_in_child();

 private:
  static void CUPTIAPI on_callback(void* watch, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);
  CUptiResult enable_callbacks(const CuptiApi& api);
  std::string other_subscriber(const CuptiApi& api) const;
  bool finalize_between_calls();
  void wait_for_finalize() const;
  bool wait_until_finalized();
  bool end_late_finalize();
  uint32_t calling_threads() const;  // since the subscription
  bool is_in_call() const;           // some thread, as far as callbacks have seen calls begin
  bool has_seen_calls() const;       // since the subscription

  // Between two launches a program may run all else that its caches hold: what is rare stands apart
  // from what every launch runs through.
  void on_call(bool is_runtime, CUpti_CallbackId id, const CUpti_CallbackData& call);
  bool on_call_in_ring(NoteRing& ring, uint32_t current, bool is_runtime, CUpti_CallbackId id,
                       WatchedCall watched, const CUpti_CallbackData& call, bool is_gated);
  [[gnu::cold]] void on_call_without_ring(bool is_runtime, CUpti_CallbackId id,
                                          const CUpti_CallbackData& call);
  void on_enter(NoteRing& ring, bool is_runtime, CUpti_CallbackId id, CallRole role,
                const CUpti_CallbackData& call);
  [[gnu::cold]] void note_own_call(NoteRing& ring, OpenCall& open);
  [[gnu::noinline]] void on_outermost(NoteRing& ring, OpenCall& open);
  void on_return(NoteRing& ring, WatchedCall watched, const CUpti_CallbackData& call,
                 bool is_outermost);
  void close(NoteRing& ring, OpenCall& open, WatchedCall watched, const CUpti_CallbackData& call);
  [[gnu::cold]] void on_return_without_ring(WatchedCall watched, const CUpti_CallbackData& call);
  uint32_t launched(WatchedCall watched, const CUpti_CallbackData& call);
  void see_graph(const CUpti_CallbackData& call) {
    graphs_seen_.store(true, std::memory_order_relaxed);
    contexts_.add(call.context);
  }
  // A call that succeeded, or failed, to begin or end a capture.
  void on_capture(CallRole role, const CUpti_CallbackData& call) {
    if (role == CallRole::CaptureBegin) begin_capture(call);
    if (role == CallRole::CaptureEnd) end_capture(call);
    if (role == CallRole::StreamDestroy) destroy_stream(call);
  }
  [[gnu::cold]] void begin_capture(const CUpti_CallbackData& call);
  [[gnu::cold]] void end_capture(const CUpti_CallbackData& call);
  [[gnu::cold]] void destroy_stream(const CUpti_CallbackData& call);
  void remember_capture(CUstream stream);
  bool forget_capture(const CUpti_CallbackData& call);
  void uncount_capture();
  void note_external(NoteRing& ring, uint32_t correlation);
  [[gnu::cold]] void look_for_external(NoteRing& ring, uint32_t correlation, uint32_t kinds);
  CallNote end_note(const OpenCall& open, WatchedCall watched,
                    const CUpti_CallbackData& call) const;
  [[gnu::cold]] void on_profiler(NoteRing& ring, CallNote note, bool starts);
  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource);
  [[gnu::cold]] void on_context(CUpti_CallbackId id, CUcontext context);
  void note_graph_node(CUpti_CallbackId id, const CUpti_GraphData& graph, uint32_t session);
  void note_cloned_node(CUgraphNode original, uint64_t clone, uint32_t session);
  [[gnu::cold]] void on_instantiated(NoteRing& ring, const CUpti_CallbackData& call);
  GraphInstance describe(NoteRing& ring, CUgraphExec exec, CUgraph graph) const;
  [[gnu::cold]] void on_graph_changed(const CUpti_CallbackData& call);
  void finalize_on_return();
  [[gnu::cold]] bool is_captured(WatchedCall watched, const CUpti_CallbackData& call);
  uint64_t now_ticks() const { return base::read_ticks(has_counter_); }
  uint32_t record_stack() const { return stacks_ != nullptr ? stacks_->record() : 0; }

  static constexpr uint64_t kPortion = 8'192;
  template <typename Rings, typename Take>
  void take_gathered(uint64_t at_most, Take&& take) {
    Rings::for_each([&](auto& ring) {
      // Asked first: a thread that has ended notes nothing more.
      const bool has_ended = ring.state() == std::decay_t<decltype(ring)>::State::Exited;
      const uint64_t left = ring.mark - ring.taken();
      ring.drain_until(ring.taken() + std::min(left, at_most),
                       [&](const auto& note) { take(note, ring); });
      if (has_ended && ring.published() == ring.taken()) ring.make_free(session_);
    });
  }

  // In this order, what every callback reads lies in a cache line and in the first page.
  std::atomic<uint32_t> recording_{0};  // the session, while notes are made
  std::atomic<uint32_t> session_{0};
  std::vector<std::unique_ptr<const CuptiApi>> tables_;  // of all that there were
  std::atomic<const CuptiApi*> api_{nullptr};            // never freed
  static constexpr uint32_t kMayCapture = 1u << 31;
  std::atomic<uint32_t> captures_{0};        // streams that record into a graph now; or kMayCapture
  std::atomic<uint32_t> external_kinds_{0};  // sorts of external ids that were met, as bits
  std::atomic<bool> graphs_seen_{false};
  std::atomic<bool> finalize_wanted_{false};
  std::atomic<bool> finalized_{false};
  // Callbacks use these while notes are made only; they are set while none are.
  bool tells_graphs_ = false;
  bool tells_external_ = false;
  bool takes_code_ = false;
  const bool has_counter_ = base::has_steady_counter();  // what the ticks of notes are
  StackRecorder* stacks_ = nullptr;
  const CudaDriver* driver_ = nullptr;
  LaunchGate launch_gate_;
  CaptureGate* gate_ = nullptr;
  void (*on_driver_up_)() = nullptr;
  WatchedCalls watched_;

  // What the calling thread calls is the recorder's own, also where it has no ring to say so.
  __attribute__((
      tls_model("initial-exec"))) static inline constinit thread_local bool t_are_own_calls = false;

  // Streams that record into a graph, as many as there are places for.
  std::array<std::atomic<CUstream>, 16> capturing_{};
  SeenContexts contexts_;
  std::atomic<uint64_t> ringless_{0}, ringless_launches_{0}, ringless_graph_launches_{0};
  GraphInstances graph_instances_;
  std::mutex listener_mutex_;
  ContextListener* context_listener_ = nullptr;
  base::TickClock clock_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

// While one lives, calls of its thread are the recorder's own: not counted, without rows, and not
// held at the launch gate, which may be shut on their behalf.
class OwnCalls {
 public:
  OwnCalls() { CallWatch::instance().set_own_calls(true); }
  ~OwnCalls() { CallWatch::instance().set_own_calls(false); }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
};

}  // namespace gpufl::backend
