// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/replies.hpp"
#include "server/services.hpp"
#include "server/session_stamp.hpp"
#include "server/withheld.hpp"
#include "workbench/group_report.hpp"

namespace gpufl::server {
namespace {

using base::Json;

constexpr size_t kLongestIds = 3000;   // of one side of a comparison, in characters
constexpr uint64_t kBytesPerRow = 64;  // that an analysis takes, with what it makes of them
constexpr uint64_t kBytesBeside = uint64_t{256} << 20;  // whatever the session is
constexpr uint64_t kSmallestPart = 8;                   // of what should fit: less is not tried

AnalysisRequest about(const Services& services, const std::vector<SessionPtr>& sessions,
                      std::string kind, Json arguments) {
  AnalysisRequest request;
  request.kind = std::move(kind);
  request.arguments = std::move(arguments);
  request.site = services.catalogue.folder().string();
  if (services.share.is_one_of_several) request.arguments.set("hidden", request.site);
  request.session = sessions.front()->id;
  for (const SessionPtr& session : sessions) {
    SessionStamp stamp = stamp_of(session->dir);
    request.stamp += session->dir.string() + '\n' + stamp.files;
    request.log_bytes += stamp.log_bytes;
    request.is_live = request.is_live || session->is_live();
  }
  return request;
}

AnalysisRequest about(const Services& services, const SessionPtr& session, std::string kind,
                      Json arguments = Json::object()) {
  arguments.set("path", session->dir.string());
  return about(services, std::vector{session}, std::move(kind), std::move(arguments));
}

// As much of the sessions as an analysis has room for: of one that is too large, its end, which the
// answer states. The first guess is from the number of rows alone.
AnalysisState ask_what_fits(Services& services, const std::vector<SessionPtr>& sessions,
                            const std::string& kind, Json arguments) {
  const uint64_t memory = services.analysis.limits().memory_bytes;
  const uint64_t first_guess =
      std::max(memory - std::min(memory, kBytesBeside), memory / 4) / kBytesPerRow;
  uint64_t most_rows = first_guess;
  while (true) {
    arguments.set("most_rows", most_rows);
    AnalysisState state = services.analysis.ask(about(services, sessions, kind, arguments));
    const bool is_too_large = state.state == AnalysisState::State::Failed &&
                              state.failure.code() == base::Code::LimitReached;
    most_rows /= 2;
    if (!is_too_large || most_rows < first_guess / kSmallestPart || most_rows == 0) return state;
  }
}

// The report of a session, or of the part of it that was asked for; of another kind, of a part of
// what the session did.
AnalysisState ask_report(Services& services, const Call& call, const SessionPtr& session,
                         const std::string& kind = "report", Json arguments = Json::object()) {
  arguments.set("path", session->dir.string());
  if (call.viewer().is_guest()) arguments.set("guest", guest_argument(call.viewer()));
  const auto from = call.integer("from"), to = call.integer("to");
  if (!from && !to) return ask_what_fits(services, {session}, kind, std::move(arguments));
  if (from && to && *from >= *to) {
    return {.state = AnalysisState::State::Failed,
            .failure = {base::Code::InvalidArgument, "the range has to end after it begins"}};
  }
  if (from) arguments.set("from", *from);
  if (to) arguments.set("to", *to);
  return services.analysis.ask(about(services, std::vector{session}, kind, std::move(arguments)));
}

// Those of the report that are figures, and what they are of; the others say what document it is.
bool is_section(const ResultPart& part) {
  return part.name != "format" && part.name != "version" && part.name != "kind";
}

net::HttpReply list_sections(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const AnalysisState state = ask_report(services, call, session);
  if (state.state != AnalysisState::State::Ready) return unready_reply(state);
  Json sections = Json::array();
  for (const ResultPart& part : state.result->parts()) {
    if (!is_section(part)) continue;
    sections.push(Json::object().set("name", part.name).set("bytes", part.bytes));
  }
  Json json = Json::object();
  json.set("state", "ready").set("is_current", state.is_current);
  json.set("log_bytes", stamp_of(session->dir).log_bytes);
  json.set("analyzed_log_bytes", state.result->log_bytes());
  return json_reply(call.request(), json.set("sections", std::move(sections)));
}

net::HttpReply show_section(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  AnalysisState state = ask_report(services, call, session);
  if (state.state != AnalysisState::State::Ready) return unready_reply(state);
  const ResultPart* part = state.result->part(call.path("section"));
  if (part == nullptr || !is_section(*part)) return no_such("section", call.path("section"));
  return result_reply(call.request(), state, ResultPart(*part));
}

net::HttpReply show_report(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  return analysis_reply(call.request(), ask_report(services, call, session));
}

// Where a launch of several processes puts its sessions, they have a folder to themselves, which is
// what a report of a run is made of.
net::HttpReply show_run_report(Services& services, const Call& call) {
  std::vector<SessionPtr> run;
  const std::vector<SessionPtr> all = services.catalogue.sessions();
  for (const SessionPtr& session : all) {
    if (session->run == call.path("run")) run.push_back(session);
  }
  if (run.empty()) return no_such("run", call.path("run"));
  const auto folder = run.front()->dir.parent_path();
  const auto lie_there = std::count_if(all.begin(), all.end(), [&](const SessionPtr& session) {
    return session->dir.parent_path() == folder;
  });
  const bool is_together = std::all_of(run.begin(), run.end(), [&](const SessionPtr& session) {
    return session->dir.parent_path() == folder;
  });
  if (run.size() < 2 || !is_together || static_cast<size_t>(lie_there) != run.size()) {
    return net::problem(404, "Not one folder",
                        "a run is reported as a whole if it has several sessions, in a folder that "
                        "holds no others; each session has its own report");
  }
  std::sort(run.begin(), run.end(),
            [](const SessionPtr& a, const SessionPtr& b) { return a->dir < b->dir; });
  Json arguments = Json::object();
  arguments.set("path", folder.string()).set("as_run", true);
  return analysis_reply(
      call.request(), services.analysis.ask(about(services, run, "report", std::move(arguments))));
}

net::HttpReply show_code(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const std::string kernel = call.text("kernel", "");
  return analysis_reply(call.request(), ask_report(services, call, session, "kernel",
                                                   Json::object().set("kernel", kernel)));
}

net::HttpReply show_group(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  Json arguments = Json::object();
  arguments.set("by", call.text("by", "")).set("group", call.text("group", ""));
  return analysis_reply(call.request(),
                        ask_report(services, call, session, "group", std::move(arguments)));
}

// Of kernels and groups; as long as a target may be at the most.
Parameter name_parameter(std::string name, std::string description) {
  Parameter parameter = required_text(std::move(name), std::move(description));
  parameter.longest = 8192;
  return parameter;
}

Parameter grouping_parameter() {
  Parameter parameter = choice("by", {workbench::kGroupings.begin(), workbench::kGroupings.end()},
                               "", "The list of the report that the group is in: by_op, ...");
  parameter.is_required = true;
  return parameter;
}

net::HttpReply show_flame(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  Json arguments = Json::object().set("format", "speedscope");
  if (call.viewer().is_guest()) arguments.set("guest", guest_argument(call.viewer()));
  return analysis_reply(call.request(), services.analysis.ask(about(services, session, "flame",
                                                                    std::move(arguments))));
}

// "a,b,c" as sessions; the first id that names none goes to `unknown`.
std::vector<SessionPtr> sessions_of(const Catalogue& catalogue, const std::string& ids,
                                    std::optional<std::string>& unknown) {
  std::vector<SessionPtr> sessions;
  for (size_t begin = 0; begin <= ids.size();) {
    const size_t end = std::min(ids.find(',', begin), ids.size());
    const std::string id = ids.substr(begin, end - begin);
    SessionPtr session = catalogue.find(id);
    if (!session && !unknown) unknown = id;
    if (session) sessions.push_back(std::move(session));
    begin = end + 1;
  }
  return sessions;
}

// Two sides, each one session or several repeats.
net::HttpReply compare(Services& services, const Call& call, const std::string& kind,
                       const char* first, const char* second, Json arguments) {
  std::vector<SessionPtr> all;
  for (const char* side : {first, second}) {
    std::optional<std::string> unknown;
    const auto sessions = sessions_of(services.catalogue, call.text(side, ""), unknown);
    if (unknown) return no_such("session", *unknown);
    Json paths = Json::array();
    for (const SessionPtr& session : sessions) paths.push(session->dir.string());
    arguments.set(side, std::move(paths));
    all.insert(all.end(), sessions.begin(), sessions.end());
  }
  return analysis_reply(call.request(), ask_what_fits(services, all, kind, std::move(arguments)));
}

net::HttpReply show_diff(Services& services, const Call& call) {
  return compare(services, call, "diff", "a", "b", Json::object());
}

net::HttpReply show_gate(Services& services, const Call& call) {
  Json rule = Json::object();
  const auto kernel = call.text("kernel"), scope = call.text("scope");
  if (kernel && scope)
    return net::problem(400, "Wrong parameter", "give kernel or scope, not both");
  if (kernel) rule.set("kernel", *kernel);
  if (scope) rule.set("scope", *scope);
  if (!kernel && !scope) rule.set("total", true);
  for (const char* name : {"metric", "max_increase", "min_share"}) {
    if (const auto value = call.text(name)) rule.set(name, *value);
  }
  Json list = Json::array();
  list.push(std::move(rule));
  Json arguments = Json::object();
  arguments.set("rules", Json::object().set("rules", std::move(list)));
  return compare(services, call, "gate", "baseline", "candidate", std::move(arguments));
}

// One side of a comparison.
Parameter sessions_parameter(std::string name) {
  Parameter parameter = required_text(
      std::move(name), "A session's id, or the ids of several repeats, separated by commas.");
  parameter.longest = kLongestIds;
  return parameter;
}

void add_comparisons(Routes& routes, Services& services) {
  routes.add({.pattern = "/api/v1/diff",
              .id = "diff",
              .summary = "What differs between sessions, as gpufl diff --format json",
              .parameters = {sessions_parameter("a"), sessions_parameter("b")},
              .answers = {{.description = "The comparison.", .schema = schema_ref("Diff")},
                          accepted_answer()},
              .handler = [&](const Call& call) { return show_diff(services, call); }});
  routes.add(
      {.pattern = "/api/v1/gate",
       .id = "gate",
       .summary = "Whether a program has become slower, as gpufl gate --format json",
       .parameters = {sessions_parameter("baseline"), sessions_parameter("candidate"),
                      text_parameter("kernel", "Judge kernels whose name matches; * and ?."),
                      text_parameter("scope", "Judge scopes whose name or path matches."),
                      choice("metric",
                             {"median", "mean", "p90", "p99", "total", "count", "busy", "time"}, "",
                             "What is compared: median by default, busy of the whole run."),
                      text_parameter("max_increase", "An increase as large is a regression: 5%."),
                      text_parameter("min_share", "Ignore those with less of the time: 1%.")},
       .answers = {{.description = "The verdict and the figures behind it.",
                    .schema = schema_ref("Gate")},
                   accepted_answer()},
       .handler = [&](const Call& call) { return show_gate(services, call); }});
}

}  // namespace

void add_section_routes(Routes& routes, Services& services) {
  const auto bound = [&services](auto function) {
    return [&services, function](const Call& call) { return function(services, call); };
  };
  routes.add(
      {.pattern = "/api/v1/sessions/{session}/sections",
       .id = "list_sections",
       .summary = "The sections of a session's report",
       .parameters = range_parameters(),
       .answers = {{.description = "Their names and sizes, and whether they are of all there is.",
                    .schema = schema_ref("SectionList")},
                   accepted_answer()},
       .guests = Guests::OfSession,
       .handler = bound(list_sections)});
  routes.add({.pattern = "/api/v1/sessions/{session}/sections/{section}",
              .id = "show_section",
              .summary = "One member of the JSON report, such as kernels or insights",
              .parameters = range_parameters(),
              .answers = {{.description = "As docs/reference/report-json.md describes it.",
                           .schema = schema_ref("Section")},
                          accepted_answer()},
              .guests = Guests::OfSession,
              .handler = bound(show_section)});
  routes.add({.pattern = "/api/v1/sessions/{session}/report",
              .id = "show_report",
              .summary = "All sections in one document, as gpufl report --format json",
              .parameters = range_parameters(),
              .answers = {{.description = "The report.", .schema = schema_ref("Report")},
                          accepted_answer()},
              .guests = Guests::OfSession,
              .handler = bound(show_report)});
  routes.add(
      {.pattern = "/api/v1/runs/{run}/report",
       .id = "show_run_report",
       .summary = "A run as a whole: all ranks in one document",
       .answers = {{.description = "The report, of kind run.", .schema = schema_ref("RunReport")},
                   accepted_answer()},
       .handler = bound(show_run_report)});
  routes.add(
      {.pattern = "/api/v1/sessions/{session}/code",
       .id = "show_code",
       .summary = "Callers, source and SASS of a kernel, as gpufl report --kernel --source",
       .parameters = range_parameters(
           {name_parameter("kernel", "Its full name, label or pattern of names.")}),
       .answers = {{.description = "Who launches it; lines and instructions with their samples.",
                    .schema = schema_ref("KernelCode")},
                   accepted_answer()},
       .guests = Guests::OfSession,
       .handler = bound(show_code)});
  routes.add(
      {.pattern = "/api/v1/sessions/{session}/group",
       .id = "show_group",
       .summary = "Kernels of one group: of an operator, a module, a line, a class, ...",
       .parameters = range_parameters(
           {grouping_parameter(), name_parameter("group", "Its full name, or its label.")}),
       .answers = {{.description = "Kernels with statistics of their durations in the group, most "
                                   "time first, and what is left out.",
                    .schema = schema_ref("GroupReport")},
                   accepted_answer()},
       .guests = Guests::OfSession,
       .handler = bound(show_group)});
  routes.add({.pattern = "/api/v1/sessions/{session}/flame",
              .id = "show_flame",
              .summary = "Flame graphs in the format of speedscope",
              .answers = {{.description = "A speedscope document.", .schema = schema_ref("Flame")},
                          accepted_answer()},
              .guests = Guests::OfSession,
              .handler = bound(show_flame)});
  add_comparisons(routes, services);
}

}  // namespace gpufl::server
