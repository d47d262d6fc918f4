// SPDX-License-Identifier: Apache-2.0
#include "client/client.hpp"

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "capture/counters.hpp"
#include "capture/identity.hpp"
#include "capture/scope_recorder.hpp"
#include "capture/vendor_entry.hpp"
#include "client/joining.hpp"
#include "client/session_config.hpp"
#include "client/session_report.hpp"
#include "client/upload.hpp"
#include "format/capability_words.hpp"
#include "net/url.hpp"

namespace gpufl::client {

namespace {

using namespace std::chrono_literals;

constinit std::atomic<Client*> g_client{nullptr};
// The exit handler has begun: a session that starts now would be one that nobody ends.
constinit std::atomic<bool> g_exiting{false};

// Only the locks that are held for a moment and never around somebody else's code are taken over a
// fork: a driver's library may fork while init() is inside it, on the same thread.
void before_fork() {
  capture::scope_recorder::before_fork();
  capture::counters::before_fork();
}

void after_fork_in_parent() {
  capture::counters::after_fork();
  capture::scope_recorder::after_fork_in_parent();
}

void after_fork_in_child() {
  capture::counters::after_fork();
  capture::scope_recorder::after_fork_in_child();
  joining::after_fork_in_child();
  capture::DeepWindows::after_fork_in_child();
  Client* const parents = g_client.load(std::memory_order_relaxed);
  if (parents == nullptr) return;
  parents->abandon();
  g_client.store(new Client(parents), std::memory_order_release);
}

// When the library is loaded: counters take locks before there is a client.
__attribute__((constructor)) void watch_forks() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// What members of this copy's session call.
constexpr joining::OwnerCalls kOwnerCalls = {
    .system_start = [](const char* name,
                       size_t size) { Client::instance().system_start({name, size}); },
    .system_stop = [](const char* name,
                      size_t size) { Client::instance().system_stop({name, size}); },
    .flushed_folder = [](char* path, size_t capacity) -> size_t {
      const std::string folder = Client::instance().flushed_folder().string();
      return folder.size() <= capacity ? folder.copy(path, capacity) : 0;
    },
    .driver_starts = capture::driver_starts,
    .annotations_start = capture::annotations_start,
    .open_warpscope = [] { Client::instance().open_warpscope(); },
    .record_warpscope =
        [](const WarpscopeCall* call) {
          return static_cast<int32_t>(Client::instance().record_warpscope(*call));
        },
    .open_deep_window =
        [](const joining::DeepWindowCall* call) {
          const DeepWindowSpec spec{call->max_duration_ms, call->max_launches, call->cooldown_ms,
                                    std::string(call->name, call->name_size)};
          return Client::instance().open_deep_window(spec).is_ok();
        },
    .close_deep_window = [] { (void)Client::instance().close_deep_window(); },
    .is_deep_window_open = [] { return Client::is_deep_window_open(); },
};

std::map<uint32_t, std::string> names(const WarpscopeName* first, size_t count) {
  std::map<uint32_t, std::string> all;
  for (size_t i = 0; i < count; ++i) all[first[i].id] = std::string(first[i].text, first[i].size);
  return all;
}

Client* make_client() {
  joining::set_up(kOwnerCalls);
  auto* client = new Client(nullptr);
  g_client.store(client);
  std::atexit([] { Client::instance().shutdown_at_exit(); });
  return client;
}

}  // namespace

Client& Client::instance() {
  static Client* const first = make_client();
  Client* current = g_client.load(std::memory_order_acquire);
  return current != nullptr ? *current : *first;
}

bool Client::init(const InitOptions& program, const InitOptions& defaults,
                  const FieldNames& named) {
  const std::lock_guard lock(mutex_);
  if (has_session()) return true;
  why_none_ = "out of memory";  // should anything throw from here on
  const ResolvedOptions resolved =
      resolve_options(program, capture::process_environment(), variable_names(), defaults, named);
  debug_ = resolved.options.enable_debug_output;
  for (const OptionWarning& warning : resolved.warnings) say(warning.to_line());
  disabled_ = resolved.is_disabled;
  in_force_ = resolved.options;
  const base::Status started = start_as(resolved);
  why_none_ = started ? "the session has ended" : started.message();
  if (!started) say("no session: " + why_none_);
  return started.is_ok();
}

base::Status Client::start_as(const ResolvedOptions& resolved) {
  if (resolved.is_disabled) {
    const bool by_option = !resolved.options.enabled;
    return {base::Code::Cancelled,
            by_option ? "the option enabled is false" : "GPUFL_DISABLED is set"};
  }
  if (g_exiting.load()) return {base::Code::Cancelled, "the program is ending"};
  return start_or_join(resolved);
}

base::Status Client::start_or_join(const ResolvedOptions& resolved) {
  if (joining::SessionTable* owner = joining::claim(); owner != nullptr) {
    if (!joining::join(owner)) {
      return {base::Code::Unavailable, "the session of another copy of the library has just ended"};
    }
    say("joined the session of another copy of the library in this process");
    return base::Status::ok();
  }
  LaunchRequest request = LaunchRequest::from_environment(capture::process_environment());
  base::Status started = start(resolved, std::move(request));
  if (!started) joining::release();
  return started;
}

base::Status Client::start(const ResolvedOptions& resolved, LaunchRequest request) {
  const int64_t now_ns = base::monotonic_ns();
  if (request.schedule.end_at_ns && *request.schedule.end_at_ns <= now_ns) {
    return {base::Code::Cancelled, "the time to record is over"};
  }
  if (request.schedule.resume_at_ns) request.dormant = *request.schedule.resume_at_ns > now_ns;
  capture::SessionConfig config = session_config(resolved, request, capture::process_environment());
  // A driver's own exit handlers take down what the end of a session needs, and the handler that
  // was registered last runs first.
  config.trace.on_driver_up = [] { std::atexit([] { Client::instance().shutdown_at_exit(); }); };
  auto control = std::make_unique<ControlServer>();
  if (resolved.options.enable_control) {
    if (const base::Status listening = control->listen(); !listening) {
      config.notes.push_back({"enable_control", "on", "off", "no_socket", listening.message(), {}});
    }
  }
  auto session = capture::Session::start(std::move(config));
  if (!session) return session.status();
  session_ = std::move(*session);
  last_dir_ = session_->dir();
  say("session in " + last_dir_.string());
  for (const format::Capability& note : session_->capabilities()) {
    if (note.is_as_asked()) continue;
    say(format::feature_words(note) + ": " + format::outcome_words(note) + " (" + note.reason +
        "): " + note.detail + (note.hint.empty() ? "" : "; " + note.hint));
  }
  const bool is_scheduled = request.schedule.resume_at_ns || request.schedule.end_at_ns;
  if (resolved.options.enable_control || is_scheduled) {
    control_ = std::move(control);
    if (!control_->start(*this, request.schedule)) say("no thread could be started for control");
  }
  return base::Status::ok();
}

void Client::stop_session() {
  if (!session_) return;
  const base::Status status = session_->stop();
  say(status ? "session ended" : "session ended: " + status.text());
  session_.reset();
  joining::release();
}

void Client::shutdown() {
  std::unique_ptr<ControlServer> control;
  {
    const std::lock_guard lock(mutex_);
    joining::leave();
    control = std::move(control_);
  }
  control.reset();  // its thread may be waiting for the lock
  const std::lock_guard lock(mutex_);
  stop_session();
}

void Client::shutdown_at_exit() {
  g_exiting.store(true);
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  std::unique_lock lock(mutex_, std::defer_lock);
  const auto locked_in_time = [&] {
    while (!lock.try_lock()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  };
  if (!locked_in_time()) return;
  joining::leave();
  std::unique_ptr<ControlServer> control = std::move(control_);
  lock.unlock();
  // A thread that does not come back keeps what it uses.
  if (control && !control->stop_within(5s)) (void)control.release();
  if (locked_in_time()) stop_session();
}

bool Client::has_session() const { return session_ || joining::joined() != nullptr; }

bool Client::is_recording() {
  const std::lock_guard lock(mutex_);
  return has_session();
}

SessionStatus Client::session_status() {
  const std::lock_guard lock(mutex_);
  if (has_session()) return {true, ""};
  return {false, why_none_};
}

std::filesystem::path Client::folder() {
  const std::lock_guard lock(mutex_);
  note_joined_folder();
  return last_dir_;
}

// Flushes the session that this copy is a member of.
void Client::note_joined_folder() {
  joining::SessionTable* owner = joining::joined();
  if (owner == nullptr) return;
  std::string path(PATH_MAX, '\0');
  path.resize(owner->flushed_folder(path.data(), path.size()));
  if (!path.empty()) last_dir_ = path;
}

std::filesystem::path Client::flushed_folder() {
  const std::lock_guard lock(mutex_);
  if (!session_) return {};
  session_->flush();
  return session_->dir();
}

std::string Client::report() {
  const std::lock_guard lock(mutex_);
  note_joined_folder();
  if (last_dir_.empty()) return disabled_ ? "" : "gpufl: no session has been recorded\n";
  if (session_) session_->flush();
  const auto text = session_report(last_dir_);
  return text ? *text : "gpufl: no report: " + text.status().text() + "\n";
}

UploadResult Client::upload(UploadOptions options) {
  const ResolvedOptions around =
      resolve_options({}, capture::process_environment(), variable_names());
  std::filesystem::path folder;
  {
    const std::lock_guard lock(mutex_);
    if (disabled_ || around.is_disabled) {
      UploadResult nothing;
      nothing.success = true;
      return nothing;
    }
    note_joined_folder();
    if (session_) session_->flush();
    folder = last_dir_;
    // What an init() was given; the variables and the file, where there was none.
    const auto fill = [&](std::string& field, std::string InitOptions::* member) {
      if (field.empty()) field = in_force_.*member;
      if (field.empty()) field = around.options.*member;
    };
    // A key that was found beside one address is not sent to another.
    const bool is_other_server = !options.backend_url.empty();
    fill(options.backend_url, &InitOptions::backend_url);
    const auto is_known = [&](const InitOptions& known) {
      return !is_other_server || known.backend_url.empty() ||
             net::is_same_place(known.backend_url, options.backend_url);
    };
    if (is_known(in_force_) && is_known(around.options)) {
      fill(options.api_key, &InitOptions::api_key);
      fill(options.api_path, &InitOptions::api_path);
    }
  }
  return upload_logs(options, folder);
}

void Client::system_start(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (session_) session_->system_start(name);
  if (auto* owner = joining::joined()) owner->system_start(name.data(), name.size());
}

void Client::system_stop(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (session_) session_->system_stop(name);
  if (auto* owner = joining::joined()) owner->system_stop(name.data(), name.size());
}

void Client::open_warpscope() {
  const std::lock_guard lock(mutex_);
  if (session_) session_->open_warpscope();
  auto* owner = joining::joined();
  if (owner != nullptr && joining::takes_warpscope(*owner)) owner->open_warpscope();
}

WarpscopeStatus Client::record_warpscope(const WarpscopeCall& call) {
  if (call.count == 0 || call.words == nullptr) return WarpscopeStatus::Empty;
  if (call.count > kMaxWarpscopeWords) return WarpscopeStatus::TooLarge;
  const std::lock_guard lock(mutex_);
  if (auto* owner = joining::joined(); owner != nullptr) {
    if (!joining::takes_warpscope(*owner)) return WarpscopeStatus::NoSession;
    return static_cast<WarpscopeStatus>(owner->record_warpscope(&call));
  }
  if (!session_) return WarpscopeStatus::NoSession;
  capture::WarpscopeCapture capture;
  if (call.is_on_device != 0) {
    const base::Status copied = session_->copy_from_device(call.words, call.count, capture.words);
    if (!copied) {
      say("a capture of warpscope was not copied: " + copied.text());
      return WarpscopeStatus::CopyFailed;
    }
  } else {
    capture.words.assign(call.words, call.words + call.count);
  }
  capture.event_names = names(call.event_names, call.event_count);
  capture.group_names = names(call.group_names, call.group_count);
  capture.kernel.assign(call.kernel, call.kernel_size);
  capture.device = call.device;
  capture.correlation = call.correlation;
  capture.thread = call.thread;
  capture.opened_ns = call.opened_ns;
  const base::Status taken = session_->record_warpscope(std::move(capture));
  if (taken) return WarpscopeStatus::Recorded;
  return taken.code() == base::Code::LimitReached ? WarpscopeStatus::Full
                                                  : WarpscopeStatus::NoSession;
}

// Without the lock: a thread of the parent may have held it.
void Client::abandon() {
  if (session_) session_->abandon();
  if (control_) control_->abandon();
}

base::Json Client::status() {
  const std::lock_guard lock(mutex_);
  if (session_) return session_->status();
  base::Json ended = base::Json::object();
  ended.set("state", "ended").set("dir", last_dir_.string());
  return ended;
}

template <typename Call>
base::Status Client::with_session(std::string_view what, Call&& call) {
  const std::lock_guard lock(mutex_);
  base::Status status;
  if (joining::joined() != nullptr) {
    status = {base::Code::Unavailable,
              "the session belongs to another copy of the library in this process"};
  } else if (!session_) {
    status = {base::Code::Unavailable, why_none_};
  } else {
    status = call(*session_);
  }
  if (!status) say(std::string(what) + ": " + status.message());
  return status;
}

base::Status Client::resume() {
  return with_session("resume", [](capture::Session& session) { return session.resume(); });
}

base::Status Client::pause() {
  return with_session("pause", [](capture::Session& session) { return session.pause(); });
}

namespace {

capture::DeepWindowRequest request_of(const DeepWindowSpec& spec) {
  constexpr int64_t kMillisecond_ns = 1'000'000;
  const auto at_least_none = [](int value) { return std::max<int64_t>(value, 0); };
  return {at_least_none(spec.max_duration_ms) * kMillisecond_ns,
          static_cast<uint64_t>(at_least_none(spec.max_launches)),
          at_least_none(spec.cooldown_ms) * kMillisecond_ns, spec.name};
}

}  // namespace

base::Status Client::open_deep_window(const DeepWindowSpec& spec) {
  if (auto* owner = joining::joined(); owner != nullptr && joining::takes_deep_windows(*owner)) {
    const joining::DeepWindowCall call{sizeof call,      spec.max_duration_ms, spec.max_launches,
                                       spec.cooldown_ms, spec.name.data(),     spec.name.size()};
    if (owner->open_deep_window(&call)) return base::Status::ok();
    return {base::Code::Unavailable, "another copy of the library has refused it"};
  }
  return with_session("deepWindow", [&](capture::Session& session) {
    return session.open_deep_window(format::DeepWindowOpener::Api, request_of(spec));
  });
}

base::Status Client::close_deep_window() {
  if (auto* owner = joining::joined(); owner != nullptr && joining::takes_deep_windows(*owner)) {
    owner->close_deep_window();
    return base::Status::ok();
  }
  return with_session("deepWindowClose", [](capture::Session& session) {
    return session.close_deep_window(format::DeepWindowEnd::Api);
  });
}

bool Client::is_deep_window_open() {
  const auto* owner = joining::joined();
  if (owner == nullptr) return capture::DeepWindows::is_any_open();
  return joining::takes_deep_windows(*owner) && owner->is_deep_window_open();
}

base::Status Client::open_deep_window(const capture::DeepWindowRequest& request) {
  return with_session("deep", [&](capture::Session& session) {
    return session.open_deep_window(format::DeepWindowOpener::Control, request);
  });
}

base::Status Client::end_deep_window() {
  return with_session("deep", [](capture::Session& session) {
    return session.close_deep_window(format::DeepWindowEnd::Control);
  });
}

base::Status Client::flush() {
  return with_session("flush", [](capture::Session& session) {
    session.flush();
    return base::Status::ok();
  });
}

base::Status Client::mark(std::string_view text) {
  return with_session("mark", [&](capture::Session& session) {
    session.mark(text);
    return base::Status::ok();
  });
}

base::Status Client::end() {
  const std::lock_guard lock(mutex_);
  stop_session();
  return base::Status::ok();
}

void Client::say(const std::string& line) const {
  if (debug_) std::fprintf(stderr, "gpufl: %s\n", line.c_str());
}

}  // namespace gpufl::client
