// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/credentials.hpp"
#include "agent/redaction.hpp"
#include "capture/session.hpp"
#include "cli/command_line.hpp"
#include "net/endpoint.hpp"

// What `gpufl monitor` and `gpufl-monitor` can be told, as one set of options.
namespace gpufl::cli {

// Outside 9100-9999, where every port is given out to some exporter, outside what IANA has given
// out, and below the ports that Linux hands to outgoing connections. 4783 spells GPUF on a phone.
inline constexpr uint16_t kDefaultMetricsPort = 14783;

struct MonitorOptions {
  enum class View { Auto, Screen, Lines, None };

  std::string name = "monitor";
  std::filesystem::path output = "gpufl-logs";
  int64_t interval_ns = 1'000'000'000;
  std::optional<int64_t> duration_ns;  // none: until stopped
  // Then the session ends, and the next begins.
  int64_t session_length_ns = int64_t{30} * 24 * 3600 * 1'000'000'000;
  std::string backend = "auto";
  View view = View::Auto;
  uint64_t spool_bytes = uint64_t{8} << 30;
  uint64_t disk_floor_bytes = uint64_t{512} << 20;
  uint64_t window_bytes = uint64_t{64} << 20;
  int64_t window_age_ns = int64_t{600} * 1'000'000'000;
  int64_t keep_last_ns = 0;
  std::optional<uint64_t> keep_sessions_bytes;  // none: older sessions stay
  std::optional<net::Endpoint> metrics;
  bool process_metrics = false;
  bool upload = false;
  agent::ServerChoice server;
  agent::Redaction redaction;  // of what is uploaded

  capture::SessionConfig session_config() const;
};

// `options` is filled while the command line is read and must outlive that.
void add_monitor_options(Command command, MonitorOptions& options);
// --view: for the program that people watch, not for the daemon.
void add_view_option(Command command, MonitorOptions& options);

}  // namespace gpufl::cli
