// SPDX-License-Identifier: Apache-2.0
#include "capture/session.hpp"

#include <atomic>
#include <cmath>
#include <gpufl/version.hpp>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "capture/collector.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/gpu_recording.hpp"
#include "capture/host_metrics.hpp"
#include "capture/identity.hpp"
#include "capture/instruments.hpp"
#include "capture/phase_pacer.hpp"
#include "capture/sampler.hpp"
#include "capture/scope_recorder.hpp"
#include "capture/service_thread.hpp"
#include "capture/session_status.hpp"
#include "capture/session_symbols.hpp"
#include "capture/warp_recorder.hpp"

namespace gpufl::capture {

namespace {

constexpr int kDefaultIntervalMs = 100;
constexpr size_t kMaxSystemStarts = 4096;  // names that are open at a time
// How old a reading of the GPU's clock may be: before a launch that warpscope profiles, and after.
constexpr int64_t kOpeningAge_ns = 100'000'000;
constexpr int64_t kRecordingAge_ns = 2'000'000;

SamplerConfig sampler_config(const SessionConfig& config, int64_t start_ns,
                             uint32_t scope_session) {
  SamplerConfig sampling;
  sampling.session_start_ns = start_ns;
  sampling.interval_ms =
      config.sample_interval_ms > 0 ? config.sample_interval_ms : kDefaultIntervalMs;
  sampling.continuous = config.continuous_sampling;
  if (config.sample_interval_ms > 0 && scope_session != 0) {
    sampling.wanted = [scope_session] { return scope_recorder::any_scope_open(scope_session); };
  }
  return sampling;
}

// Holds the recorder of scopes, if it was free, until release().
class ScopesHeld {
 public:
  ScopesHeld() : session_(scope_recorder::attach()) {}
  ~ScopesHeld() { release(); }
  ScopesHeld(const ScopesHeld&) = delete;
  ScopesHeld& operator=(const ScopesHeld&) = delete;

  uint32_t session() const { return session_; }  // 0: another session has it
  void start_recording() {
    if (held_) scope_recorder::start_recording(session_);
  }
  void stop_recording() {
    if (held_) scope_recorder::stop_recording();
  }
  void release() {
    if (std::exchange(held_, false)) scope_recorder::release();
  }

 private:
  const uint32_t session_;
  bool held_ = session_ != 0;
};

// Everything that lives on other threads' behalf. In the child of a fork() it is left as it is,
// never destroyed: locks and conditions in it may be in the hands of threads that are not there.
struct Running {
  Running(const SessionConfig& config, std::unique_ptr<format::LogWriter> log_writer,
          Instruments opened, int64_t start_ns)
      : start_ns(start_ns),
        keeps_sources(config.sources),
        instruments(std::move(opened)),
        log(std::move(log_writer)),
        sampler(sampler_config(config, start_ns, scopes.session()), instruments.health),
        clock(instruments.device_clock()),
        warps(clock, start_ns),
        deep_windows(config.deep_windows, instruments.engine),
        collector({*log, sampler, instruments.markers.get(), instruments.gate.get(),
                   config.engine != kMonitorEngine || instruments.markers != nullptr,
                   instruments.stacks != nullptr, start_ns, scopes.session(), &warps,
                   &instruments.deep->scopes, config.overhead_budget > 0}),
        recording(instruments, config, collector, start_ns) {
    if (config.engine != kMonitorEngine &&
        PhasePacer::is_needed(config.overhead_budget, instruments.engine)) {
      pacer.emplace(PhasePacer::Parts{recording, collector, *instruments.deep, deep_windows,
                                      [this] { return gpu_utilization(sampler.board(), now()); },
                                      config.overhead_budget, instruments.engine,
                                      !recording.phase().has_value(), GpuRecording::kPatience,
                                      static_cast<uint64_t>(base::wall_ns())});
    }
    if (watches_utilization() && !instruments.health) {
      instruments.notes.push_back({"deep_when", deep_windows.options().when->text, "off",
                                   "no_health", "the load of the GPUs cannot be read here",
                                   "use kernel_launch_rate instead"});
    }
    if (scopes.session() != 0) return;
    instruments.notes.push_back(
        {"scopes", "on", "off", "taken", "another session of this process records the scopes", {}});
  }

  int64_t now() const { return base::monotonic_ns() - start_ns; }
  bool watches_utilization() const {
    const auto& when = deep_windows.options().when;
    return deep_windows.has_engine() && when && when->metric == DeepMetric::GpuUtilization;
  }

  const int64_t start_ns;
  const bool keeps_sources;
  ScopesHeld scopes;
  Instruments instruments;
  std::unique_ptr<format::LogWriter> log;
  Sampler sampler;
  backend::DeviceClock* const clock;     // null: none
  std::atomic<int64_t> followed_ns = 0;  // when a capture was last followed by a reading of it
  WarpRecorder warps;
  DeepWindows deep_windows;
  Collector collector;
  GpuRecording recording;
  std::optional<PhasePacer> pacer;  // none: recorded all the time

  std::mutex mutex;  // guards what follows
  std::map<std::string, uint64_t, std::less<>> system_starts;
  bool stopped = false;
  bool is_in_use = false;  // for good: by a thread that a vendor's library has not given back
  base::Status stop_status;
};

class RunningSession final : public Session {
 public:
  RunningSession(std::filesystem::path dir, format::SessionHeader header,
                 std::unique_ptr<Running> running)
      : dir_(std::move(dir)),
        header_(std::move(header)),
        notes_(running->instruments.notes),
        running_(std::move(running)) {}
  ~RunningSession() override {
    (void)stop();
    if (running_ && running_->is_in_use) leave_behind();
  }

  const std::filesystem::path& dir() const override { return dir_; }
  const std::vector<format::Capability>& capabilities() const override { return notes_; }
  void system_start(std::string_view name) override;
  void system_stop(std::string_view name) override;
  MetricBoard board() const override;
  void flush() override;
  base::Status resume() override;
  base::Status pause() override;
  base::Status open_deep_window(format::DeepWindowOpener opener,
                                const DeepWindowRequest& request) override;
  base::Status close_deep_window(format::DeepWindowEnd ending) override;
  base::Json status() const override;
  void mark(std::string_view text) override;
  void open_warpscope() override;
  base::Status record_warpscope(WarpscopeCapture capture) override;
  base::Status copy_from_device(const void* device_words, size_t count,
                                std::vector<uint64_t>& words) override;
  base::Status stop() override;
  void abandon() override;

 private:
  base::Result<int64_t> measure_after(WarpscopeCapture& capture);
  void leave_behind();

  const std::filesystem::path dir_;
  const format::SessionHeader header_;
  const std::vector<format::Capability> notes_;
  std::unique_ptr<Running> running_;  // null after abandon()
};

// What is left to throw is the standard library out of memory.
template <typename Call>
auto guarded(Call&& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return base::Status(base::Code::LimitReached, "out of memory");
  }
}

void post(Running& running, std::string_view name, std::string_view text) {
  const base::Status posted = guarded([&] {
    base::Json event = base::Json::object();
    event.set("name", name).set("text", text);
    running.collector.post_event(event);
    return base::Status::ok();
  });
  if (!posted) running.collector.drop_event();
}

void post_events(Running& running) {
  for (const base::Json& event : running.deep_windows.take_events()) {
    running.collector.post_event(event);
  }
}

void RunningSession::system_start(std::string_view name) {
  if (!running_) return;
  const SignalsBlocked blocked;
  const std::lock_guard lock(running_->mutex);
  if (running_->stopped) return;
  auto& starts = running_->system_starts;
  auto found = starts.find(name);
  if (found == starts.end() && starts.size() == kMaxSystemStarts) {
    return running_->collector.drop_event();
  }
  const base::Status added = guarded([&] {
    if (found == starts.end()) found = starts.emplace(name, 0).first;
    return base::Status::ok();
  });
  if (!added) return running_->collector.drop_event();
  ++found->second;
  running_->sampler.hold();
  post(*running_, "system_start", name);
  if (!running_->sampler.start()) {
    post(*running_, "sampler_failed", "no thread could be started");
  }
}

void RunningSession::system_stop(std::string_view name) {
  if (!running_) return;
  const std::lock_guard lock(running_->mutex);
  if (running_->stopped) return;
  const auto started = running_->system_starts.find(name);
  if (started == running_->system_starts.end()) {
    post(*running_, "system_stop_without_start", name);
    return;
  }
  if (--started->second == 0) running_->system_starts.erase(started);
  post(*running_, "system_stop", name);
  running_->sampler.let_go();
}

MetricBoard RunningSession::board() const {
  if (!running_) return {};
  MetricBoard board = running_->sampler.board();
  board.devices = running_->instruments.devices;
  board.log = running_->log->counts();
  return board;
}

void RunningSession::flush() {
  if (running_) running_->collector.flush();
}

void RunningSession::mark(std::string_view text) {
  if (running_) post(*running_, "mark", text);
}

void RunningSession::open_warpscope() {
  if (!running_) return;
  running_->warps.expect();
  if (running_->clock == nullptr) return;
  const SignalsBlocked blocked;
  // What went wrong is told with the capture.
  static_cast<void>(guarded([&] {
    const auto device = running_->clock->measure(kOpeningAge_ns);
    return device ? base::Status::ok() : device.status();
  }));
}

// Readings that follow each other closely say little of how fast the GPU's clock runs: some are
// left out, and the capture says so.
base::Result<int64_t> RunningSession::measure_after(WarpscopeCapture& capture) {
  std::atomic<int64_t>& last_ns = running_->followed_ns;
  capture.is_followed = capture.taken_ns - last_ns.load() >= kRecordingAge_ns;
  auto device = running_->clock->measure(capture.is_followed ? 0 : kRecordingAge_ns);
  if (!device) capture.is_followed = false;
  if (capture.is_followed) last_ns.store(capture.taken_ns);
  return device;
}

base::Status RunningSession::record_warpscope(WarpscopeCapture capture) {
  if (!running_) return {base::Code::Unavailable, "the session is its parent's"};
  const SignalsBlocked blocked;
  return guarded([&]() -> base::Status {
    capture.taken_ns = base::monotonic_ns();
    if (running_->clock == nullptr) {
      capture.clock_failure = "the session's backend has no such clock";
    } else if (const auto device = measure_after(capture); device) {
      if (capture.device < 0) capture.device = *device;
      if (capture.device != *device) capture.is_followed = false;
    } else {
      capture.clock_failure = device.status().message();
    }
    const std::lock_guard lock(running_->mutex);
    if (running_->stopped) return {base::Code::Unavailable, "the session has ended"};
    if (running_->warps.take(std::move(capture))) return base::Status::ok();
    return {base::Code::LimitReached, "too many captures wait to be written"};
  });
}

base::Status RunningSession::copy_from_device(const void* device_words, size_t count,
                                              std::vector<uint64_t>& words) {
  base::Status copied{base::Code::Unavailable, "the session has no backend"};
  if (!running_) return copied;
  return guarded([&] {
    words.resize(words.size() + count);
    for (const BackendInstruments& one : running_->instruments.backends) {
      copied = one.backend->copy_from_device(device_words, words.data() + words.size() - count,
                                             count * sizeof(uint64_t));
      if (copied.code() != base::Code::Unsupported) break;
    }
    return copied;
  });
}

base::Status RunningSession::resume() {
  if (!running_) return {base::Code::Unavailable, "session_ended: the session is its parent's"};
  const SignalsBlocked blocked;  // a vendor's library starts threads
  return guarded(
      [&] { return running_->pacer ? running_->pacer->resume() : running_->recording.resume(); });
}

base::Status RunningSession::pause() {
  if (!running_) return {base::Code::Unavailable, "session_ended: the session is its parent's"};
  const SignalsBlocked blocked;
  return guarded(
      [&] { return running_->pacer ? running_->pacer->pause() : running_->recording.pause(); });
}

base::Status RunningSession::open_deep_window(format::DeepWindowOpener opener,
                                              const DeepWindowRequest& request) {
  if (!running_) return {base::Code::Unavailable, "session_ended: the session is its parent's"};
  return guarded([&] {
    base::Status opened = running_->deep_windows.open(opener, request, running_->now());
    if (!running_->pacer) post_events(*running_);  // it posts them otherwise
    return opened;
  });
}

base::Status RunningSession::close_deep_window(format::DeepWindowEnd ending) {
  if (running_) running_->deep_windows.close(ending);
  return base::Status::ok();
}

base::Json RunningSession::status() const {
  if (!running_) return base::Json::object();
  try {
    return session_status({header_, dir_, running_->start_ns, running_->instruments, *running_->log,
                           running_->collector, running_->recording, running_->deep_windows});
  } catch (const std::bad_alloc&) {
    return base::Json::object();
  }
}

base::Status RunningSession::stop() {
  if (!running_) return base::Status::ok();
  const SignalsBlocked blocked;
  Running& running = *running_;
  const std::lock_guard lock(running.mutex);
  if (running.stopped) return running.stop_status;
  running.stopped = true;
  running.deep_windows.refuse(DeepWindows::Refusal::Ended);
  const bool is_unpaced = !running.pacer || running.pacer->stop();
  // Before the scopes: what is recorded to the last finds the scope that it belongs to.
  const bool is_unused = running.recording.stop();
  running.is_in_use = !is_unpaced || !is_unused;
  if (running.is_in_use) {
    post(running, "recording_stuck",
         "a call of the GPU vendor's library has not returned; the session ends without it");
  }
  if (running.instruments.markers) running.instruments.markers->stop();
  running.scopes.stop_recording();
  if (!running.sampler.stop()) {
    post(running, "sampler_stuck",
         "a call of the driver did not return; sampling continues "
         "without it");
  }

  format::Ledger ledger;
  running.collector.stop(ledger);
  ledger.samples_taken = running.sampler.samples_taken();
  ledger.samples_missed = running.sampler.samples_missed();
  ledger.samplers_stuck = running.sampler.stuck();
  ledger.collector_cpu_ns += running.sampler.cpu_ns();
  running.stop_status = guarded([&] {
    running.recording.account(ledger, *running.log);
    if (running.pacer && is_unpaced) {
      if (const auto window = running.pacer->end_window()) write_deep_window(*window, *running.log);
    }
    return running.log->close(running.now(), ledger);
  });
  running.scopes.release();
  if (running.instruments.stacks) {
    // The log is complete without the names: whatever stands in the way, tools find them later.
    SymbolLimits limits;
    limits.keep_sources = running.keeps_sources;
    static_cast<void>(write_symbols(dir_, limits));
  }
  return running.stop_status;
}

void RunningSession::abandon() {
  if (!running_) return;
  running_->log->abandon();
  leave_behind();
}

// Kept reachable, so that a leak checker sees what it is: left on purpose.
void RunningSession::leave_behind() {
  static std::vector<Running*>* const left_behind = new std::vector<Running*>;
  left_behind->push_back(running_.release());
}

// The first lines of the log: what was asked for and not had, and which devices there are.
void write_opening(const SessionConfig& config, Running& running) {
  for (const format::Capability& note : running.instruments.notes) {
    running.log->write(format::Kind::Capability, note.to_json());
  }
  for (const backend::DeviceFacts& device : running.instruments.devices) {
    running.log->write(format::Kind::Device, device.to_json());
  }
  const base::Json facts = HostMetrics().facts().to_json();
  base::Json host = base::Json::object();
  host.set("name", "host_facts");
  for (const auto& [key, value] : facts.members()) host.set(key, value);
  running.collector.post_event(host);
  for (const base::Json& event : config.events) running.collector.post_event(event);
  if (running.deep_windows.has_engine() && config.deep_windows.has_any()) {
    running.collector.post_event(armed_event(config.deep_windows));
  }
}

// It becomes the name of a folder.
bool is_run_id(const std::string& text) {
  return text.size() <= 255 && text.find('/') == std::string::npos && text != "." && text != "..";
}

base::Result<std::unique_ptr<Session>> start_session(SessionConfig config) {
  if (!is_run_id(config.run_id)) {
    return base::Status(
        base::Code::InvalidArgument,
        "the id of a run must be a valid folder name, not \"" + config.run_id + "\"");
  }
  const base::ClockAnchor anchor = base::read_clock_anchor();
  const int64_t start_ns = anchor.monotonic_ns;
  Instruments instruments = open_instruments(config, start_ns);

  format::SessionHeader header = describe_process(anchor.wall_ns);
  header.app_name = config.app_name;
  header.gpufl_version = GPUFL_VERSION;
  header.engine = instruments.engine;
  header.source_text = config.sources;
  header.backend = instruments.backend_name();
  header.backends = instruments.backend_list();
  header.start_wall_ns = anchor.wall_ns;
  header.start_monotonic_ns = start_ns;
  header.clock_error_ns = anchor.error_ns;
  if (config.overhead_budget > 0 && instruments.engine != kMonitorEngine) {
    header.overhead_budget_ppm = std::llround(config.overhead_budget * 1e6);
  }
  header.pass = config.pass;
  header.passes = config.passes;
  config.log.session_dir = config.log_root;
  if (!config.run_id.empty()) {
    header.run_id = config.run_id;
    config.log.session_dir /= config.run_id;
  }
  config.log.session_dir /= header.session_id;
  auto log = format::LogWriter::create(config.log, header);
  if (!log) return log.status();

  // From here on the session's end undoes whatever of its start has been done.
  auto owned = std::make_unique<Running>(config, std::move(*log), std::move(instruments), start_ns);
  Running& running = *owned;
  auto session = std::make_unique<RunningSession>(config.log.session_dir, header, std::move(owned));
  write_opening(config, running);
  if (running.watches_utilization()) running.sampler.hold();
  const bool sampling =
      config.continuous_sampling || config.sample_interval_ms > 0 || running.watches_utilization();
  if (!running.collector.start() || (sampling && !running.sampler.start()) ||
      (running.pacer && !running.pacer->start())) {
    return base::Status(base::Code::Unavailable, "no thread could be started");
  }
  running.scopes.start_recording();
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace

base::Result<std::unique_ptr<Session>> Session::start(SessionConfig config) {
  const SignalsBlocked blocked;
  return guarded([&] { return start_session(std::move(config)); });
}

}  // namespace gpufl::capture
