// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "capture/identity.hpp"
#include "cli/exit_codes.hpp"
#include "cli/live_view.hpp"
#include "cli/monitor_upload.hpp"
#include "cli/print.hpp"
#include "cli/prometheus.hpp"
#include "cli/stop_signals.hpp"
#include "cli/terminal.hpp"
#include "client/options.hpp"
#include "format/capability_words.hpp"
#include "net/http_server.hpp"
#include "net/router.hpp"
#include "text/quantity.hpp"
#include "text/units.hpp"
#include "workbench/cleanup.hpp"

namespace gpufl::cli {
namespace {

using View = MonitorOptions::View;

constexpr int64_t kFastestRefresh_ns = 200'000'000;
constexpr int64_t kSlowestRefresh_ns = 1'000'000'000;

// For a scrape that is under way when the monitor ends.
constexpr std::chrono::milliseconds kScrapeEnd{500};

constexpr std::string_view kIndexPage =
    "<!DOCTYPE html><html lang=\"en\"><head><title>GPUFlight monitor</title></head>"
    "<body><h1>GPUFlight monitor</h1><p><a href=\"/metrics\">Metrics</a></p></body></html>\n";

// Serves the board of a session that may not have started yet: the port is taken first, so that a
// port in use leaves no empty session behind.
class MetricsEndpoint {
 public:
  base::Status start(const net::Endpoint& endpoint, PrometheusOptions options) {
    router_.get("/metrics", [this, options](const auto&, const auto&) {
      const std::shared_ptr<const capture::Session> session = attached();
      const auto board = session ? session->board() : capture::MetricBoard{};
      return net::reply_with(std::string(kPrometheusContentType), prometheus_text(board, options));
    });
    router_.get("/healthz", [](const auto&, const auto&) {
      return net::reply_with("text/plain; charset=utf-8", "ok\n");
    });
    router_.get("/", [](const auto&, const auto&) {
      return net::reply_with("text/html; charset=utf-8", std::string(kIndexPage));
    });
    net::HttpLimits limits;
    limits.connections = 32;
    limits.header_bytes = 8192;
    limits.body_bytes = 0;
    limits.workers = 1;
    limits.stop_time = kScrapeEnd;
    auto server = net::HttpServer::start(
        endpoint, [this](const net::HttpRequest& request) { return router_.answer(request); },
        limits);
    if (!server) return server.status();
    server_ = std::move(*server);
    return base::Status::ok();
  }

  // It is kept until another one is attached: a scrape may be reading it.
  void attach(std::shared_ptr<const capture::Session> session) {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }
  void stop() { server_.reset(); }
  std::string url() const {
    return server_ ? "http://" + server_->endpoint().text() + "/metrics" : std::string();
  }

 private:
  std::shared_ptr<const capture::Session> attached() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const capture::Session> session_;
  net::Router router_;
  std::unique_ptr<net::HttpServer> server_;
};

// What applies where a variable is wrong: the monitor's own options, as near as the library's come
// to them.
InitOptions in_force(const MonitorOptions& options) {
  constexpr int64_t kMillisecondNs = 1'000'000, kSecondNs = 1'000'000'000;
  const auto mega = [](uint64_t bytes) {
    constexpr uint64_t kMost = 1 << 30;
    return static_cast<int>(std::min(bytes >> 20, kMost));
  };
  InitOptions in_force;
  in_force.system_sample_rate_ms = static_cast<int>(options.interval_ns / kMillisecondNs);
  in_force.continuous_system_sampling = true;
  in_force.log_spool_mb = mega(options.spool_bytes);
  in_force.log_disk_floor_mb = mega(options.disk_floor_bytes);
  in_force.log_window_mb = std::clamp(mega(options.window_bytes), 1, 4096);
  in_force.log_window_s = std::max(1, static_cast<int>(options.window_age_ns / kSecondNs));
  in_force.log_keep_last_s = static_cast<int>(options.keep_last_ns / kSecondNs);
  return in_force;
}

// What cannot be recorded, and what to do about it.
struct Notices {
  std::vector<std::string> lines, hints;
};

Notices missing_features(const capture::Session& session) {
  Notices notices;
  for (const format::Capability& note : session.capabilities()) {
    if (note.is_as_asked()) continue;
    notices.lines.push_back(note.feature == "health" && note.reason == "library_not_found"
                                ? "no NVIDIA driver here; recording the host only"
                                : fmt::format("{}: {}", format::feature_words(note),
                                              note.detail.empty() ? note.reason : note.detail));
    if (!note.hint.empty()) notices.hints.push_back(note.hint);
  }
  return notices;
}

std::string counted(size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string recorded(const std::vector<backend::DeviceFacts>& devices) {
  if (devices.empty()) return "the host (no GPU)";
  const auto instances =
      static_cast<size_t>(std::count_if(devices.begin(), devices.end(), [](const auto& device) {
        return device.parent.has_value();
      }));
  std::string text = counted(devices.size() - instances, "GPU");
  if (instances > 0) text += ", " + counted(instances, "MIG instance");
  return text + " and the host";
}

// ", 312 rows dropped (disk_floor 312)"; nothing when none was.
std::string dropped_text(const capture::MetricBoard& board) {
  const uint64_t rows = rows_dropped(board);
  if (rows == 0) return {};
  std::string reasons;
  for (const auto& [reason, count] : board.log.dropped) {
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, count);
  }
  return fmt::format(", {} row{} dropped ({})", text::count(rows), rows == 1 ? "" : "s", reasons);
}

View chosen_view(View asked) {
  if (asked != View::Auto) return asked;
  return terminal_is_usable() ? View::Screen : View::None;
}

class Monitor {
 public:
  Monitor(const MonitorOptions& options, std::string_view program)
      : options_(options), program_(program), view_(chosen_view(options.view)) {}

  int run() {
    if (const base::Status status = start(); !status) {
      say(status.message());
      return kExitCannotTell;
    }
    announce();
    if (options_.upload) upload_ = std::make_unique<MonitorUpload>(options_, program_);
    std::string why = wait_for_end();
    while (why.empty()) {
      if (const base::Status status = begin_next(); !status) {
        terminal_.reset();
        say("the next session cannot begin: " + status.message());
        return kExitCannotTell;
      }
      why = wait_for_end();
    }
    return finish(why);
  }

 private:
  void say(std::string_view text) const { print_error(fmt::format("{}: {}\n", program_, text)); }

  base::Status start() {
    if (view_ == View::Screen && !terminal_is_usable()) {
      return {base::Code::Unsupported, "--view screen needs a terminal in the foreground"};
    }
    if (options_.metrics) {
      const auto status = metrics_.start(*options_.metrics, {options_.process_metrics});
      if (!status) return status;
    }
    warnings_ = client::resolve_options({}, capture::process_environment(),
                                        client::variable_names(), in_force(options_))
                    .warnings;
    for (const client::OptionWarning& warning : warnings_) {
      say(text::make_harmless(warning.to_line()));
    }
    began_ns_ = base::monotonic_ns();
    return begin_session();
  }

  base::Status begin_session() {
    if (options_.keep_sessions_bytes) {
      const workbench::Cleanup done = workbench::delete_old_sessions(options_.output, options_.name,
                                                                     *options_.keep_sessions_bytes);
      if (!done.deleted.empty()) say(fmt::format("deleted {} old sessions", done.deleted.size()));
      for (const auto& dir : done.emptied) {
        say(fmt::format("deleted the old session in {}, but not the other files there",
                        dir.string()));
      }
    }
    capture::SessionConfig config = options_.session_config();
    for (const client::OptionWarning& warning : warnings_) {
      config.events.push_back(warning.to_event());
    }
    auto session = capture::Session::start(std::move(config));
    if (!session) return session.status();
    session_ = std::move(*session);
    session_began_ns_ = base::monotonic_ns();
    metrics_.attach(session_);
    return base::Status::ok();
  }

  // The session has lasted as long as one may: whoever reads it need not read months.
  base::Status begin_next() {
    const base::Status stopped = session_->stop();
    rows_dropped_ += rows_dropped(session_->board());
    if (!stopped) {
      is_broken_ = true;
      notice("the session did not end cleanly: " + stopped.message());
    }
    if (const base::Status status = begin_session(); !status) return status;
    state_.session_dir = session_->dir().string();
    notice("recording into the next session, " + state_.session_dir);
    return base::Status::ok();
  }

  // Where no view is drawn over it.
  void notice(std::string_view text) const {
    if (!terminal_) say(text);
  }

  void announce() {
    state_.name = options_.name;
    state_.session_dir = session_->dir().string();
    state_.metrics_url = metrics_.url();
    const Notices notices = missing_features(*session_);
    state_.notice = fmt::format("{}", fmt::join(notices.lines, "; "));
    state_.interval_ns = options_.interval_ns;

    const std::string served =
        state_.metrics_url.empty() ? "" : fmt::format("; metrics on {}", state_.metrics_url);
    say(fmt::format("recording {} every {} into {}{}", recorded(session_->board().devices),
                    text::typed_duration(options_.interval_ns), state_.session_dir, served));
    if (!state_.notice.empty()) say(state_.notice);
    for (const std::string& hint : notices.hints) say(hint);
    if (options_.metrics && !options_.metrics->is_loopback()) {
      say(fmt::format("warning: {} is open to the network, without authentication",
                      state_.metrics_url));
    }
  }

  // Returns what ended the recording; empty: the session has lasted as long as one may.
  std::string wait_for_end() {
    if (view_ == View::Screen && !terminal_) terminal_.emplace();
    const int64_t end_ns = options_.duration_ns ? began_ns_ + *options_.duration_ns : INT64_MAX;
    const int64_t next_ns = session_began_ns_ + options_.session_length_ns;
    const int64_t refresh_ns =
        std::clamp(options_.interval_ns, kFastestRefresh_ns, kSlowestRefresh_ns);
    int64_t next_refresh_ns = base::monotonic_ns();
    while (true) {
      const int64_t now_ns = base::monotonic_ns();
      if (now_ns >= end_ns) return "the end of --duration";
      if (now_ns >= next_ns) return {};
      if (now_ns >= next_refresh_ns) {
        refresh();
        next_refresh_ns = std::max(next_refresh_ns + refresh_ns, now_ns);
      }
      if (!wait(std::min({next_refresh_ns, end_ns, next_ns}))) return "the closing of its terminal";
      for (int number; (number = signals_.take()) != 0;) {
        if (number != SIGWINCH) return std::string(signal_name(number));
        next_refresh_ns = 0;
      }
      while (terminal_) {
        const auto key = terminal_->read_key();
        if (!key) break;
        if (*key == 'q' || *key == 'Q') return "q";
      }
    }
  }

  // Until a signal, a key or the time given. False when the terminal is gone.
  bool wait(int64_t wake_ns) const {
    pollfd sources[] = {{signals_.fd(), POLLIN, 0}, {terminal_ ? STDIN_FILENO : -1, POLLIN, 0}};
    const int64_t left_ns = std::max<int64_t>(0, wake_ns - base::monotonic_ns());
    const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    ::ppoll(sources, std::size(sources), &timeout, nullptr);
    return (sources[1].revents & (POLLHUP | POLLERR)) == 0;
  }

  void refresh() {
    state_.elapsed_ns = base::monotonic_ns() - session_began_ns_;
    state_.board = session_->board();
    if (terminal_) {
      terminal_->draw(live_view(state_, terminal_->size(), terminal_has_color()));
      return;
    }
    announce_pause();
    if (view_ == View::Lines && state_.board.samples_taken > 0) {
      print(live_line(state_) + "\n");
      std::fflush(stdout);
    }
  }

  // What the screen shows all the time, told once each time it changes.
  void announce_pause() {
    const std::string& reason = state_.board.log.paused;
    if (reason == announced_pause_) return;
    say(reason.empty()
            ? "the log is written again"
            : fmt::format("the log is paused ({}): samples taken meanwhile are lost", reason));
    announced_pause_ = reason;
  }

  int finish(const std::string& why) {
    terminal_.reset();
    metrics_.stop();
    signals_.release();
    const int64_t lasted_ns = base::monotonic_ns() - session_began_ns_;
    const base::Status stopped = session_->stop();
    const capture::MetricBoard board = session_->board();
    say(fmt::format("stopped by {} after {}: {} sample{}, {} missed{}; session {}", why,
                    text::duration(static_cast<double>(lasted_ns)),
                    text::count(board.samples_taken), board.samples_taken == 1 ? "" : "s",
                    text::count(board.samples_missed), dropped_text(board),
                    session_->dir().string()));
    if (!stopped) say("the session did not end cleanly: " + stopped.message());
    if (upload_) upload_->finish();
    if (!stopped || is_broken_) return kExitCannotTell;
    return rows_dropped_ + rows_dropped(board) == 0 ? kExitGood : kExitNo;
  }

  const MonitorOptions& options_;
  const std::string program_;
  const View view_;
  StopSignals signals_;  // before everything that starts a thread
  std::shared_ptr<capture::Session> session_;
  MetricsEndpoint metrics_;
  std::unique_ptr<MonitorUpload> upload_;
  std::vector<client::OptionWarning> warnings_;  // of variables; each session tells of them
  int64_t began_ns_ = 0, session_began_ns_ = 0;
  uint64_t rows_dropped_ = 0;  // of sessions before this one
  bool is_broken_ = false;     // one of them did not end cleanly
  LiveViewState state_;
  std::string announced_pause_;
  std::optional<Terminal> terminal_;
};

}  // namespace

int run_monitor(const MonitorOptions& options, std::string_view program) {
  return Monitor(options, program).run();
}

}  // namespace gpufl::cli
