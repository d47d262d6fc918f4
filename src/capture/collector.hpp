// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "capture/capture_gate.hpp"
#include "capture/counter_collector.hpp"
#include "capture/deep_windows.hpp"
#include "capture/phase.hpp"
#include "capture/round_pause.hpp"
#include "capture/sample_writer.hpp"
#include "capture/sampler.hpp"
#include "capture/scope_collector.hpp"
#include "capture/service_thread.hpp"
#include "capture/stack_log.hpp"
#include "capture/step_cost.hpp"
#include "capture/warp_recorder.hpp"
#include "format/log_writer.hpp"

// The one thread that writes a session's log: every 50 ms it takes what scopes, counters, sampler,
// markers and tracers have produced and flushes, so that whatever is older than a quarter of a
// second survives the process. Borrows everything it is given.
namespace gpufl::capture {

struct CollectorParts {
  format::LogWriter& log;
  Sampler& sampler;
  backend::MarkerSource* markers;  // null: none
  RangeGate* gate;                 // null: none
  bool attributes;                 // calls will ask for their scopes
  bool takes_stacks;
  int64_t session_start_ns;
  uint32_t scope_session;                       // 0: another session has the scopes
  WarpRecorder* warps = nullptr;                // null: none
  std::atomic<int32_t>* deep_scopes = nullptr;  // set to how many are open; null: nobody asks
  bool keeps_steps = false;                     // for take_steps()
};

// A tracer, and whose it is.
struct NamedTracer {
  std::string backend;
  backend::Tracer* tracer;
};
struct NamedTraceStatus {
  std::string backend;
  backend::TraceStatus status;
};

// How it stands, as of a round.
struct CollectorStatus {
  format::Ledger ledger;                 // what is counted so far, the tracers' accounts with it
  std::vector<NamedTraceStatus> traces;  // of each tracer
  std::map<int64_t, std::string> scope_names;          // of what is pending, while they are open
  std::map<int64_t, std::vector<std::string>> stacks;  // of what is pending
};

class Collector final : private backend::RowSink {
 public:
  explicit Collector(const CollectorParts& parts);

  bool start();
  // Any thread. From the next round on `tracers` are read; returns when those before are in use no
  // more. False: the thread did not come round within `patience`; it takes them when it does. One
  // caller at a time.
  bool set_tracers(std::vector<NamedTracer> tracers, std::chrono::milliseconds patience);
  // Any thread. An `event` line with the time of the call; `fields` has at least "name". One that
  // finds no room is counted.
  void post_event(const base::Json& fields) noexcept;
  // Likewise any other object line, as it is.
  void post(format::Kind kind, base::Json line) noexcept;
  // Likewise the row of a phase, and of a deep window.
  void post_phase(const Phase& phase) noexcept;
  void post_deep_window(const DeepWindow& window) noexcept;
  // Any thread. Scopes and ranges of the program that ended since the last call.
  std::vector<Step> take_steps();
  // Any thread. When the last of the GPUs' work ended of which there is a row; 0: there is none.
  int64_t last_work_end_ns() const { return last_work_end_ns_.load(std::memory_order_relaxed); }
  // Any thread. Counts an event that its sender had no room for.
  void drop_event() noexcept;
  // Any thread. Returns when everything recorded before the call is in the log's files. False: the
  // thread did not come round within `patience`; without one it is waited for as long as it takes.
  bool flush(std::optional<std::chrono::milliseconds> patience = std::nullopt);
  // Any thread. Nothing when the thread did not come round within `patience`: it hangs in a driver
  // or in the disk.
  std::optional<CollectorStatus> status(std::chrono::milliseconds patience);
  // Takes what is left, ends open scopes and returns with the thread gone, however long the disk
  // takes. The log is the caller's again; `ledger` gets what was counted.
  void stop(format::Ledger& ledger) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  int64_t intern(format::Dict dict, std::string_view value) override;
  void submit(const format::Batch& rows) override;
  void write(format::Kind kind, const base::Json& line) override;
  backend::ScopeRef scope_at(int64_t thread, int64_t time_ns) override;
  bool is_scope_open(int64_t begin_ns, int64_t end_ns) override;
  int64_t stack(uint32_t recorded) override;
  bool keep_code(int64_t time_ns, const backend::CodeImage& image) override;
  bool is_last_round() const override { return is_last_round_; }
  void make_stack_log();

  int64_t session_now() const;
  void run();
  // One round. `everything`: also what is not yet due.
  void collect(bool everything);
  CollectorStatus make_status() const;
  void describe_pending(const backend::TraceStatus& trace, CollectorStatus& status) const;
  // What is counted here, so far.
  void account(format::Ledger& ledger) const;
  // False when there was no memory for it: what `step` had in hand is lost.
  template <typename Step>
  static bool attempt(Step&& step);
  void collect_last();
  void write_posted();
  void note_ranges(const format::Batch& markers);
  void note_work(const format::Batch& rows);
  void hand_over_steps();
  void tell_lost_rounds(int64_t now_ns);
  void write_clock(int64_t now_ns);
  void flush_log(int64_t now_ns);
  void look_at_log();
  void end_process_if_alone();

  const CollectorParts parts_;
  std::optional<ScopeCollector> scopes_;  // none: another session has them
  std::optional<StackLog> stack_log_;
  CounterCollector counters_;
  SampleWriter samples_;
  ServiceThread thread_;

  // The thread's own.
  std::vector<NamedTracer> tracers_;
  std::vector<Step> new_steps_;
  std::vector<uint32_t> recorded_stacks_;  // what stack() was asked for, by what it answered
  RoundPause pause_;
  int64_t last_gathered_ns_ = 0;
  int64_t last_flush_ns_ = 0;
  int64_t last_counters_ns_ = 0;
  int64_t last_clock_ns_ = 0;
  std::optional<int64_t> last_look_at_log_ns_;
  int64_t last_look_at_threads_ns_ = 0;
  bool is_last_round_ = false;
  bool is_process_ending_ = false;  // and nobody but us is there
  uint64_t windows_sealed_ = 0;
  uint64_t rounds_lost_ = 0;
  uint64_t rounds_lost_told_ = 0;
  uint64_t stacks_dropped_before_ = 0;

  std::atomic<int64_t> last_work_end_ns_{0};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable cv_;
  bool stopping_ = false;
  bool ended_ = true;
  std::vector<NamedTracer> next_tracers_;
  bool tracers_change_ = false;
  uint64_t flushes_asked_ = 0;
  uint64_t flushes_done_ = 0;
  bool status_asked_ = false;
  uint64_t statuses_made_ = 0;
  CollectorStatus status_;
  std::vector<std::pair<format::Kind, base::Json>> posted_;
  std::vector<Phase> posted_phases_;
  std::vector<DeepWindow> posted_windows_;
  std::vector<Step> steps_;
  uint64_t events_dropped_ = 0;
};

}  // namespace gpufl::capture
