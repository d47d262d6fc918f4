// SPDX-License-Identifier: Apache-2.0
#include "workbench/report.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/insights/find_insights.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/overview/run_overview.hpp"
#include "report/html/html_report.hpp"
#include "report/json_report.hpp"
#include "report/text_report.hpp"
#include "text/near_names.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;

analysis::AnalysisOptions analysis_options(const ReportRequest& request) {
  analysis::AnalysisOptions options;
  options.device = request.device;
  options.scope = request.scope;
  options.window = request.open.window;
  return options;
}

// The same of a session of which only a part was read.
analysis::AnalysisOptions analysis_options(const ReportRequest& request,
                                           const analysis::SessionData& session) {
  analysis::AnalysisOptions options = analysis_options(request);
  options.window = session.window;
  return options;
}

// Its scopes, nearest to what was asked for first.
std::string scopes_of(const analysis::SessionData& session, const std::string& asked) {
  std::vector<std::string> names;
  for (const uint32_t name : session.tables.scopes.name) {
    names.push_back(session.tables.name(name));
  }
  return text::nearest_listed(asked, std::move(names));
}

// "its GPUs are 0, 1".
std::string devices_of(const analysis::SessionData& session) {
  std::set<int64_t> devices;
  analysis::AnalysisOptions options;
  options.depth = analysis::Depth::Summary;
  for (const analysis::DeviceBusy& device : analysis::analyze(session, options).devices) {
    if (device.device >= 0) devices.insert(device.device);
  }
  if (devices.empty()) return "it has none";
  return fmt::format("{} {}", devices.size() == 1 ? "its GPU is" : "its GPUs are",
                     fmt::join(devices, ", "));
}

// What was asked for and is not in a session; ok: all is.
base::Status obstacle(const ReportRequest& request, const analysis::SessionData& session,
                      const analysis::Overview& overview) {
  std::string why;
  if (!request.scope.empty() && overview.scopes.empty()) {
    why = session.tables.scopes.rows() == 0
              ? fmt::format("it has no scopes, so none matches '{}'", request.scope)
              : fmt::format("none of its scopes matches '{}'; it has {}", request.scope,
                            scopes_of(session, request.scope));
  } else if (request.device && overview.device(*request.device) == nullptr) {
    why = fmt::format("it has no GPU {}; {}", *request.device, devices_of(session));
  }
  if (why.empty()) return {};
  return {base::Code::NotFound, fmt::format("{}: {}", session.summary.dir.string(), why)};
}

void report_loaded(const ReportRequest& request, const analysis::SessionData& session,
                   ReportOutcome& outcome) {
  const fs::path& folder = session.summary.dir;
  if (!request.kernel.kernel.empty()) {
    const auto text = report_kernel(session, request.kernel, analysis_options(request, session),
                                    request.format, request.text);
    if (!text) {
      outcome.failures.emplace_back(
          text.status().code(), fmt::format("{}: {}", folder.string(), text.status().message()));
      return;
    }
    if (!outcome.text.empty() && request.format != Format::Json) outcome.text += '\n';
    outcome.text += *text;
    outcome.reported.push_back(folder);
    return;
  }
  const analysis::Overview overview =
      analysis::analyze(session, analysis_options(request, session));
  if (base::Status lack = obstacle(request, session, overview); !lack) {
    outcome.failures.push_back(std::move(lack));
    return;
  }
  const auto insights = analysis::find_insights(session, overview, request.thresholds);
  if (!outcome.text.empty() && request.format != Format::Json) outcome.text += '\n';
  outcome.text += write_report({session, overview, insights}, request.format, request.text);
  outcome.reported.push_back(folder);
}

void report_session(const ReportRequest& request, const fs::path& folder, ReportOutcome& outcome) {
  const auto session = open_session(folder, request.open);
  if (session) return report_loaded(request, *session, outcome);
  outcome.failures.emplace_back(session.status().code(),
                                fmt::format("{}: {}", folder.string(), session.status().message()));
}

struct AnalyzedRun {
  analysis::RunData data;
  analysis::RunOverview overview;
  size_t left_out = 0;
};

// Sessions that lack what was asked for are left out; fails where all do.
base::Result<AnalyzedRun> analyze_asked(const ReportRequest& request, analysis::RunData loaded) {
  AnalyzedRun run{std::move(loaded), {}, 0};
  run.overview = analysis::analyze_run(run.data, analysis_options(request));
  analysis::RunData having;
  having.id = run.data.id;
  having.problems = run.data.problems;
  base::Status first_lack;
  for (size_t i = 0; i < run.data.sessions.size(); ++i) {
    analysis::SessionData& session = run.data.sessions[i];
    base::Status lack = obstacle(request, session, run.overview.ranks[i].overview);
    if (!lack) {
      ++run.left_out;
      if (first_lack) first_lack = std::move(lack);
      continue;
    }
    having.sessions.push_back(std::move(session));
    having.offset_ns.push_back(run.data.offset_ns[i]);
  }
  if (having.sessions.empty()) return first_lack;
  run.data = std::move(having);
  if (run.left_out > 0) {
    run.overview = analysis::analyze_run(run.data, analysis_options(request));
  }
  return run;
}

// None: it cannot be read at all.
std::optional<analysis::RunData> read_run(const ReportRequest& request, const fs::path& folder,
                                          ReportOutcome& outcome) {
  auto loaded = open_run(folder, request.open);
  if (!loaded) {
    outcome.failures.push_back(loaded.status());
    return std::nullopt;
  }
  for (const std::string& problem : loaded->problems) {
    outcome.failures.emplace_back(base::Code::Corrupt, problem);
  }
  return std::move(*loaded);
}

// Of a run as a whole, or as a page of one session.
void report_run(const ReportRequest& request, analysis::RunData loaded, ReportOutcome& outcome) {
  const auto run = analyze_asked(request, std::move(loaded));
  if (!run) {
    outcome.failures.push_back(run.status());
    return;
  }
  std::vector<std::vector<analysis::Insight>> of_sessions;
  for (size_t i = 0; i < run->data.sessions.size(); ++i) {
    const analysis::SessionData& session = run->data.sessions[i];
    of_sessions.push_back(
        analysis::find_insights(session, run->overview.ranks[i].overview, request.thresholds));
    outcome.reported.push_back(session.summary.dir);
  }
  const auto of_run = analysis::find_run_insights(run->overview, request.thresholds);
  outcome.text = write_report({run->data, run->overview, of_run, run->left_out, of_sessions},
                              request.format, request.text);
}

void report_run(const ReportRequest& request, const fs::path& folder, ReportOutcome& outcome) {
  if (auto loaded = read_run(request, folder, outcome)) {
    report_run(request, std::move(*loaded), outcome);
  }
}

// Of a program that ran in several passes: one process as one session.
void report_passes(const ReportRequest& request, const fs::path& folder, ReportOutcome& outcome) {
  auto loaded = read_run(request, folder, outcome);
  if (!loaded) return;
  const bool is_of_kernel = !request.kernel.kernel.empty();
  const bool are_several = loaded->sessions.size() > 1;
  const bool is_run = are_several || request.as_run || request.format == Format::Html;
  if (is_of_kernel || !is_run) {
    for (const analysis::SessionData& session : loaded->sessions) {
      report_loaded(request, session, outcome);
    }
    return;
  }
  outcome.is_run = are_several;
  report_run(request, std::move(*loaded), outcome);
}

bool is_cancelled(const ReportOutcome& outcome) {
  return !outcome.failures.empty() && outcome.failures.back().code() == base::Code::Cancelled;
}

std::vector<fs::path> folders_of(std::span<const FoundSession> sessions) {
  std::vector<fs::path> folders;
  for (const FoundSession& session : sessions) folders.push_back(session.dir);
  return folders;
}

}  // namespace

std::string write_report(const report::SessionReport& report, Format format,
                         const report::TextOptions& options) {
  switch (format) {
    case Format::Json: return report::json_report(report);
    case Format::Markdown: return report::markdown_report(report, options);
    default: return report::text_report(report, options);
  }
}

std::string write_report(const report::RunReport& report, Format format,
                         const report::TextOptions& options) {
  switch (format) {
    case Format::Json: return report::json_run_report(report);
    case Format::Markdown: return report::markdown_run_report(report, options);
    case Format::Html: return report::html_report(report, {.text = options});
    default: return report::run_report(report, options);
  }
}

ReportOutcome make_reports(const ReportRequest& asked) {
  ReportRequest request = asked;
  ReportOutcome outcome;
  std::vector<FoundSession> sessions = find_sessions(request.path);
  if (sessions.empty()) {
    outcome.failures.push_back(no_session(request.path));
    return outcome;
  }
  if (!request.all) {
    std::vector<FoundSession> others = std::exchange(sessions, {});
    sessions = take_newest(others);
    for (const FoundSession& other : others) {
      if (other.is_readable()) break;  // those that are not come first
      outcome.notes.push_back(other.problem() + "; it may be newer than what is reported");
    }
    outcome.others = folders_of(others);
    std::reverse(outcome.others.begin(), outcome.others.end());
    if (const auto newer = std::find_if(
            others.rbegin(), others.rend(),
            [&](const FoundSession& other) { return is_older(sessions.back(), other); });
        newer != others.rend()) {
      outcome.passes_over_newer = true;
      outcome.notes.push_back(
          "nothing was recorded in the newest session; the reason: gpufl report " +
          newer->dir.string());
    }
  }
  for (std::string& note : leave_out_copies(sessions)) outcome.notes.push_back(std::move(note));
  outcome.chosen = folders_of(sessions);
  const bool is_page = request.format == Format::Html;
  const bool are_several = sessions.size() > 1;
  const bool is_of_kernel = !request.kernel.kernel.empty();
  const bool are_passes = !request.all && are_of_passes(sessions, request.path);
  const bool is_of_run = are_several && !request.all && !is_of_kernel;
  request.text.lines_below =
      (is_of_run ? kLinesOfSessions : 0) + (outcome.others.empty() ? 0 : kLinesOfOthers);
  if (is_page && is_of_kernel) {
    outcome.failures.emplace_back(base::Code::InvalidArgument,
                                  "the report of one kernel can be text, Markdown or JSON, but "
                                  "not HTML");
  } else if (is_page && request.all && are_several) {
    outcome.failures.emplace_back(
        base::Code::InvalidArgument,
        fmt::format("{}: a page shows one session or run, but it contains {} sessions",
                    request.path.string(), sessions.size()));
  } else if (are_passes) {
    report_passes(request, sessions.front().dir.parent_path(), outcome);
  } else if (is_of_run) {
    outcome.is_run = true;
    report_run(request, sessions.front().dir.parent_path(), outcome);
  } else if (is_page) {
    report_run(request, sessions.front().dir, outcome);
  } else {
    for (const FoundSession& session : sessions) {
      report_session(request, session.dir, outcome);
      if (is_cancelled(outcome)) break;
    }
  }
  return outcome;
}

}  // namespace gpufl::workbench
