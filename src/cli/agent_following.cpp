// SPDX-License-Identifier: Apache-2.0
#include "cli/agent_following.hpp"

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/prometheus.hpp"
#include "cli/stop_signals.hpp"
#include "cli/uploading.hpp"
#include "hosting/file_limit.hpp"
#include "net/http_server.hpp"
#include "net/proxy.hpp"
#include "net/router.hpp"
#include "text/units.hpp"
#include "workbench/cleanup.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

constexpr uint16_t kMetricsPort = 14784;  // the one behind the monitor's

struct AgentMetric {
  const char* name;
  const char* type;
  const char* help;
  uint64_t value;
};

std::string agent_metrics(const agent::FollowCounts& counts) {
  std::string text;
  for (const AgentMetric& metric : {
           AgentMetric{"gpufl_agent_sessions", "gauge", "Sessions in the folder", counts.sessions},
           AgentMetric{"gpufl_agent_live_sessions", "gauge", "Of these, being written",
                       counts.live},
           AgentMetric{"gpufl_agent_complete_sessions", "gauge",
                       "Ended sessions that the server has confirmed", counts.complete},
           AgentMetric{"gpufl_agent_gone_sessions", "gauge",
                       "Sessions that were deleted on the server", counts.gone},
           AgentMetric{"gpufl_agent_deleted_sessions_total", "counter",
                       "Confirmed sessions that were deleted here", counts.deleted},
           AgentMetric{"gpufl_agent_refused_files_total", "counter",
                       "Files that the server does not take, or that cannot be read",
                       counts.set_aside},
           AgentMetric{"gpufl_agent_sent_pieces_total", "counter", "Pieces that were acknowledged",
                       counts.pieces},
           AgentMetric{"gpufl_agent_sent_bytes_total", "counter", "Their bytes, as sent",
                       counts.bytes},
           AgentMetric{"gpufl_agent_sent_rows_total", "counter", "Their rows", counts.rows},
           AgentMetric{"gpufl_agent_waits_total", "counter",
                       "Times that the server was busy, absent or refused the key", counts.waits},
           AgentMetric{"gpufl_agent_acknowledged_timestamp_seconds", "gauge",
                       "When a piece was acknowledged last; 0: none yet",
                       static_cast<uint64_t>(counts.acknowledged_wall_ns / 1'000'000'000)},
           AgentMetric{"gpufl_agent_left_bytes", "gauge", "Bytes on the disk that are not sent yet",
                       counts.left_bytes},
           AgentMetric{"gpufl_agent_lag_seconds", "gauge",
                       "For how long something has been left to send",
                       static_cast<uint64_t>(counts.lag.count())},
           AgentMetric{"gpufl_agent_denied", "gauge", "1: the key or the address is refused",
                       counts.is_denied ? uint64_t{1} : uint64_t{0}},
       }) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", metric.name, metric.help,
                        metric.type, metric.value);
  }
  return text;
}

base::Result<std::unique_ptr<net::HttpServer>> serve_metrics(const net::Endpoint& endpoint,
                                                             const agent::Follower& follower) {
  auto router = std::make_shared<net::Router>();
  router->get("/metrics", [&follower](const auto&, const auto&) {
    return net::reply_with(std::string(kPrometheusContentType), agent_metrics(follower.counts()));
  });
  router->get("/healthz", [&follower](const auto&, const auto&) {
    const bool is_denied = follower.counts().is_denied;
    return net::reply_with("text/plain; charset=utf-8", is_denied ? "denied\n" : "ok\n",
                           is_denied ? 503 : 200);
  });
  net::HttpLimits limits;
  limits.connections = 16;
  limits.body_bytes = 0;
  limits.workers = 1;
  return net::HttpServer::start(
      endpoint, [router](const net::HttpRequest& request) { return router->answer(request); },
      limits);
}

// Of folders that do not exist yet.
std::string absent_folders(const std::vector<std::filesystem::path>& folders) {
  std::string absent;
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) continue;
    absent += (absent.empty() ? "" : ", ") + folder.string();
  }
  return absent;
}

const char* word_of(agent::Follower::End end) {
  switch (end) {
    case agent::Follower::End::Stopped: return "stopped";
    case agent::Follower::End::Drained: return "drained";
    case agent::Follower::End::Incomplete: break;
  }
  return "not everything could be sent";
}

}  // namespace

int run_agent(AgentLine line, std::string_view who) {
  const StopSignals signals;
  // Sessions that are being written, or of which the server refuses a file, stay open.
  hosting::raise_file_limit();
  agent::FollowOptions options = std::move(line.options);
  bool is_stopped = false;
  options.is_stopped = [&] {
    for (int number = signals.take(); number != 0; number = signals.take()) {
      is_stopped = is_stopped || number != SIGWINCH;
    }
    return is_stopped;
  };
  if (options.delete_after &&
      agent::with_variables(options.redaction, net::environment_variable).is_any()) {
    complain(who,
             "--delete-after deletes what the server has byte for byte, and cannot be used where "
             "something is left out: by --no-source, --no-command, GPUFL_UPLOAD_NO_SOURCE or "
             "GPUFL_UPLOAD_NO_COMMAND");
    return kExitUsage;
  }
  if (line.folders.empty()) line.folders.emplace_back(workbench::kDefaultLogs);
  options.folders.assign(line.folders.begin(), line.folders.end());
  const std::string absent = absent_folders(options.folders);
  if (!absent.empty() && options.drains) {
    complain(who, "there is no folder " + absent);
    return kExitCannotTell;
  }
  options.credentials = credentials_file();
  options.say = [who](std::string_view text) { complain(who, text); };
  options.delete_session = [](const std::filesystem::path& dir) {
    workbench::CleanupChoice choice;
    choice.only = {dir};
    workbench::delete_sessions(dir, false, choice);
  };
  agent::Follower follower(std::move(options));
  std::unique_ptr<net::HttpServer> metrics;
  if (line.metrics) {
    auto server = serve_metrics(*line.metrics, follower);
    if (!server) {
      complain(who, server.status().message());
      return kExitCannotTell;
    }
    metrics = std::move(*server);
    complain(who, "metrics on http://" + metrics->endpoint().text() + "/metrics");
  }
  complain(who, fmt::format("following {}{}", fmt::join(line.folders, ", "),
                            absent.empty() ? "" : "; not there yet: " + absent));
  const agent::Follower::End end = follower.run();
  const agent::FollowCounts counts = follower.counts();
  complain(who,
           fmt::format("{}: sent {} ({} rows) of {} sessions, {} of them complete", word_of(end),
                       text::bytes(static_cast<double>(counts.bytes)), text::count(counts.rows),
                       text::count(counts.sessions), text::count(counts.complete)));
  return end == agent::Follower::End::Incomplete ? kExitNo : kExitGood;
}

void add_agent_options(Command command, AgentLine& line) {
  agent::FollowOptions& options = line.options;
  command.add_option("folders", line.folders, "Log folders [default: gpufl-logs]")
      .type_name("DIR...");
  add_server_options(command, options.server);
  command
      .add_option("--key-file", options.key_file,
                  "File with the key; read again when the key is refused [default: GPUFL_API_KEY, "
                  "or that of gpufl login]")
      .type_name("FILE");
  add_redaction_options(command, options.redaction);
  command.add_bytes("--bandwidth", {.least = "64K"}, "Send at most this much a second",
                    store_in(options.bytes_per_s));
  const Option drain = command.add_flag(
      "--drain", options.drains, "Exit when no session is being written and all of them are sent");
  command
      .add_duration("--drain-for", {.least = "1s"},
                    "Drain for no longer than this; what is left stays on the disk",
                    [&options](int64_t ns) { options.drain_for = std::chrono::nanoseconds(ns); })
      .needs(drain);
  command.add_duration(
      "--delete-after", {},
      "Delete sessions here this long after their end, once the server has "
      "confirmed every file of them [default: keep them]",
      [&options](int64_t ns) { options.delete_after = std::chrono::nanoseconds(ns); });
  const auto take_endpoint = [&line](const std::string& text) -> base::Status {
    const auto endpoint = net::parse_endpoint(text, {"127.0.0.1", kMetricsPort});
    if (!endpoint) return endpoint.status();
    line.metrics = *endpoint;
    return {};
  };
  command
      .add_parsed("--prometheus", take_endpoint,
                  "Serve its own state to Prometheus on http://ADDRESS:PORT/metrics; on loopback "
                  "unless an address is given, on port " +
                      std::to_string(kMetricsPort) + " unless a port is given")
      .type_name("ADDRESS:PORT");
  command.set_footer(
      "Nothing is kept but on the server, so the agent can be stopped, killed and run twice on one "
      "folder without loss or duplicates. Links are not followed.\nExit code: 0 stopped by a "
      "signal, or drained; 1 with --drain: something could not be sent; 2 there is no folder "
      "to drain, or the metrics port could not be opened.");
}

}  // namespace gpufl::cli
