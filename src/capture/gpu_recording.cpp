// SPDX-License-Identifier: Apache-2.0
#include "capture/gpu_recording.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "capture/engine_ladder.hpp"

namespace gpufl::capture {

namespace {

using format::CoverageEnd;
using format::CoverageReason;
using namespace std::chrono_literals;

constexpr std::string_view kEnded = "ended";
constexpr auto kDetachPatience = 2s;
constexpr auto kAskAgain = 5ms;
constexpr auto kStatusPatience = 100ms;
// Attaching that takes longer waits for a calmer moment, and holds up nobody meanwhile.
constexpr int64_t kLongestAttaching_ns = 1'000'000'000;

template <typename Why>
base::Json event(std::string_view name, std::span<const format::Word> words, Why why) {
  base::Json line = base::Json::object();
  line.set("name", name).set("why", format::word_of(words, static_cast<int64_t>(why)));
  return line;
}

base::Status stuck() {
  return {base::Code::Unavailable,
          "busy: a call of the GPU vendor's library or a write to the log has not returned; try "
          "again"};
}

base::Status attaching() {
  return {base::Code::Unavailable,
          "attaching: the GPU vendor's library has not come back yet; recording begins when it "
          "has, which may take until the program launches less"};
}

std::string_view state_after(CoverageEnd ending) {
  return ending == CoverageEnd::Request ? "paused" : "detached";
}

std::string first_state(const SessionConfig& config, std::string refusal) {
  if (config.engine == kMonitorEngine) return "monitoring";
  return config.dormant ? "dormant" : std::move(refusal);
}

}  // namespace

SampledTime sampled_time(std::span<const NamedTraceStatus> traces) {
  SampledTime sampled;
  for (const NamedTraceStatus& one : traces) {
    if (!one.status.sampling) continue;
    sampled.windows += one.status.sampling->windows;
    sampled.total_ns += one.status.sampling->busy_ns;
  }
  return sampled;
}

GpuRecording::GpuRecording(Instruments& instruments, const SessionConfig& config,
                           Collector& collector, int64_t session_start_ns, Clock clock)
    : options_(instruments.trace_options),
      asked_engine_(config.engine),
      collector_(collector),
      session_start_ns_(session_start_ns),
      clock_(clock),
      state_without_backend_(first_state(config, no_backend().reason)) {
  for (BackendInstruments& one : instruments.backends) {
    Part part{one.backend.get(), std::move(one.tracer), first_state(config, one.refusal), {}, 0};
    if (part.tracer) part.state = "recording";
    if (!one.refusal.empty()) ++part.refusals;
    parts_.push_back(std::move(part));
  }
  for (const format::Capability& note : instruments.notes) posted_.insert(note.to_json().dump());
  (void)collector_.set_tracers(named_tracers(), kPatience);
  if (!has_tracer()) return;
  std::string_view engine = kTraceEngine;
  for (const BackendInstruments& one : instruments.backends) {
    const bool has_engine = !one.phase_engine.empty() && one.phase_engine != kTraceEngine;
    if (has_engine) engine = one.phase_engine;
  }
  begin_phase(config.overhead_budget > 0 ? CoverageReason::Budget : CoverageReason::Session, engine,
              instruments.attached_ns, instruments.attaching_ns);
}

GpuRecording::~GpuRecording() { (void)stop(); }

bool GpuRecording::has_tracer() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.tracer != nullptr; });
}

std::vector<NamedTracer> GpuRecording::named_tracers() const {
  std::vector<NamedTracer> tracers;
  for (const Part& part : parts_) {
    if (part.tracer) tracers.push_back({std::string(part.backend->name()), part.tracer.get()});
  }
  return tracers;
}

void GpuRecording::begin_phase(CoverageReason why, std::string_view engine, int64_t begin_ns,
                               int64_t switching_ns) {
  Phase phase;
  phase.engine = engine;
  phase.why = why;
  phase.begin_ns = begin_ns;
  phase.cost.switching_ns = switching_ns;
  phase.launch_calls_before = counted_.launch_calls;
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

std::optional<format::Ledger> GpuRecording::account_of_tracers() const {
  std::optional<format::Ledger> account;
  for (const auto& tracer : tracers()) {
    format::Ledger its;
    tracer->account(its);
    format::add_account(its, account);
  }
  return account;
}

// Of the tracers' counts, what was not in an earlier phase of theirs is this one's.
std::optional<Phase> GpuRecording::end_phase(const std::optional<format::Ledger>& account,
                                             std::span<const NamedTraceStatus> traces) {
  const std::lock_guard lock(mutex_);
  if (!phase_) return std::nullopt;
  Phase phase = *std::exchange(phase_, std::nullopt);
  SampledTime sampled = sampled_time(traces);  // of the phase, below
  // What had been launched runs to its end and is recorded, though the tracers have stopped.
  phase.end_ns = std::max(phase.end_ns, collector_.last_work_end_ns());
  if (account) {
    Counted now;
    now.attached_ns = counted_.attached_ns + phase.attached_ns();
    now.sampled = sampled;
    now.cost = counted_cost(*account, now.attached_ns, sampled.total_ns);
    sampled.windows -= std::min(sampled.windows, counted_.sampled.windows);
    sampled.total_ns -= std::min(sampled.total_ns, counted_.sampled.total_ns);
    now.launches = account->launches_seen.value_or(0);
    now.launch_calls = now.launches + account->graph_launches.value_or(0);
    if (account->launches_seen) {
      phase.launches = now.launches - counted_.launches;
      phase.launch_calls = now.launch_calls - counted_.launch_calls;
    }
    phase.cost.switching_ns +=
        std::max<int64_t>(now.cost.switching_ns - counted_.cost.switching_ns, 0);
    phase.cost.running_ns = std::max<int64_t>(now.cost.running_ns - counted_.cost.running_ns, 0);
    phase.measure = format::CostMeasure::Calls;
    counted_ = now;
    // No tracer could count: all recorded.
    if (format::replaces_records(phase.engine) && !account->launches_counted)
      phase.engine = kTraceEngine;
  }
  if (format::replaces_records(phase.engine)) {
    phase.cost.running_ns = phase.attached_ns();
    phase.measure = format::CostMeasure::Unknown;  // by how much less than that is not known
  } else if (slowdown_) {
    phase.cost.running_ns = step_cost_ns(*slowdown_, phase.attached_ns(), sampled);
    phase.measure = format::CostMeasure::Steps;
  }
  ++phases_;
  attached_ns_ += phase.attached_ns();
  last_phase_ = phase;
  return phase;
}

base::Status GpuRecording::resume(const PhaseRequest& request, std::chrono::milliseconds patience) {
  {
    const BoundedLock operation(operation_, patience);
    if (!operation) return stuck();
    base::Status begun = begin_attaching(request, patience);
    if (!begun || has_tracer()) return begun;
  }
  return wait_until_attached(patience);
}

base::Status GpuRecording::begin_attaching(const PhaseRequest& request,
                                           std::chrono::milliseconds patience) {
  if (stopped_) return session_ended();
  if (asked_engine_ == kMonitorEngine) {
    return {base::Code::Unsupported,
            "engine_too_low: the session's engine is Monitor, which records no GPU work"};
  }
  if (is_pausing_) {
    if (base::Status paused = finish_pause(patience); !paused) return paused;
  }
  if (has_tracer()) return base::Status::ok();
  {
    const std::lock_guard lock(mutex_);
    if (is_attaching_ && attaching_for_.engine != request.engine) return stuck();
    attaching_for_ = request;
    is_unwanted_ = false;
    if (std::exchange(is_attaching_, true)) return base::Status::ok();
    is_overdue_told_ = false;
  }
  backend::TraceOptions options = options_;
  options.is_unwanted = &is_unwanted_;
  attaching_.join();  // the last one has ended, or is just about to
  if (attaching_.start("gpufl-attach",
                       [this, options, engine = request.engine] { attach(options, engine); })) {
    return base::Status::ok();
  }
  const std::lock_guard lock(mutex_);
  is_attaching_ = false;
  return {base::Code::Unavailable, "no_thread: the system could not start a thread"};
}

base::Status GpuRecording::wait_until_attached(std::chrono::milliseconds patience) {
  {
    std::unique_lock lock(mutex_);
    if (attached_cv_.wait_for(lock, patience, [&] { return !is_attaching_; })) return attached_;
    if (std::exchange(is_overdue_told_, true)) return attaching();
  }
  base::Json line = base::Json::object();
  line.set("name", "attaching_overdue").set("text", attaching().message());
  collector_.post_event(line);
  return attaching();
}

// On a thread of its own. What nobody wants any more when it is there is given up again.
void GpuRecording::attach(const backend::TraceOptions& options, std::string_view engine) {
  base::Status outcome{base::Code::LimitReached, "out of memory"};
  std::vector<OpenedTracer> opened;
  try {
    const int64_t asked_ns = session_now();
    for (const Part& part : parts_) {
      opened.push_back(open_tracer(*part.backend, options, engine, session_start_ns_));
    }
    const int64_t attached_ns = session_now();
    const std::lock_guard operation(operation_);
    outcome = adopt(opened, asked_ns, attached_ns);
  } catch (const std::bad_alloc&) {  // the outcome says so
  }
  opened.clear();
  const std::lock_guard lock(mutex_);
  is_attaching_ = false;
  attached_ = std::move(outcome);
  attached_cv_.notify_all();
}

base::Status GpuRecording::adopt(const std::vector<OpenedTracer>& opened, int64_t asked_ns,
                                 int64_t attached_ns) {
  if (stopped_) return session_ended();
  PhaseRequest request;
  {
    const std::lock_guard lock(mutex_);
    if (is_unwanted_) {
      return {base::Code::Unavailable, "paused: recording was paused before it began"};
    }
    request = attaching_for_;
    is_still_attached_ = false;
  }
  std::string refusals;
  std::string_view engine = kTraceEngine;
  for (size_t i = 0; i < opened.size(); ++i) {
    take(parts_[i], opened[i]);
    if (opened[i].tracer && opened[i].engine != kTraceEngine) engine = opened[i].engine;
    if (opened[i].tracer) continue;
    const backend::Availability& why = opened[i].support.trace;
    refusals.append(refusals.empty() ? "" : "; ").append(why.reason).append(": ");
    refusals.append(why.detail);
  }
  if (has_tracer()) (void)collector_.set_tracers(named_tracers(), kPatience);
  for (size_t i = 0; i < opened.size(); ++i) note(parts_[i], opened[i]);
  if (has_tracer()) {
    counted_ = {};
    begin_phase(request.why, engine, attached_ns,
                std::min(attached_ns - asked_ns, kLongestAttaching_ns));
    collector_.post_event(event("recording_resumed", format::kCoverageReasonWords, request.why));
    return base::Status::ok();
  }
  if (parts_.empty()) {
    const backend::Availability why = no_backend();
    post_once(choose_engine(asked_engine_, {why, why, why}));
    refusals = why.reason + ": " + why.detail;
  }
  return {base::Code::Unavailable, refusals};
}

void GpuRecording::take(Part& part, const OpenedTracer& opened) {
  if (!opened.tracer) ++part.refusals;
  const std::lock_guard lock(mutex_);
  part.tracer = opened.tracer;
  part.state = opened.tracer ? "recording" : opened.support.trace.reason;
}

void GpuRecording::note(const Part& part, const OpenedTracer& opened) {
  const std::string_view name = part.backend->name();
  const format::Capability engine = choose_engine(asked_engine_, opened.support, name);
  if (!engine.is_as_asked()) post_once(engine);
  if (!opened.tracer) return;
  for (const format::Capability& left_out : limitation_notes(*opened.tracer, name)) {
    post_once(left_out);
  }
}

void GpuRecording::post_once(const format::Capability& note) {
  base::Json line = note.to_json();
  if (posted_.insert(line.dump()).second)
    collector_.post(format::Kind::Capability, std::move(line));
}

base::Status GpuRecording::wait_until_detachable(bool is_patient) const {
  const auto deadline = std::chrono::steady_clock::now() + kDetachPatience;
  const auto all = tracers();
  const auto may_detach = [](const auto& tracer) { return tracer->may_detach(); };
  while (!std::all_of(all.begin(), all.end(), may_detach)) {
    if (!is_patient || std::chrono::steady_clock::now() > deadline) {
      return {base::Code::Unavailable, "busy: recording cannot be stopped right now; try again"};
    }
    std::this_thread::sleep_for(kAskAgain);
  }
  return base::Status::ok();
}

void GpuRecording::stop_tracers(CoverageEnd ending) {
  const int64_t end_ns = session_now();
  for (const Part& part : parts_) {
    if (part.tracer) part.tracer->stop();
  }
  const std::lock_guard lock(mutex_);
  if (!phase_) return;
  phase_->end_ns = end_ns;
  phase_->ending = ending;
}

void GpuRecording::count_detaching() {
  const std::lock_guard lock(mutex_);
  if (phase_) phase_->cost.switching_ns += session_now() - phase_->end_ns;
}

base::Status GpuRecording::pause(CoverageEnd ending, bool is_patient,
                                 std::chrono::milliseconds patience) {
  const BoundedLock operation(operation_, patience);
  if (!operation) return stuck();
  if (stopped_) return session_ended();
  cancel_attaching(ending);
  if (!has_tracer()) return base::Status::ok();
  if (!is_pausing_) {
    if (base::Status waited = wait_until_detachable(is_patient); !waited) return waited;
    stop_tracers(ending);
    is_pausing_ = true;
  }
  return finish_pause(patience);
}

// A whole round reads the rest, and lets the vendor's library go.
base::Status GpuRecording::finish_pause(std::chrono::milliseconds patience) {
  if (!collector_.flush(patience) || !collector_.set_tracers({}, patience)) return stuck();
  is_pausing_ = false;
  count_detaching();
  const auto phase = end_phase(account_of_tracers(), traces());
  if (phase) collector_.post_phase(*phase);
  const CoverageEnd ending = phase ? phase->ending : CoverageEnd::Request;
  for (Part& part : parts_) {
    if (!part.tracer) continue;
    format::Ledger account;
    part.tracer->account(account);
    format::add_account(account, part.accounts);
    const std::lock_guard lock(mutex_);
    is_still_attached_ |= part.tracer->is_still_attached();
    part.tracer = nullptr;
    part.state = state_after(ending);
  }
  collector_.post_event(event("recording_paused", format::kCoverageEndWords, ending));
  return base::Status::ok();
}

void GpuRecording::cancel_attaching(CoverageEnd ending) {
  const std::lock_guard lock(mutex_);
  if (!is_attaching_) return;
  is_unwanted_ = true;
  for (Part& part : parts_) part.state = state_after(ending);
}

std::optional<Phase> GpuRecording::begin_another(CoverageEnd ending, const PhaseRequest& request) {
  const BoundedLock operation(operation_, kStatusPatience);
  if (!operation || stopped_ || is_pausing_ || !phase()) return std::nullopt;
  const auto status = collector_.status(kStatusPatience);
  if (!status) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    phase_->end_ns = session_now();
    phase_->ending = ending;
  }
  const auto ended = end_phase(status->ledger, status->traces);
  collector_.post_phase(*ended);
  collector_.post_event(event("recording_paused", format::kCoverageEndWords, ending));
  const bool is_trace = request.engine == kTraceEngine;
  begin_phase(request.why, is_trace ? kTraceEngine : ended->engine, ended->end_ns, 0);
  collector_.post_event(event("recording_resumed", format::kCoverageReasonWords, request.why));
  return ended;
}

bool GpuRecording::end_sampling() {
  bool was_sampling = false;
  for (const auto& tracer : tracers()) was_sampling |= tracer->end_sampling();
  return was_sampling;
}

bool GpuRecording::stop(std::chrono::milliseconds patience) {
  bool is_left_behind = false;
  if (!stopped_.exchange(true)) {
    is_unwanted_ = true;
    const BoundedLock operation(operation_, patience);
    if (operation) {
      if (!is_pausing_) stop_tracers(CoverageEnd::Session);
      count_detaching();  // as far as it has come: the collector's last round does the rest
    } else {
      (void)collector_.set_tracers({}, 0ms);  // its last round waits for none that is stuck
      is_left_behind = true;
    }
  }
  std::unique_lock lock(mutex_);
  is_left_behind |= !attached_cv_.wait_for(lock, patience, [&] { return !is_attaching_; });
  return !(is_left_behind_ |= is_left_behind);
}

void GpuRecording::account(format::Ledger& ledger, format::LogWriter& log) {
  std::optional<format::Ledger> accounts;
  uint64_t refusals = is_attaching() ? 1 : 0;
  const BoundedLock operation(operation_, kPatience);
  if (!operation) {  // what the tracers counted cannot be asked for
    ledger.tracings_refused = 1;
    return;
  }
  if (const auto phase = end_phase(account_of_tracers(), traces())) write_phase(*phase, log);
  for (Part& part : parts_) {
    if (part.tracer) {
      format::Ledger account;
      part.tracer->account(account);
      format::add_account(account, part.accounts);
    }
    if (part.accounts) format::add_account(*part.accounts, accounts);
    refusals += part.refusals;
    const std::lock_guard lock(mutex_);
    part.tracer = nullptr;
    part.state = kEnded;
  }
  const std::lock_guard lock(mutex_);
  state_without_backend_ = kEnded;
  if (accounts) ledger.add(*accounts);
  if (phases_ != 0) {
    ledger.phases = phases_;
    ledger.attached_ns = static_cast<uint64_t>(attached_ns_);
  }
  // Where there is no backend, there is no GPU either whose work could be missing.
  if (refusals != 0) ledger.tracings_refused = ledger.tracings_refused.value_or(0) + refusals;
}

std::string GpuRecording::state() const {
  if (const auto now = traces(); !now.empty()) return now.front().status.state;
  const std::lock_guard lock(mutex_);
  if (is_attaching_ && !is_unwanted_) return "attaching";
  return parts_.empty() ? state_without_backend_ : parts_.front().state;
}

bool GpuRecording::is_attaching() const {
  const std::lock_guard lock(mutex_);
  return is_attaching_;
}

bool GpuRecording::is_still_attached() const {
  const std::lock_guard lock(mutex_);
  return is_still_attached_;
}

void GpuRecording::add_pause_cost(int64_t cost_ns) {
  const std::lock_guard lock(mutex_);
  if (phase_) phase_->pause_cost_ns += cost_ns;
}

void GpuRecording::set_slowdown(std::optional<Slowdown> slowdown) {
  const std::lock_guard lock(mutex_);
  slowdown_ = slowdown;
}

std::optional<Phase> GpuRecording::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

std::optional<Phase> GpuRecording::last_phase() const {
  const std::lock_guard lock(mutex_);
  return last_phase_;
}

std::vector<std::shared_ptr<backend::Tracer>> GpuRecording::tracers() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<backend::Tracer>> all;
  for (const Part& part : parts_) {
    if (part.tracer) all.push_back(part.tracer);
  }
  return all;
}

std::optional<backend::Availability> GpuRecording::cannot_detach() const {
  for (const auto& tracer : tracers()) {
    if (auto why = tracer->cannot_detach()) return why;
  }
  return std::nullopt;
}

std::vector<NamedTraceStatus> GpuRecording::traces() const {
  std::vector<std::pair<std::string, std::shared_ptr<backend::Tracer>>> now;
  {
    const std::lock_guard lock(mutex_);
    for (const Part& part : parts_) {
      if (part.tracer) now.emplace_back(part.backend->name(), part.tracer);
    }
  }
  std::vector<NamedTraceStatus> traces;
  for (const auto& [backend, tracer] : now) traces.push_back({backend, tracer->status()});
  return traces;
}

}  // namespace gpufl::capture
