// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "capture/bounded_mutex.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/gpu_recording.hpp"
#include "capture/overhead_budget.hpp"
#include "capture/service_thread.hpp"
#include "capture/step_cost.hpp"

// Attaches and detaches the recording of the GPUs while the program runs, on a thread of its own:
// - within an overhead budget, in phases that the budget pays for;
// - without one, for PC sampling, which slows launches down for as long as it is attached, and
//   those of several threads most: after the first windows for some every few minutes, with records
//   alone in between;
// - and for counters by instruction, which stay zero beside records, slow kernels down most, and
// can
//   be had once in a process: one turn of them, when the program has got going or in its first deep
//   scope, between what the engine records otherwise.
// A deep scope is recorded whatever the budget says, in a phase of its own. What is asked for by
// hand goes first: nothing is attached between pause() and resume(). Borrows what it is given.
namespace gpufl::capture {

class PhasePacer {
 public:
  // Windows of a turn of sampling, and how long until the next: of one launching thread, whose
  // first turn is a minute's, and of several, which wait for each other meanwhile.
  static constexpr uint64_t kWindowsInTurn = 10;
  static constexpr uint64_t kWindowsInFirstTurn = 60;
  static constexpr int64_t kBetweenTurns_ns = 50'000'000'000;
  static constexpr int64_t kBetweenOverlappingTurns_ns = 300'000'000'000;

  // The turn of counters begins so long after the first launch (later where samples have to be
  // taken before it), because a kernel that was not launched before it is not counted; it lasts so
  // long, until something was launched, and for as long as a deep scope is open, within a bound.
  static constexpr int64_t kBeforeCounting_ns = 500'000'000;
  static constexpr int64_t kSampledBeforeCounting_ns = 1'500'000'000;
  static constexpr int64_t kCountingTurn_ns = 2'000'000'000;
  static constexpr int64_t kLongestCounting_ns = 60'000'000'000;

  struct Parts {
    GpuRecording& recording;
    Collector& collector;
    const std::atomic<int32_t>& deep_scopes;
    double budget;            // a share; 0: none
    std::string_view engine;  // the session's; it outlives this
    bool begins_paused;       // until it is resumed by hand
    // How long the vendors' libraries are waited for.
    std::chrono::milliseconds patience = GpuRecording::kPatience;
    uint64_t seed = 0;  // of the budget's pauses
  };
  // Whether a session like that needs one at all.
  static bool is_needed(double budget, std::string_view engine) {
    return budget > 0 || takes_samples(engine) || counts_instructions(engine);
  }

  explicit PhasePacer(const Parts& parts);
  // Waits for what has not come back: see stop().
  ~PhasePacer() { (void)stop(); }
  PhasePacer(const PhasePacer&) = delete;
  PhasePacer& operator=(const PhasePacer&) = delete;

  // False when the system has no thread for us.
  bool start();
  // False: its thread is in a call of a vendor's library that has not come back, so this object,
  // and all that it was given, has to be kept for good.
  bool stop();
  // By hand, as Session's. Any thread.
  base::Status resume();
  base::Status pause();
  // What the thread does every few tens of milliseconds: sees how things stand, and acts.
  void look();

 private:
  // A phase that begins when the vendors' libraries have come back.
  struct Awaited {
    int64_t asked_ns;
    std::string_view engine;
  };

  void run();
  void take_steps();
  void look_attached(const Phase& phase, int64_t now_ns);
  void look_detached(int64_t now_ns);
  void begin_deep(const Phase& phase, int64_t now_ns);
  bool is_phase_over(const Phase& phase, int64_t now_ns);
  bool is_turn_over(const Phase& phase, int64_t now_ns);
  bool is_counting_over(const Phase& phase, int64_t now_ns) const;
  bool may_count() const;
  bool is_counting() const;  // a tracer does, now
  std::string_view next_engine() const;
  int64_t before_counting_ns() const;
  void change_turns(format::CoverageReason why, std::string_view next);
  void begin_turn(format::CoverageReason why, std::string_view engine);
  base::Status attach(format::CoverageReason why, std::string_view engine,
                      std::chrono::milliseconds patience);
  void on_attached(const Awaited& awaited);
  void on_refused(int64_t took_ns);
  void see_whether_attached();
  // False: not now, or not at all.
  bool detach(format::CoverageEnd ending);
  void on_detached();
  void settle(const Phase& phase, bool is_attached);
  bool overlaps() const;
  uint64_t windows() const;
  uint64_t launches() const;  // of the tracers that there are now
  PhaseCost cost_so_far(const Phase& phase, int64_t now_ns);
  void stay_attached(const backend::Availability& why);
  void tell_lacking(const char* feature, std::string asked, std::string got,
                    const backend::Availability& why);

  const Parts parts_;
  ServiceThread thread_;
  std::mutex stop_mutex_;
  std::condition_variable stop_cv_;
  std::atomic<bool> stopping_{false};

  BoundedMutex mutex_;  // held through a look; guards what follows
  bool is_paused_;
  std::optional<OverheadBudget> budget_;
  StepCost steps_;
  std::string_view engine_;      // of what is attached, or was last
  bool wants_attached_ = false;  // without a budget: what was detached here is attached again
  std::string_view next_turn_engine_;
  int64_t next_turn_ns_ = 0;  // of sampling, or of another attempt
  int64_t turn_rest_ns_ = 0;  // between two turns of sampling
  bool is_first_turn_ = true;
  bool has_counted_ = false;  // or could not
  std::optional<Awaited> awaited_;
  // What the tracers have counted, as of a while ago.
  PhaseCost counted_;
  int64_t counted_at_ns_ = 0;
};

}  // namespace gpufl::capture
