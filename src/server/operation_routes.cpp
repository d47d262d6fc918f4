// SPDX-License-Identifier: Apache-2.0
#include <gpufl/version.hpp>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/replies.hpp"
#include "server/services.hpp"

namespace gpufl::server {
namespace {

using base::Json;

std::string metric(std::string_view name, std::string_view type, std::string_view help,
                   uint64_t value) {
  return fmt::format(
      "# HELP gpufl_server_{0} {1}\n# TYPE gpufl_server_{0} {2}\ngpufl_server_{0} {3}\n", name,
      help, type, value);
}

std::string metrics_text(const Services& services) {
  uint64_t live = 0;
  const auto sessions = services.catalogue.sessions();
  for (const SessionPtr& session : sessions) live += session->is_live() ? 1 : 0;
  std::string text;
  text += metric("sessions", "gauge", "Sessions in the folder.", sessions.size());
  text += metric("live_sessions", "gauge", "Sessions that are recorded now.", live);
  if (services.share.fleet != nullptr) {
    const FleetCounts health = services.share.fleet->counts();
    text +=
        metric("health_windows_total", "counter",
               "Windows whose readings of GPUs were packed, live ones each time.", health.windows);
    text +=
        metric("health_readings_total", "counter", "Readings of GPUs in them.", health.readings);
    text += metric("health_readings_dropped_total", "counter",
                   "Readings of GPUs that were not packed.", health.dropped);
    text += metric("health_windows_failed_total", "counter",
                   "Windows that could not be read to pack them.", health.failures);
  }
  if (services.share.is_one_of_several) {
    return text + metric("exports_running", "gauge", "Exports under way.",
                         static_cast<uint64_t>(services.own_exports.load()));
  }
  const net::HttpStats http = services.http_stats();
  const AnalysisCounts analyses = services.analysis.counts();
  text += metric("connections", "gauge", "Open connections.", http.connections);
  text += metric("event_streams", "gauge", "Clients that follow events.", http.event_streams);
  text += metric("requests_total", "counter", "Requests answered.", http.requests);
  text += metric("requests_refused_total", "counter", "Requests outside the limits.", http.refused);
  text += metric("requests_late_total", "counter", "Requests whose handler took too long.",
                 http.late_requests);
  text += metric("late_handlers", "gauge", "Handlers of such requests that are still at work.",
                 http.late_handlers);
  text += metric("unsent_bytes", "gauge", "Answers that clients have not taken yet, in bytes.",
                 http.unsent_bytes);
  text += metric("held_bytes", "gauge", "Bodies in memory or on their way there, in bytes.",
                 http.held_bytes);
  text += metric("requests_crowded_out_total", "counter",
                 "Requests given up because too many bytes waited to be read or to come.",
                 http.crowded_out);
  text += metric("clients_dropped_total", "counter", "Clients that were cut off.", http.dropped);
  text += metric("sent_bytes_total", "counter", "Bytes sent.", http.bytes_sent);
  text += metric("analyses_started_total", "counter", "Analyses started.", analyses.started);
  text += metric("analyses_failed_total", "counter", "Analyses that failed.", analyses.failed);
  text += metric("results_found_total", "counter", "Answers from the cache.", analyses.found);
  text += metric("analyses_running", "gauge", "Analyses that run now.", analyses.running);
  text += metric("analyses_queued", "gauge", "Analyses that wait.", analyses.queued);
  const IndexCounts indexes = services.indexes.counts();
  text += metric("indexes", "gauge", "Indexes of timelines in memory.", indexes.open);
  text += metric("index_bytes", "gauge", "Memory that they take, about.", indexes.bytes);
  text += metric("exports_running", "gauge", "Exports under way.",
                 static_cast<uint64_t>(services.exports.load()));
  return text;
}

net::HttpReply follow(Services& services, const Viewer& viewer) {
  Json greeting = Json::object();
  // How often something changed is for those who may see what.
  if (!viewer.is_guest()) greeting.set("revision", services.catalogue.revision());
  greeting.set("version", GPUFL_VERSION);
  net::HttpReply reply;
  reply.events = services.events.open("hello", greeting, viewer);
  if (reply.events) return reply;
  net::HttpReply busy = net::problem(503, "Busy", "too many follow the events already");
  busy.headers.emplace_back("Retry-After", "30");
  return busy;
}

}  // namespace

void add_operation_routes(Routes& routes, Services& services) {
  routes.add({.pattern = "/healthz",
              .id = "health",
              .summary = "Whether the server answers",
              .answers = {{.content_type = "text/plain", .description = "ok"}},
              .is_open = true,
              .handler = [](const Call&) { return net::reply_with("text/plain", "ok\n"); }});
  routes.add(
      {.pattern = "/metrics",
       .id = "metrics",
       .summary = "The server's own figures for Prometheus",
       .answers = {{.content_type = "text/plain", .description = "Prometheus' text format."}},
       .handler = [&](const Call&) {
         return net::reply_with("text/plain; version=0.0.4; charset=utf-8", metrics_text(services));
       }});
  routes.add(
      {.pattern = "/api/v1/events",
       .id = "follow_events",
       .summary = "What happens to sessions and analyses, as server-sent events",
       .answers = {{.content_type = "text/event-stream",
                    .description = "hello first, then session and analysis events. One stream per "
                                   "browser is enough."}},
       .guests = Guests::Filtered,
       .handler = [&](const Call& call) { return follow(services, call.viewer()); }});
  routes.add({.pattern = "/api/v1/openapi.json",
              .id = "openapi",
              .summary = "This description",
              .answers = {{.description = "OpenAPI 3.1.", .schema = R"({"type":"object"})"}},
              .handler = [&routes](const Call& call) {
                return json_reply(call.request(), routes.openapi());
              }});
}

}  // namespace gpufl::server
