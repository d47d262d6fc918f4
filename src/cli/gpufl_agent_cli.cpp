// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "agent/follower.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_codes.hpp"
#include "cli/gpufl_cli.hpp"
#include "cli/print.hpp"
#include "cli/prometheus.hpp"
#include "cli/stop_signals.hpp"
#include "cli/uploading.hpp"
#include "net/endpoint.hpp"
#include "net/http_server.hpp"
#include "net/router.hpp"
#include "text/units.hpp"
#include "workbench/cleanup.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kName = "gpufl-agent";
constexpr uint16_t kMetricsPort = 14784;  // the one behind the monitor's

struct AgentLine {
  std::string folder = workbench::kDefaultLogs;
  agent::FollowOptions options;
  std::optional<net::Endpoint> metrics;
};

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
                       "Files that the server does not take", counts.set_aside},
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

int run_agent(AgentLine line) {
  const StopSignals signals;
  agent::FollowOptions options = std::move(line.options);
  bool is_stopped = false;
  options.is_stopped = [&] {
    for (int number = signals.take(); number != 0; number = signals.take()) {
      is_stopped = is_stopped || number != SIGWINCH;
    }
    return is_stopped;
  };
  options.logs = line.folder;
  std::error_code error;
  const bool has_folder = std::filesystem::is_directory(options.logs, error);
  if (!has_folder && options.drains) {
    complain(kName, "there is no folder " + line.folder);
    return kExitCannotTell;
  }
  options.credentials = credentials_file();
  options.say = [](std::string_view text) { complain(kName, text); };
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
      complain(kName, server.status().message());
      return kExitCannotTell;
    }
    metrics = std::move(*server);
    complain(kName, "metrics on http://" + metrics->endpoint().text() + "/metrics");
  }
  complain(kName, "following " + line.folder + (has_folder ? "" : ", which does not exist yet"));
  const agent::Follower::End end = follower.run();
  const agent::FollowCounts counts = follower.counts();
  complain(kName,
           fmt::format("{}: sent {} ({} rows) of {} sessions, {} of them complete",
                       end == agent::Follower::End::Stopped ? "stopped" : "drained",
                       text::bytes(static_cast<double>(counts.bytes)), text::count(counts.rows),
                       text::count(counts.sessions), text::count(counts.complete)));
  return end == agent::Follower::End::Incomplete ? kExitNo : kExitGood;
}

}  // namespace

int run_gpufl_agent(int argc, char** argv) {
  CommandLine command_line(kName,
                           "Sends the sessions of a folder to a server as they are recorded");
  Command command = command_line.program();
  AgentLine line;
  command.add_option("folder", line.folder, "A log folder").show_default();
  add_server_options(command, line.options.server);
  command
      .add_option("--key-file", line.options.key_file,
                  "File with the key; read again when the key is refused [default: GPUFL_API_KEY, "
                  "or that of gpufl login]")
      .type_name("FILE");
  command.add_bytes("--bandwidth", {.least = "64K"}, "Send at most this much a second",
                    store_in(line.options.bytes_per_s));
  command.add_flag("--drain", line.options.drains,
                   "Exit when no session is being written and all of them are sent");
  command.add_duration(
      "--delete-after", {},
      "Delete sessions here this long after their end, once the server has "
      "confirmed every file of them [default: keep them]",
      [&line](int64_t ns) { line.options.delete_after = std::chrono::nanoseconds(ns); });
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
  command.set_action([&line] { return base::Result<int>(run_agent(std::move(line))); });
  return command_line.run(argc, argv);
}

}  // namespace gpufl::cli
