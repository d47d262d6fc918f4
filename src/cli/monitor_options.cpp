// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_options.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "cli/uploading.hpp"

namespace gpufl::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void add_log_options(Command command, MonitorOptions& options) {
  command
      .add_bytes("--spool", {},
                 "Maximum disk space of the session; beyond it, the oldest windows are deleted. "
                 "0: no limit",
                 store_in(options.spool_bytes))
      .default_text("8G");
  command
      .add_bytes("--disk-floor", {}, "Write nothing while the disk has less free space than this",
                 store_in(options.disk_floor_bytes))
      .default_text("512M");
  command.add_duration("--keep-last", {.least = "1s"},
                       "Keep only about the last DURATION of the session",
                       store_in(options.keep_last_ns));
  command.add_bytes("--keep-sessions", {},
                    "At the start, delete the oldest ended sessions of this name in DIR until the "
                    "others fit into SIZE; by default, nothing is deleted",
                    store_in(options.keep_sessions_bytes));
  command
      .add_duration("--window", {.least = "1s"}, "Seal (compress) a log file when it is this old",
                    store_in(options.window_age_ns))
      .default_text("10m");
  command
      .add_bytes("--window-size", {.least = "64K"}, "Seal a log file when it is this large",
                 store_in(options.window_bytes))
      .default_text("64M");
}

void add_prometheus_options(Command command, MonitorOptions& options) {
  const auto take_endpoint = [&options](const std::string& text) -> base::Status {
    const net::Endpoint fallback{"127.0.0.1", kDefaultMetricsPort};
    const auto endpoint = text.empty() ? fallback : net::parse_endpoint(text, fallback);
    if (!endpoint) return endpoint.status();
    options.metrics = *endpoint;
    return {};
  };
  const Option prometheus =
      command
          .add_optionally_parsed("--prometheus", take_endpoint,
                                 "Serve the newest values to Prometheus on "
                                 "http://ADDRESS:PORT/metrics; on loopback unless an address is "
                                 "given, on port " +
                                     std::to_string(kDefaultMetricsPort) +
                                     " unless a port is given")
          .type_name("[ADDRESS:PORT]");
  command
      .add_flag("--prometheus-processes", options.process_metrics,
                "Also serve the memory of each process on each GPU (one series per process)")
      .needs(prometheus);
}

}  // namespace

capture::SessionConfig MonitorOptions::session_config() const {
  capture::SessionConfig config;
  config.app_name = name;
  config.log_root = output;
  config.engine = "Monitor";
  config.backend = backend;
  config.sample_interval_ms = static_cast<int>(interval_ns / 1'000'000);
  config.continuous_sampling = true;
  config.log.window_bytes = window_bytes;
  config.log.window_age_ns = window_age_ns;
  config.log.spool_bytes = spool_bytes;
  config.log.disk_floor_bytes = disk_floor_bytes;
  config.log.keep_last_ns = keep_last_ns;
  config.log.on_full = format::SpoolPolicy::DropOldest;
  return config;
}

void add_monitor_options(Command command, MonitorOptions& options) {
  command.add_option("-n,--name", options.name, "Name of the session")
      .type_name("NAME")
      .show_default();
  command.add_option("-o,--output", options.output, "Folder for the session's folder")
      .type_name("DIR")
      .default_text(options.output.string());
  command
      .add_duration(
          "-i,--interval", {.least = "10ms", .most = "1h"}, "Time between two samples: 10ms to 1h",
          [&options](int64_t value) { options.interval_ns = value / 1'000'000 * 1'000'000; })
      .default_text("1s");
  command.add_duration("-d,--duration", {.least = "1ms"},
                       "Stop after this time; by default, run until stopped",
                       store_in(options.duration_ns));

  command
      .add_duration("--session-length", {.least = "1s"},
                    "End the session after this time, and begin the next",
                    store_in(options.session_length_ns))
      .default_text("30d");

  std::vector<std::string> backends{"auto", "none"};
  for (std::string_view backend : backend::backend_names()) {
    if (std::find(backends.begin(), backends.end(), backend) == backends.end()) {
      backends.emplace_back(backend);
    }
  }
  command
      .add_option("--backend", options.backend, "Where GPU metrics come from: " + joined(backends))
      .type_name("NAME")
      .variable("GPUFL_BACKEND")
      .choices_in_any_case(backends)
      .show_default();
  add_prometheus_options(command, options);
  add_log_options(command, options);
  const Option upload = command.add_flag(
      "--upload", options.upload,
      "Send what is in DIR to a server, as it is recorded: the server of gpufl login or of "
      "GPUFL_BACKEND_URL and GPUFL_API_KEY");
  add_redaction_options(command, options.redaction, upload);
}

void add_view_option(Command command, MonitorOptions& options) {
  using View = MonitorOptions::View;
  static const std::map<std::string, View> kViews{
      {"auto", View::Auto}, {"screen", View::Screen}, {"lines", View::Lines}, {"none", View::None}};
  const auto take_view = [&options](const std::string& text) {
    options.view = kViews.at(text);
    return base::Status();
  };
  command
      .add_parsed("--view", take_view,
                  "What to show while recording: auto, screen, lines or none; auto is screen on a "
                  "terminal, otherwise none")
      .type_name("VIEW")
      .choices({"auto", "screen", "lines", "none"})
      .default_text("auto");
}

}  // namespace gpufl::cli
