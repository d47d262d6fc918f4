// SPDX-License-Identifier: Apache-2.0
#include "client/client.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "analysis/summary.hpp"
#include "capture/counters.hpp"
#include "capture/identity.hpp"
#include "capture/scope_recorder.hpp"
#include "report/text_report.hpp"

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
  Client* const parents = g_client.load(std::memory_order_relaxed);
  if (parents == nullptr) return;
  parents->abandon();
  g_client.store(new Client(parents), std::memory_order_release);
}

// When the library is loaded: counters take locks before there is a client.
__attribute__((constructor)) void watch_forks() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

Client* make_client() {
  auto* client = new Client(nullptr);
  g_client.store(client);
  std::atexit([] { Client::instance().shutdown_at_exit(); });
  return client;
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

uint64_t megabytes(int count) { return static_cast<uint64_t>(count) << 20; }
int64_t seconds(int count) { return int64_t{count} * 1'000'000'000; }

format::LogOptions log_options(const InitOptions& options) {
  format::LogOptions log;
  log.window_bytes = megabytes(options.log_window_mb);
  log.window_age_ns = seconds(options.log_window_s);
  log.spool_bytes = megabytes(options.log_spool_mb);
  log.disk_floor_bytes = megabytes(options.log_disk_floor_mb);
  log.keep_last_ns = seconds(options.log_keep_last_s);
  log.fsync_always = options.flush_logs_always;
  return log;
}

base::Json to_event(const OptionWarning& warning) {
  base::Json event = base::Json::object();
  event.set("name", "option_warning").set("reason", warning.name).set("source", warning.source);
  if (!warning.key.empty()) event.set("key", warning.key);
  if (warning.line > 0) event.set("line", warning.line);
  event.set("text", warning.to_line());
  return event;
}

// Says which options ask for uploads, never their values: one of them is a key.
std::optional<capture::CapabilityNote> upload_note(const InitOptions& options) {
  std::string asked_by;
  if (!options.backend_url.empty()) asked_by += "backend_url ";
  if (!options.api_key.empty()) asked_by += "api_key ";
  if (!options.api_path.empty()) asked_by += "api_path ";
  if (asked_by.empty()) return std::nullopt;
  return capture::CapabilityNote{
      "upload",
      "on",
      "off",
      "not_in_this_version",
      "this version uploads nothing; set: " + asked_by.substr(0, asked_by.size() - 1),
      {}};
}

capture::SessionConfig session_config(const ResolvedOptions& resolved) {
  const InitOptions& options = resolved.options;
  capture::SessionConfig config;
  config.app_name = options.app_name;
  config.log_root = log_root_of(options);
  config.engine = to_string(options.profiling_engine);
  config.backend = resolved.backend_name;
  config.sample_interval_ms = options.system_sample_rate_ms;
  config.continuous_sampling = options.continuous_system_sampling;
  config.trace.synchronization = options.enable_synchronization;
  config.log = log_options(options);
  if (options.enable_stack_trace) config.features.emplace_back("enable_stack_trace");
  if (options.enable_memory_tracking) config.features.emplace_back("enable_memory_tracking");
  if (options.enable_cuda_graphs_tracking) {
    config.features.emplace_back("enable_cuda_graphs_tracking");
  }
  if (auto note = upload_note(options)) config.notes.push_back(std::move(*note));
  for (const OptionWarning& warning : resolved.warnings) {
    config.events.push_back(to_event(warning));
  }
  return config;
}

}  // namespace

Client& Client::instance() {
  static Client* const first = make_client();
  Client* current = g_client.load(std::memory_order_acquire);
  return current != nullptr ? *current : *first;
}

bool Client::init(const InitOptions& program) {
  const std::lock_guard lock(mutex_);
  if (session_) return true;
  if (g_exiting.load()) return false;
  const ResolvedOptions resolved =
      resolve_options(program, capture::process_environment(), variable_names());
  debug_ = resolved.options.enable_debug_output;
  for (const OptionWarning& warning : resolved.warnings) say(warning.to_line());
  disabled_ = resolved.is_disabled;
  if (disabled_) {
    say("disabled");
    return false;
  }
  return start(resolved);
}

bool Client::start(const ResolvedOptions& resolved) {
  auto session = capture::Session::start(session_config(resolved));
  if (!session) {
    say("no session: " + session.status().text());
    return false;
  }
  session_ = std::move(*session);
  last_dir_ = session_->dir();
  say("session in " + last_dir_.string());
  for (const capture::CapabilityNote& note : session_->capabilities()) {
    if (note.asked == note.got) continue;
    say(note.feature + ": asked for " + note.asked + ", got " + note.got + " (" + note.reason +
        "): " + note.detail + (note.hint.empty() ? "" : "; " + note.hint));
  }
  return true;
}

void Client::stop_session() {
  if (!session_) return;
  const base::Status status = session_->stop();
  say(status ? "session ended" : "session ended: " + status.text());
  session_.reset();
}

void Client::shutdown() {
  const std::lock_guard lock(mutex_);
  stop_session();
}

void Client::shutdown_at_exit() {
  g_exiting.store(true);
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock()) {
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::sleep_for(1ms);
  }
  stop_session();
}

std::string Client::report() {
  const std::lock_guard lock(mutex_);
  if (last_dir_.empty()) return disabled_ ? "" : "gpufl: no session has been recorded\n";
  if (session_) session_->flush();
  const auto summary = analysis::summarize(last_dir_);
  if (!summary) return "gpufl: no report: " + summary.status().text() + "\n";
  return report::text_report(*summary);
}

void Client::system_start(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (session_) session_->system_start(name);
}

void Client::system_stop(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (session_) session_->system_stop(name);
}

// Without the lock: a thread of the parent may have held it.
void Client::abandon() {
  if (session_) session_->abandon();
}

void Client::say(const std::string& line) const {
  if (debug_) std::fprintf(stderr, "gpufl: %s\n", line.c_str());
}

}  // namespace gpufl::client
