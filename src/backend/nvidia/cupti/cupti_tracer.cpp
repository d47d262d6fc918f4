// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/cupti_tracer.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "backend/nvidia/code/module_watch.hpp"
#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/nvidia/cupti/call_watch.hpp"
#include "backend/nvidia/cupti/code_sources.hpp"
#include "backend/nvidia/cupti/cupti_library.hpp"
#include "backend/nvidia/cupti/engine_choice.hpp"
#include "backend/nvidia/cupti/quiet_gpu.hpp"
#include "backend/nvidia/cupti/record_delivery.hpp"
#include "backend/nvidia/cupti/tracer_notes.hpp"
#include "backend/tracing/launch_overlap.hpp"
#include "backend/tracing/silence_watch.hpp"
#include "base/clock.hpp"
#include "format/clock_line.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

// Flushed this often, a record is at most about two rounds old when it reaches the log.
constexpr int64_t kFlushEveryNs = 50'000'000;
// CUPTI tells GPU time by interpolation: a record may seem to end a little after it was read.
constexpr int64_t kClockSlackNs = 10'000'000;
constexpr int64_t kTellEveryNs = 10'000'000'000;
constexpr int64_t kClockEveryNs = 10'000'000'000;
constexpr size_t kPendingTold = 64;
// CUPTI's version of CUDA 12.6. Before it, what has launched graphs cannot do without CUPTI again.
constexpr uint32_t kGraphsSurviveDetaching = 24;
// Captures that began before we were there have launched something by then.
constexpr int64_t kUnseenCapturesNs = 2'000'000'000;
// Graphs that were launched before we were there have been launched again by then, or have ended.
constexpr int64_t kUnseenGraphsNs = 500'000'000;
// Calls that were under way when we subscribed, and which nobody counts, have returned by then.
constexpr std::chrono::milliseconds kUnseenCalls{20};
constexpr std::chrono::microseconds kOpenPatience{50'000};
// A graph is being made: then it is tried again, for a second.
constexpr std::chrono::milliseconds kBetweenTries{50};
constexpr int kOpenTries = 10;
constexpr int64_t kLongestOpening_ns = 200'000'000;

// Of the process. A child of fork() has neither the threads nor a CUDA that works: what its parent
// has attached it must not touch, nor any lock of ours that may be held.
struct Process {
  std::atomic_flag is_tracing = ATOMIC_FLAG_INIT;
  std::atomic<bool> is_attached{false};
  std::atomic<bool> parent_was_attached{false};
  std::atomic<uint32_t> forks{0};
  std::atomic<bool> told_driver_up{false};    // to a session that began late
  std::atomic<int64_t> last_session_ns{0};    // the start of the last tracer's session
  std::atomic<int64_t> told_contexts_ns{-1};  // likewise, of whom some contexts are not attached
};
constinit Process g_process;

void after_fork_in_child() {
  ++g_process.forks;
  if (g_process.is_attached) g_process.parent_was_attached = true;
  g_process.is_attached = false;
  g_process.is_tracing.clear();
  CallWatch::instance().after_fork_in_child();
  cuda_start_after_fork_in_child();
}

void watch_forks() {
  static const int watched = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  (void)watched;
}

// Never destroyed: callbacks use it. Made when CUDA is in use: it loads libcuda.
const CudaDriver& driver() {
  static const auto* const cuda = new CudaDriver;
  return *cuda;
}

Availability graph_is_made() {
  return {false, "graph_under_way",
          "a thread of the program is making a CUDA graph, and would crash if CUPTI began to make "
          "records meanwhile",
          "start recording before the program makes its graphs, or once it has made them"};
}

// CUDA does not list contexts: those that the program made before the recording are seen first when
// something is launched in them.
Availability context_made_before() {
  return {false, "context_made_before",
          "the program launches in a context that it made with cuCtxCreate before this recording "
          "began, which only sees primary contexts and those made later",
          "use primary contexts, as the CUDA runtime does, or begin recording before that"};
}

class CuptiTracer final : public Tracer, private CudaStartListener {
 public:
  CuptiTracer(std::shared_ptr<CuptiLibrary> cupti, const TraceOptions& options,
              SessionDevices devices)
      : options_(options), session_devices_(std::move(devices)), cupti_(std::move(cupti)) {
    watch_forks();
    forks_ = g_process.forks;
  }
  ~CuptiTracer() override {
    if (is_forked()) return;
    stop();
    const std::lock_guard lock(mutex_);
    detach();
    if (keeps_code_) ModuleWatch::instance().stop();
  }

  Availability start(int64_t session_start_ns) override;
  std::vector<Limitation> limitations() const override;
  void stop() override;
  void gather(int64_t now_ns) override;
  void ask_next_time() override { asks_next_time_ = true; }
  size_t gathered_bytes() const override;
  void drain(int64_t now_ns, RowSink& sink) override;
  void account(format::Ledger& ledger) const override;
  TraceStatus status() const override;
  bool may_detach() const override { return !CallWatch::instance().is_capturing(); }
  std::optional<Availability> cannot_detach() const override;
  bool is_still_attached() const override { return stays_attached_; }
  bool end_sampling() override;

 private:
  enum class State { Idle, Waiting, Running, Failed, Stopped, Detached };

  bool is_forked() const { return g_process.forks != forks_; }
  int64_t session_now() const { return base::monotonic_ns() - session_start_ns_; }
  void on_cuda_start() override;
  void attach_late(const char* when, bool has_contexts);
  // `has_contexts`: the program has used CUDA for a while.
  Availability attach(bool has_contexts);
  void start_engine();
  void tell_engine_lacking(const Availability& why, std::string_view got = format::kTraceEngine);
  Availability open_records(bool has_contexts);
  Availability fail(const Availability& why);
  void begin_code();
  void take_note(const CallNote& note, uint32_t thread, RowSink& sink);
  void watch_silence();
  void watch_engine();
  void end_engine();
  void note_context(uint32_t context);
  RecordDelivery::Running quieten();
  std::optional<Availability> must_stay() const;
  void leave_to_others();
  void watch_refusals(int64_t now_ns);
  void write_clock(int64_t now_ns, RowSink& sink);
  void detach();
  void tell_unavailable(const Availability& why);
  void publish_status();
  const CuptiApi& api() const { return cupti_->api(); }

  TraceOptions options_;
  const SessionDevices session_devices_;
  uint32_t forks_ = 0;

  // stop() comes from the program's thread, the rounds from the collector's, CUDA's start from
  // whoever starts it; CUPTI must not be given up under another's feet. Never held while CUDA's
  // driver is asked whether it is there: it may be just starting us.
  mutable std::mutex mutex_;
  State state_ = State::Idle;
  std::shared_ptr<CuptiLibrary> cupti_;
  RecordDelivery records_;
  bool is_subscribed_ = false;
  bool is_others_ = false;  // another tool has CUPTI's records
  bool keeps_code_ = false;
  bool is_late_ = false;  // the program used CUDA before
  bool is_refused_by_graph_ = false;
  int64_t attached_ns_ = 0;
  Availability failure_;
  std::vector<Limitation> limitations_;
  std::optional<DeviceNumbers> devices_;
  std::optional<ActivityDecoder> decoder_;
  int64_t session_start_ns_ = 0;
  CallWatch::Counts notes_before_, notes_;
  LaunchGate::Counts held_;
  std::unique_ptr<ContextEngine> engine_;  // null: there are records alone
  std::optional<QuietGpu> quiet_;          // from stop() until CUPTI is given up
  std::atomic<bool> stays_attached_{false};

  // Of the rounds.
  int64_t last_flush_ns_ = 0;
  int64_t last_clock_ns_ = 0;
  bool flushed_ = false;
  bool asks_next_time_ = false;  // the collector's thread alone
  bool gathered_last_ = false;
  LaunchOverlap overlap_;
  uint32_t last_context_ = 0;  // that something was launched in
  SilenceWatch silence_;
  bool is_silent_ = false;
  uint64_t refusals_told_ = 0;
  int64_t refusals_told_ns_ = 0;
  TracerNotes told_;

  mutable std::mutex status_mutex_;
  TraceStatus status_;
};

Availability CuptiTracer::start(int64_t session_start_ns) {
  if (is_forked() || g_process.parent_was_attached) {
    return {false, "forked",
            "this process is the child of a fork() of one that uses CUDA: CUDA does not work here",
            "start such processes with exec (multiprocessing: spawn or forkserver)"};
  }
  if (g_process.is_tracing.test_and_set()) {
    return {false, "taken", "another session of this process records the GPU", ""};
  }
  // Asked before the lock is taken: see mutex_.
  const bool is_initialised = is_cuda_initialised();
  const bool waits = cupti_ == nullptr && should_wait_for_cuda();
  Availability started{true, "", "", ""};
  {
    const std::lock_guard lock(mutex_);
    session_start_ns_ = session_start_ns;
    state_ = State::Waiting;
    const bool is_first = g_process.last_session_ns.exchange(session_start_ns) != session_start_ns;
    // A later tracer of a session has nothing new to say of it.
    if (is_initialised && is_first) {
      told_.tell("cuda_initialised", 0, "before the session: earlier work is not in it");
    }
    if (!waits) started = attach(is_initialised);
    publish_status();
  }
  if (waits) listen_for_cuda_start(this);
  return started;
}

void CuptiTracer::on_cuda_start() {
  if (is_forked()) return;
  const std::lock_guard lock(mutex_);
  if (state_ == State::Waiting) {
    attach_late("while the session runs, noticed in time", false);
  }
}

void CuptiTracer::attach_late(const char* when, bool has_contexts) {
  told_.tell("cuda_initialised", session_now(), when);
  const Availability attached = attach(has_contexts);
  if (!attached.available) tell_unavailable(attached);
  for (const Limitation& one : limitations_) {
    told_.tell("trace_limited", session_now(), one.why.detail, one.why.hint)
        .set("feature", one.feature)
        .set("reason", one.why.reason);
    told_.tell_lacking(one.feature, "on", "off", one.why);
  }
  publish_status();
}

Availability CuptiTracer::attach(bool has_contexts) {
  Availability why;
  if (cupti_ == nullptr) cupti_ = CuptiLibrary::open(why);
  if (cupti_ == nullptr) return fail(why);
  std::optional<BesideCaptures> beside_captures;
  if (has_contexts) {
    beside_captures.emplace(driver().exchange_capture_mode());
    // It came up unseen, in a pause of the session.
    const bool tells = options_.on_driver_up != nullptr && !g_process.told_driver_up.exchange(true);
    if (tells) options_.on_driver_up();
  }
  g_process.is_attached = true;
  CallWatch& watch = CallWatch::instance();
  watch.discard();
  notes_before_ = watch.counts();
  if (options_.code) begin_code();
  Availability watching = watch.subscribe(api(), driver(), options_);
  is_subscribed_ = watching.available;
  const bool is_being_given_up = !is_subscribed_ && watch.is_subscribed();
  if (is_being_given_up) return fail(watching);
  is_late_ = has_contexts;
  if (is_late_) watch.expect_captures();
  if (!is_subscribed_) {
    limitations_.push_back({"launch_count", watching});
    if (options_.stacks != nullptr) limitations_.push_back({"enable_stack_trace", watching});
  }
  // Without callbacks nobody else tells of calls.
  options_.call_records |= !is_subscribed_;
  // Subscribing may have waited until the program was about to end.
  if (options_.is_unwanted != nullptr && *options_.is_unwanted) {
    return fail({false, "paused", "recording was ended before it began", ""});
  }
  is_others_ = !RecordDelivery::may_register(api(), is_subscribed_);
  if (is_others_) return fail(watching);
  if (options_.has_engine()) start_engine();
  Availability opened = open_records(has_contexts);
  if (!opened.available) return fail(opened);
  if (engine_ != nullptr) watch.set_context_listener(engine_.get());
  devices_.emplace(driver(), session_devices_);
  decoder_.emplace(api(), *devices_, records_.clock_origins(), options_);
  // Notes begin after records have, so that every launch noted has a record.
  if (is_subscribed_) watch.start();
  attached_ns_ = base::monotonic_ns();
  state_ = State::Running;
  return opened;
}

void CuptiTracer::start_engine() {
  Availability why = engine_support(*cupti_, options_, is_subscribed_);
  if (why.available) {
    CallWatch& watch = CallWatch::instance();
    const EnginePlace place{api(),           driver(),         watch.launch_gate(),
                            watch.session(), session_devices_, session_start_ns_};
    engine_ = ContextEngine::start(make_worker(place, options_));
    if (engine_ != nullptr) return;
    why = {false, "no_thread", "the system could not start a thread for the engine", ""};
  }
  tell_engine_lacking(why);
  options_.sass.reset();  // so there are records
  options_.ranges.reset();
}

void CuptiTracer::tell_engine_lacking(const Availability& why, std::string_view got) {
  told_.tell_lacking("profiling_engine", engine_name(options_), got, why);
}

// CUPTI that begins to make records under a thread which makes a graph crashes there. Sampling of
// contexts that are in use begins behind the same gate: PcSampler says why.
Availability CuptiTracer::open_records(bool has_contexts) {
  using Inside = LaunchGate::Inside;
  const auto open = [&] { return records_.open(api(), options_, session_start_ns_, limitations_); };
  if (!is_subscribed_ || !has_contexts) return open();
  LaunchGate& gate = CallWatch::instance().launch_gate();
  const uint32_t session = CallWatch::instance().session();
  std::this_thread::sleep_for(kUnseenCalls);
  Inside inside = gate.shut_to_graphs(session, kOpenPatience);
  for (int tries = 1; inside == Inside::MakesGraph && tries < kOpenTries; ++tries) {
    std::this_thread::sleep_for(kBetweenTries);
    inside = gate.shut_to_graphs(session, kOpenPatience);
  }
  is_refused_by_graph_ = inside == Inside::MakesGraph;
  if (is_refused_by_graph_) return graph_is_made();
  // CUPTI may have to wait for a call that is inside: not with everybody at the gate.
  if (inside == Inside::Others) gate.renew(kLongestOpening_ns);
  Availability opened = open();
  if (inside == Inside::Nobody && opened.available && engine_ != nullptr) {
    engine_->attach();
    return opened;
  }
  gate.open();
  if (opened.available && engine_ != nullptr) {
    tell_engine_lacking({false, "launch_hangs",
                         "a launch of the program did not return when the engine was about to "
                         "begin",
                         "start recording before the program launches, or somewhat later"});
  }
  return opened;
}

void CuptiTracer::begin_code() {
  keeps_code_ = options_.code = api().cuptiGetCubinCrc != nullptr;
  if (keeps_code_) {
    ModuleWatch::instance().start(code_sources(api(), driver()), session_start_ns_);
  } else {
    limitations_.push_back({"code",
                            {false, "cupti_too_old", "this CUPTI has no cuptiGetCubinCrc",
                             "use the CUPTI of CUDA 12.0 or newer"}});
  }
}

Availability CuptiTracer::fail(const Availability& why) {
  detach();
  state_ = State::Failed;
  return failure_ = why;
}

void CuptiTracer::stop() {
  if (is_forked()) return;
  forget_cuda_start(this);
  const std::lock_guard lock(mutex_);
  if (state_ == State::Waiting) {
    told_.tell("cuda_not_used", session_now(),
               "the program did not initialise CUDA in this session");
    state_ = State::Stopped;
  } else if (state_ == State::Running) {
    const BesideCaptures beside_captures(driver().exchange_capture_mode());
    end_engine();
    // Notes end before records do, for the same reason that they began later.
    if (is_subscribed_) CallWatch::instance().stop();
    const RecordDelivery::Running running = quieten();
    const int64_t owed_since_ns = options_.counts() ? 0 : CallWatch::instance().last_launch_ns();
    if (!records_.close(api(), owed_since_ns, running)) {
      leave_to_others();
    } else if (running == RecordDelivery::Running::Left) {
      decoder_->account().leave_unfinished();
    }
    state_ = State::Stopped;
  }
  publish_status();
}

// The lock is not held while the sampler ends: rounds go on.
bool CuptiTracer::end_sampling() {
  if (is_forked()) return false;
  ContextEngine* engine = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::Running || engine_ == nullptr) return false;
    TraceStatus status;
    engine_->report(status);
    const bool samples = status.sampling && status.sampling->state == "sampling";
    if (!samples && status.counting != "counting") return false;
    engine = engine_.get();
  }
  engine->end();
  CallWatch::instance().set_context_listener(nullptr);
  return true;
}

// It is told of contexts that go for as long as it makes calls for them.
void CuptiTracer::end_engine() {
  if (engine_ == nullptr) return;
  engine_->end();
  CallWatch::instance().set_context_listener(nullptr);
}

// Beside graphs the program waits from here until CUPTI has been given up, in the next round.
RecordDelivery::Running CuptiTracer::quieten() {
  CallWatch& watch = CallWatch::instance();
  const bool has_seen_graphs = watch.has_seen_graphs();
  const bool is_young = base::monotonic_ns() - attached_ns_ < kUnseenGraphsNs;
  if (!is_subscribed_ || (!has_seen_graphs && !(is_late_ && is_young))) {
    return RecordDelivery::Running::Forced;
  }
  quiet_.emplace(watch.launch_gate(), watch.session(), driver().contexts());
  if (quiet_->is_quiet()) return RecordDelivery::Running::None;
  if (has_seen_graphs) return RecordDelivery::Running::Left;
  quiet_.reset();
  return RecordDelivery::Running::Forced;
}

void CuptiTracer::gather(int64_t now_ns) {
  if (is_forked()) return;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::Waiting) {
      if (state_ != State::Running && state_ != State::Stopped) return;
      if (decoder_ == std::nullopt) return;
      if (engine_ != nullptr) engine_->gather();
      const bool is_old = base::monotonic_ns() - attached_ns_ > kUnseenCapturesNs;
      if (is_late_ && is_old) CallWatch::instance().expect_no_captures();
      const bool is_due =
          std::exchange(asks_next_time_, false) || now_ns - last_flush_ns_ >= kFlushEveryNs;
      flushed_ = state_ == State::Running && is_due;
      if (flushed_) {
        last_flush_ns_ = now_ns;
        records_.flush(api());
      }
      // Buffers before notes: so the note of a call that has returned is in hand with its records.
      records_.gather();
      if (is_subscribed_) CallWatch::instance().gather();
      gathered_last_ = state_ == State::Stopped;
      return;
    }
  }
  if (!is_cuda_initialised()) return;
  forget_cuda_start(this);
  const std::lock_guard lock(mutex_);
  if (state_ == State::Waiting) {
    attach_late("while the session runs, noticed late: the first calls are not in the log", true);
  }
}

size_t CuptiTracer::gathered_bytes() const {
  if (is_forked()) return 0;
  const std::lock_guard lock(mutex_);
  return records_.gathered_bytes();
}

void CuptiTracer::drain(int64_t now_ns, RowSink& sink) {
  if (is_forked()) return;
  const std::lock_guard lock(mutex_);
  if (decoder_ && (state_ == State::Running || (state_ == State::Stopped && gathered_last_))) {
    CallWatch& watch = CallWatch::instance();
    if (is_subscribed_) {
      watch.take_graph_nodes(
          [&](const GraphNodeNote& note) { decoder_->account().note(note, sink); });
      watch.take_graph_instances(
          [&](const GraphInstance& instance) { decoder_->account().note(instance, sink); });
    }
    const int64_t latest_ns = std::max(now_ns, session_now()) + kClockSlackNs;
    for (uint64_t left = is_subscribed_ ? watch.portions() : 1; left != 0; --left) {
      if (is_subscribed_) {
        watch.take_portion(
            [&](const CallNote& note, uint32_t thread) { take_note(note, thread, sink); });
      }
      records_.decode(api(), left, latest_ns, *decoder_, sink);
    }
    if (engine_ != nullptr) watch_engine();
    if (engine_ != nullptr) engine_->drain(*devices_, sink);
    overlap_.end_round();
    if (state_ == State::Running) {
      // Between flushes most of what is read waits for its call: nothing is gained by asking.
      if (flushed_) decoder_->joiner().submit(true, now_ns, sink);
      records_.refill();
      watch_silence();
      watch_refusals(now_ns);
      write_clock(now_ns, sink);
      if (keeps_code_) ModuleWatch::instance().drain(now_ns, sink);
    } else {
      decoder_->joiner().finish(sink);
      detach();
      if (keeps_code_) ModuleWatch::instance().finish(now_ns, sink);
    }
  } else if (state_ == State::Stopped && !decoder_) {
    detach();
  }
  told_.write(sink);
  publish_status();
}

void CuptiTracer::take_note(const CallNote& note, uint32_t thread, RowSink& sink) {
  const auto time_ns = [&] { return note.time_ns - session_start_ns_; };
  switch (note.kind) {
    case CallNoteKind::Launch:
    case CallNoteKind::GraphLaunch:
      if (!options_.counts()) silence_.on_launch(note.time_ns);
      if (engine_ != nullptr) overlap_.add(thread, note.time_ns);
      if (engine_ != nullptr) note_context(note.context);
      [[fallthrough]];
    case CallNoteKind::Call:
    case CallNoteKind::External:
    case CallNoteKind::CallBegin:
    case CallNoteKind::CallEnd:
    case CallNoteKind::OwnCall: return decoder_->joiner().note(note, thread, sink);
    case CallNoteKind::DriverInitialised:
      told_.tell("cuda_initialised", time_ns(), "while the session runs");
      return;
    case CallNoteKind::ContextDestroyed:
      told_.tell("context_destroyed", time_ns(), "by the program, or by a reset of its device")
          .set("context", note.context);
      return;
    case CallNoteKind::ProfilerStart:
      told_.tell("profiler_start", time_ns(), "the program called cudaProfilerStart");
      return;
    case CallNoteKind::ProfilerStop:
      told_.tell("profiler_stop", time_ns(), "the program called cudaProfilerStop");
      return;
  }
}

void CuptiTracer::note_context(uint32_t context) {
  if (context == 0 || context == last_context_) return;
  last_context_ = context;
  if (g_process.told_contexts_ns == session_start_ns_ || engine_->knows(context)) return;
  g_process.told_contexts_ns = session_start_ns_;
  const Availability why = context_made_before();
  const char* const refused = options_.has_counters() ? "counting_refused" : "sampling_refused";
  told_.tell(refused, session_now(), why.detail, why.hint).set("reason", why.reason);
  tell_engine_lacking(why, "in part");
}

void CuptiTracer::watch_engine() {
  for (const auto& [why, ends_engine] : engine_->take_failures()) {
    const char* const ended = options_.has_counters() ? "counting_ended" : "sampling_ended";
    const char* const refused = options_.has_counters() ? "counting_refused" : "sampling_refused";
    told_.tell(ends_engine ? ended : refused, session_now(), why.detail, why.hint)
        .set("reason", why.reason);
    tell_engine_lacking(why, ends_engine ? format::kTraceEngine : "in part");
  }
}

void CuptiTracer::watch_silence() {
  silence_.on_buffers(records_.delivered());
  if (silence_.is_silent() == is_silent_) return;
  is_silent_ = !is_silent_;
  if (is_silent_) {
    told_.tell(
        "records_overdue", session_now(),
        "launches continue, but CUPTI has delivered no record for a second: either a kernel has "
        "been running that long, or another profiler of this process has taken the records; the "
        "end of the recording will show which",
        "if no kernel runs that long, run one profiler at a time (torch.profiler, nsys)");
  } else {
    told_.tell("records_returned", session_now(), "CUPTI delivers records again");
  }
}

void CuptiTracer::leave_to_others() {
  is_others_ = true;
  const Availability why{false, "callbacks_taken_over",
                         "the program's last launches produced no records: another profiler of "
                         "this process has taken them over, and CUPTI is left to it",
                         "let one profiler run at a time (torch.profiler, nsys)"};
  told_.tell("callbacks_taken_over", session_now(), why.detail, why.hint);
  told_.tell_lacking("activity_records", "on", "in part", why);
}

void CuptiTracer::watch_refusals(int64_t now_ns) {
  const uint64_t refusals = records_.refusals();
  if (refusals == refusals_told_) return;
  if (refusals_told_ != 0 && now_ns - refusals_told_ns_ < kTellEveryNs) return;
  refusals_told_ = refusals;
  refusals_told_ns_ = now_ns;
  told_.tell("out_of_buffers", now_ns,
             "CUPTI asked for memory for its records " + std::to_string(refusals) +
                 " times when no memory was free, and dropped them",
             "the collector cannot keep up: give it a core, or record less");
}

// GPU times are told in CUPTI's clock: by how much that can be off the session's.
void CuptiTracer::write_clock(int64_t now_ns, RowSink& sink) {
  if (last_clock_ns_ != 0 && now_ns - last_clock_ns_ < kClockEveryNs) return;
  const base::ClockAnchor before = base::read_clock_anchor();
  uint64_t cupti_ns = 0;
  if (api().cuptiGetTimestamp(&cupti_ns) != CUPTI_SUCCESS) return;
  const int64_t apart_ns = base::monotonic_ns() - before.monotonic_ns;
  last_clock_ns_ = now_ns;
  const format::ClockLine line{before.monotonic_ns + apart_ns / 2 - session_start_ns_,
                               before.wall_ns + apart_ns / 2, static_cast<int64_t>(cupti_ns),
                               before.error_ns + apart_ns - apart_ns / 2};
  sink.write(format::Kind::Clock, line.to_json());
}

void CuptiTracer::detach() {
  if (state_ == State::Idle || state_ == State::Failed || state_ == State::Detached) return;
  state_ = State::Detached;
  CallWatch& watch = CallWatch::instance();
  end_engine();
  if (is_subscribed_) {
    const BesideCaptures beside_captures(driver().exchange_capture_mode());
    notes_ = watch.counts();
    if (quiet_ && !is_others_) quiet_->settle();
    std::optional<Availability> stays = must_stay();
    if (!stays && !is_others_ && !watch.wait_until_none_is_held()) {
      stays = {false, "launch_held",
               "a thread of the program still stands where a launch was held, so CUPTI cannot be "
               "detached",
               ""};
    }
    stays_attached_ = stays.has_value();
    if (stays) told_.tell("stays_attached", session_now(), stays->detail, stays->hint);
    if (is_others_ || stays) {
      watch.unsubscribe();
    } else if (quiet_) {
      watch.finalize_now();
    } else if (!watch.finalize()) {
      told_.tell("detach_deferred", session_now(),
                 "a call of the program may still be running: CUPTI detaches when one returns");
    }
  }
  quiet_.reset();
  held_ = watch.launch_gate().counts_when_released();
  if (cupti_ != nullptr) records_.release();
  g_process.is_attached = false;
  g_process.is_tracing.clear();
}

std::optional<Availability> CuptiTracer::must_stay() const {
  // Giving CUPTI up would break graphs that run, as it would at the end of a recording.
  if (is_refused_by_graph_) return graph_is_made();
  if (engine_ != nullptr && engine_->is_left_on()) {
    Availability hung{false, options_.has_counters() ? "counting_hangs" : "sampling_hangs",
                      "a CUPTI call or a launch of the program does not return, so " +
                          std::string(engine_->name()) +
                          " could not be ended and CUPTI cannot be detached",
                      ""};
    return hung;
  }
  if (quiet_ && !quiet_->is_quiet()) {
    Availability busy{false, "gpu_busy",
                      "CUDA graphs may be running, and the GPUs were never idle, so CUPTI cannot "
                      "be detached",
                      ""};
    return busy;
  }
  if (!is_subscribed_ || !CallWatch::instance().has_seen_graphs()) return {};
  if (cupti_->version() >= kGraphsSurviveDetaching) return {};
  return Availability{false, "cupti_too_old",
                      "the program launches CUDA graphs, which break when " +
                          cupti_->description() + " is detached",
                      "use the CUPTI of CUDA 12.6 or newer"};
}

std::optional<Availability> CuptiTracer::cannot_detach() const {
  if (is_forked()) return {};
  const std::lock_guard lock(mutex_);
  return cupti_ != nullptr ? must_stay() : std::nullopt;
}

std::vector<Limitation> CuptiTracer::limitations() const {
  if (is_forked()) return {};
  const std::lock_guard lock(mutex_);
  return limitations_;
}

void CuptiTracer::tell_unavailable(const Availability& why) {
  told_.tell("trace_unavailable", session_now(), why.detail, why.hint).set("reason", why.reason);
  told_.tell_lacking("profiling_engine", "Trace", "Monitor", why);
}

void CuptiTracer::publish_status() {
  TraceStatus status;
  switch (state_) {
    case State::Waiting: status.state = "waiting_for_cuda"; break;
    case State::Running: status.state = is_silent_ ? "records_overdue" : "recording"; break;
    case State::Failed:
      status.state = failure_.reason;
      status.detail = failure_.detail;
      break;
    default: status.state = "stopped";
  }
  if (decoder_) {
    const CallAccount& account = decoder_->account();
    const CallCounts& counts = account.counts();
    status.launches = counts.launches + counts.graph_launches;
    status.kernels = counts.kernels;
    PendingList pending = account.pending(kPendingTold);
    status.pending_count = pending.count;
    status.pending = std::move(pending.oldest);
  }
  status.dropped = records_.dropped();
  if (engine_ != nullptr) {
    engine_->report(status);
    if (status.sampling) status.sampling->threads_overlap = overlap_.is_seen();
  }
  const std::lock_guard lock(status_mutex_);
  status_ = std::move(status);
}

TraceStatus CuptiTracer::status() const {
  if (is_forked()) return {"forked", "", 0, 0, 0, 0, {}};
  const std::lock_guard lock(status_mutex_);
  return status_;
}

void CuptiTracer::account(format::Ledger& ledger) const {
  if (is_forked()) return;
  const std::lock_guard lock(mutex_);
  if (state_ == State::Idle) return;
  ledger.tracings_refused = state_ == State::Failed ? 1 : 0;
  if (state_ == State::Failed) return;
  if (!decoder_) {  // CUDA was never used: there was nothing to record, and that is known
    ledger.kernel_records = ledger.graph_kernel_records = ledger.impossible_times = 0;
    ledger.launches_seen = ledger.graph_launches = ledger.launches_missing = 0;
    ledger.graph_kernels_missing = 0;
    ledger.vendor_dropped = 0;
    return;
  }
  decoder_->account().fill_ledger(is_subscribed_, ledger);
  ledger.vendor_overhead_ns = ledger.cupti_overhead_ns = decoder_->cupti_overhead_ns();
  records_.account(ledger);
  if (!is_subscribed_) return;
  const bool is_over = state_ == State::Detached;
  const CallWatch::Counts now = is_over ? notes_ : CallWatch::instance().counts();
  const LaunchGate::Counts held = is_over ? held_ : CallWatch::instance().launch_gate().counts();
  ledger.launches_held = held.held;
  ledger.launches_held_ns = held.held_ns;
  ledger.longest_hold_ns = held.longest_ns;
  if (engine_ != nullptr) engine_->account(ledger);
  ledger.callback_ns = static_cast<uint64_t>(now.callback_ns - notes_before_.callback_ns);
  ledger.notes_dropped = now.dropped_notes - notes_before_.dropped_notes;
  *ledger.launches_seen += now.dropped_launches - notes_before_.dropped_launches;
  *ledger.graph_launches += now.dropped_graph_launches - notes_before_.dropped_graph_launches;
}

}  // namespace

bool should_wait_for_cuda() {
  return can_hear_cuda_start() && !holds_cupti() && !is_cuda_initialised();
}

std::unique_ptr<Tracer> make_cupti_tracer(std::shared_ptr<CuptiLibrary> cupti,
                                          const TraceOptions& options, SessionDevices devices) {
  return std::make_unique<CuptiTracer>(std::move(cupti), options, std::move(devices));
}

}  // namespace gpufl::backend
