// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "base/status.hpp"
#include "capture/bounded_mutex.hpp"
#include "capture/deep_windows.hpp"
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
// - and for counters, which are wrong beside records: one turn of them, in which nothing else is
//   recorded, between what the engine records otherwise. Counters by instruction can be had once in
//   a process: when the program has got going, or in its first deep scope or window.
// Deep scopes and deep windows are recorded whatever the budget says, in phases of their own. Where
// the engine is for windows only, all else is recorded as Trace does. What is asked for by hand
// goes first: nothing is attached between pause() and resume(). Borrows what it is given.
namespace gpufl::capture {

class PhasePacer {
 public:
  // Windows of a turn of sampling, and how long until the next: of one launching thread, whose
  // first turn is a minute's, and of several, which wait for each other meanwhile.
  static constexpr uint64_t kWindowsInTurn = 10;
  static constexpr uint64_t kWindowsInFirstTurn = 60;
  // Attempts at a window that failed, because a call of the program's was under way, come ten times
  // a second: so many take a turn as long as a window would.
  static constexpr uint64_t kSkippedForOne = 10;
  static constexpr int64_t kBetweenTurns_ns = 50'000'000'000;
  static constexpr int64_t kBetweenOverlappingTurns_ns = 300'000'000'000;

  // The turn of counters by instruction begins so long after the first launch (later where samples
  // have to be taken before it), because a kernel that was not launched before it is not counted;
  // it lasts so long, until something was launched, and for as long as a deep scope is open, within
  // a bound. That of counters by scope comes first, and lasts until they are all counted, within
  // it.
  static constexpr int64_t kBeforeCounting_ns = 500'000'000;
  static constexpr int64_t kSampledBeforeCounting_ns = 1'500'000'000;
  static constexpr int64_t kCountingTurn_ns = 2'000'000'000;
  static constexpr int64_t kLongestCounting_ns = 60'000'000'000;

  struct Parts {
    GpuRecording& recording;
    Collector& collector;
    backend::DeepDemand& deep;
    DeepWindows& windows;
    // Of the metric that opens windows, where the tracers do not have it.
    std::function<std::optional<double>()> gpu_utilization;
    double budget;            // a share; 0: none
    std::string_view engine;  // the session's; it outlives this
    bool begins_paused;       // until it is resumed by hand
    // How long the vendors' libraries are waited for.
    std::chrono::milliseconds patience = GpuRecording::kPatience;
    uint64_t seed = 0;  // of the budget's pauses
  };
  // Whether a session like that needs one at all.
  static bool is_needed(double budget, std::string_view engine) {
    return budget > 0 || has_deep_windows(engine);
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
  // After stop() and the recording's account: the window that the session's end has closed.
  std::optional<DeepWindow> end_window();
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
  // Deep scopes and windows: phase_pacer_deep.cpp.
  bool is_deep() const;
  format::CoverageReason deep_reason() const;
  void set_demand(format::CoverageReason why);
  std::string_view deep_engine(bool may_count_now) const;
  void begin_deep(const Phase& phase, int64_t now_ns);
  bool keeps_counting(const Phase& phase, int64_t now_ns) const;
  void begin_window_detached();
  void end_window_phase(const Phase& phase);
  void begin_another(format::CoverageEnd ending, const PhaseRequest& request);
  void note_ended(const Phase& phase);
  void give_up_window(const base::Status& why);
  void look_at_windows(int64_t now_ns);
  void see_window_phase(const Phase& phase, int64_t now_ns);
  std::optional<double> watched_value(int64_t now_ns);
  void post_windows();
  void post_window_events();
  std::string engine_trouble() const;
  std::string_view resting_engine() const;
  bool is_phase_over(const Phase& phase, int64_t now_ns);
  bool is_turn_over(const Phase& phase, int64_t now_ns);
  bool is_counting_over(const Phase& phase, int64_t now_ns) const;
  void wait_for_launches(int64_t now_ns);
  bool may_count() const;
  bool is_counting() const;  // a tracer does, now
  std::string_view next_engine() const;
  int64_t before_counting_ns() const;
  void change_turns(format::CoverageReason why, std::string_view next,
                    format::CoverageEnd ending = format::CoverageEnd::Schedule);
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
  struct Windows {
    uint64_t taken = 0, skipped = 0;
    uint64_t in_turn() const { return taken + skipped / kSkippedForOne; }
  };
  Windows windows() const;
  void tell_of_no_window(const Windows& windows);
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
  bool has_counted_ = false;        // or could not
  std::string why_not_counted_;     // then; empty: it has
  bool is_window_wanted_ = false;   // as of this look: others may close it meanwhile
  bool is_window_counted_ = false;  // counters had their turn in the window that is open
  std::string phase_trouble_;       // of the window's phase that is under way
  int64_t noted_phase_ns_ = -1;     // the window's phase that was counted last
  RateOfCount launch_rate_;
  std::optional<double> gpu_utilization_;  // as of a while ago
  int64_t gpu_utilization_at_ns_ = 0;
  std::optional<Awaited> awaited_;
  // What the tracers have counted, as of a while ago.
  PhaseCost counted_;
  SampledTime sampled_;
  int64_t counted_at_ns_ = 0;
  bool has_told_of_no_window_ = false;
};

}  // namespace gpufl::capture
