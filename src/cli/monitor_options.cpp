// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_options.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "cli/quantity_option.hpp"

namespace gpufl::cli {
namespace {

constexpr int64_t kShortestInterval_ns = 10'000'000;
constexpr int64_t kLongestInterval_ns = int64_t{3600} * 1'000'000'000;
constexpr uint64_t kSmallestWindow = uint64_t{64} << 10;
constexpr int64_t kShortestWindow_ns = 1'000'000'000;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void add_log_options(CLI::App& app, MonitorOptions& options) {
  add_quantity<uint64_t>(app, "--spool", parse_bytes, 0, "0", "SIZE", "8G",
                         "Most disk space for the session; then its oldest windows go. 0: no cap",
                         [&options](uint64_t v) { options.spool_bytes = v; });
  add_quantity<uint64_t>(app, "--disk-floor", parse_bytes, 0, "0", "SIZE", "512M",
                         "Write nothing while the disk has less free space than this",
                         [&options](uint64_t v) { options.disk_floor_bytes = v; });
  add_quantity<int64_t>(app, "--keep-last", parse_duration_ns, 0, "0", "DURATION", "",
                        "Keep only about the last DURATION of the session",
                        [&options](int64_t v) { options.keep_last_ns = v; });
  add_quantity<uint64_t>(app, "--keep-sessions", parse_bytes, 0, "0", "SIZE", "",
                         "First delete the oldest ended sessions of this name in DIR until the "
                         "others fit SIZE; without it, none is deleted",
                         [&options](uint64_t v) { options.keep_sessions_bytes = v; });
  add_quantity<int64_t>(app, "--window", parse_duration_ns, kShortestWindow_ns, "1s", "DURATION",
                        "10m", "Seal (compress) a log file when it is this old",
                        [&options](int64_t v) { options.window_age_ns = v; });
  add_quantity<uint64_t>(app, "--window-size", parse_bytes, kSmallestWindow, "64K", "SIZE", "64M",
                         "Seal a log file when it is this large",
                         [&options](uint64_t v) { options.window_bytes = v; });
}

void add_prometheus_options(CLI::App& app, MonitorOptions& options) {
  auto* prometheus = app.add_option_function<std::vector<std::string>>(
      "--prometheus",
      [&options](const std::vector<std::string>& values) {
        const net::Endpoint fallback{"127.0.0.1", kDefaultMetricsPort};
        options.metrics =
            values.front().empty()
                ? fallback
                : value_or_throw("--prometheus", net::parse_endpoint(values.front(), fallback));
      },
      "Serve the newest values to Prometheus on http://ADDRESS:PORT/metrics; on loopback unless "
      "an address is given, on port " +
          std::to_string(kDefaultMetricsPort) + " unless a port is given");
  prometheus->type_name("[ADDRESS:PORT]")->expected(0, 1);
  app.add_flag("--prometheus-processes", options.process_metrics,
               "Also serve the memory of each process on each GPU (one series per process)")
      ->needs(prometheus);
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

void add_monitor_options(CLI::App& app, MonitorOptions& options) {
  app.add_option("-n,--name", options.name, "Name of the session")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Folder in which the session's folder is made")
      ->type_name("DIR")
      ->default_str(options.output.string());
  add_quantity<int64_t>(app, "-i,--interval", parse_duration_ns, kShortestInterval_ns, "10ms",
                        "DURATION", "1s", "Time between two samples: 10ms to 1h",
                        [&options](int64_t value) {
                          if (value > kLongestInterval_ns) {
                            throw CLI::ValidationError("--interval", "more than 1h");
                          }
                          options.interval_ns = value / 1'000'000 * 1'000'000;
                        });
  add_quantity<int64_t>(app, "-d,--duration", parse_duration_ns, 1, "1ns", "DURATION", "",
                        "Stop after this time; without it, when told to",
                        [&options](int64_t value) { options.duration_ns = value; });

  std::vector<std::string> backends{"auto", "none"};
  for (std::string_view backend : backend::backend_names()) {
    if (std::find(backends.begin(), backends.end(), backend) == backends.end()) {
      backends.emplace_back(backend);
    }
  }
  app.add_option("--backend", options.backend, "Where GPU metrics come from: " + joined(backends))
      ->type_name("NAME")
      ->envname("GPUFL_BACKEND")
      ->transform(CLI::IsMember(backends, CLI::ignore_case))
      ->capture_default_str();
  add_prometheus_options(app, options);
  add_log_options(app, options);
}

void add_view_option(CLI::App& app, MonitorOptions& options) {
  using View = MonitorOptions::View;
  const std::map<std::string, View> views{
      {"auto", View::Auto}, {"screen", View::Screen}, {"lines", View::Lines}, {"none", View::None}};
  app.add_option_function<std::string>(
         "--view", [&options, views](const std::string& text) { options.view = views.at(text); },
         "What to show meanwhile: auto, screen, lines or none; auto is screen on a terminal, "
         "else none")
      ->type_name("VIEW")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "screen", "lines", "none"}))
      ->default_str("auto");
}

}  // namespace gpufl::cli
