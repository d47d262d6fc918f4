// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/insights/find_insights.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/overview/run_overview.hpp"
#include "analysis/session/session_copies.hpp"
#include "analysis/session/session_data.hpp"
#include "base/clock.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/run_sessions.hpp"
#include "cli/sessions_command.hpp"
#include "cli/status_line.hpp"
#include "cli/symbolize_command.hpp"
#include "cli/terminal.hpp"
#include "format/session_reader.hpp"
#include "report/html/html_report.hpp"
#include "report/json_report.hpp"
#include "report/run_report.hpp"
#include "report/text_page.hpp"
#include "report/text_report.hpp"
#include "text/display.hpp"
#include "text/near_names.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxListed = 10;

// Oldest first, by their own word, for folders can be renamed. Those that cannot be read come
// first: when they began is not known.
std::vector<fs::path> sessions_by_age(const fs::path& path) {
  struct Aged {
    std::optional<int64_t> start_wall_ns;
    fs::path dir;
  };
  std::vector<Aged> aged;
  for (fs::path& dir : format::find_sessions(path)) {
    const auto reader = format::SessionReader::open(dir);
    aged.push_back(
        {reader ? std::optional(reader->header().start_wall_ns) : std::nullopt, std::move(dir)});
  }
  std::sort(aged.begin(), aged.end(), [](const Aged& a, const Aged& b) {
    return std::tuple(a.start_wall_ns, a.dir.filename(), a.dir) <
           std::tuple(b.start_wall_ns, b.dir.filename(), b.dir);
  });
  std::vector<fs::path> sessions;
  for (Aged& one : aged) sessions.push_back(std::move(one.dir));
  return sessions;
}

std::string error_line(std::string_view message) {
  return fmt::format("gpufl report: {}\n", text::make_harmless(message));
}

void append_others(const std::vector<fs::path>& others, size_t reported, size_t width,
                   std::string& text) {
  if (others.empty()) return;
  report::TextPage note(width, false);
  note.paragraph(
      0, fmt::format("This is the newest {} of {} sessions. The others (--all reports them too):",
                     reported == 1 ? "one" : "run", others.size() + reported));
  text += '\n' + note.text();
  const size_t listed = std::min(others.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    fmt::format_to(std::back_inserter(text), "  {}\n",
                   text::make_harmless(others[others.size() - 1 - i].string()));
  }
  if (others.size() > listed) {
    fmt::format_to(std::back_inserter(text), "  ... {} older\n", others.size() - listed);
  }
}

// Unreadable ones stay, for their turn to say so.
void leave_out_copies(std::vector<fs::path>& sessions, ReportOutcome& outcome) {
  analysis::SessionCopies copies;
  std::erase_if(sessions, [&](const fs::path& session) {
    const auto reader = format::SessionReader::open(session);
    return reader && copies.is_copy(reader->header(), session);
  });
  for (const std::string& note : copies.notes()) outcome.errors += error_line(note);
}

// Of those that are not reported: which could be newer than the one that is.
void tell_unreadable(const std::vector<fs::path>& others, ReportOutcome& outcome) {
  for (const fs::path& session : others) {
    const auto reader = format::SessionReader::open(session);
    if (reader) return;  // they come first
    outcome.errors += error_line(fmt::format("{}: {}; it may be newer than what is reported",
                                             session.string(), reader.status().message()));
  }
}

// The newest session, with all others of its run where it has some. They are taken out of
// `sessions`.
std::vector<fs::path> take_newest(std::vector<fs::path>& sessions) {
  const fs::path folder = sessions.back().parent_path();
  const auto is_beside = [&](const fs::path& session) { return session.parent_path() == folder; };
  std::vector<fs::path> newest;
  std::copy_if(sessions.begin(), sessions.end(), std::back_inserter(newest), is_beside);
  if (are_one_run(newest)) {
    std::erase_if(sessions, is_beside);
  } else {
    newest = {sessions.back()};
    sessions.pop_back();
  }
  return newest;
}

analysis::AnalysisOptions analysis_options(const ReportRequest& request) {
  analysis::AnalysisOptions options;
  options.device = request.device;
  options.scope = request.scope;
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

// What was asked for and is not in a session; empty: all is.
std::string obstacle(const ReportRequest& request, const analysis::SessionData& session,
                     const analysis::Overview& overview) {
  if (!request.scope.empty() && overview.scopes.empty()) {
    return session.tables.scopes.rows() == 0
               ? "it has no scopes, so none matches --scope"
               : fmt::format("none of its scopes matches '{}'; it has {}", request.scope,
                             scopes_of(session, request.scope));
  }
  if (request.device && overview.device(*request.device) == nullptr) {
    return fmt::format("it has no GPU {}; {}", *request.device, devices_of(session));
  }
  return {};
}

std::string session_text(const ReportRequest& request, const report::SessionReport& report) {
  switch (request.format) {
    case ReportFormat::Text: return report::text_report(report, request.text);
    case ReportFormat::Json: return report::json_report(report);
    case ReportFormat::Markdown: return report::markdown_report(report, request.text);
    case ReportFormat::Html: break;  // report_page
  }
  return {};
}

std::string run_text(const ReportRequest& request, const report::RunReport& report) {
  switch (request.format) {
    case ReportFormat::Text: return report::run_report(report, request.text);
    case ReportFormat::Json: return report::json_run_report(report);
    case ReportFormat::Markdown: return report::markdown_run_report(report, request.text);
    case ReportFormat::Html: break;  // report_page
  }
  return {};
}

void fail(ReportOutcome& outcome, std::string_view message) {
  outcome.errors += error_line(message);
  outcome.exit_code = kExitCannotTell;
}

void report_session(const ReportRequest& request, const fs::path& folder,
                    const analysis::LoadOptions& load_options, ReportOutcome& outcome) {
  const auto session = analysis::load(folder, load_options);
  if (!session) {
    fail(outcome, fmt::format("{}: {}", folder.string(), session.status().message()));
    return;
  }
  const analysis::Overview overview = analysis::analyze(*session, analysis_options(request));
  if (const std::string why = obstacle(request, *session, overview); !why.empty()) {
    fail(outcome, fmt::format("{}: {}", folder.string(), why));
    return;
  }
  const auto insights = analysis::find_insights(*session, overview, request.thresholds);
  if (!outcome.text.empty() && request.format != ReportFormat::Json) outcome.text += '\n';
  outcome.text += session_text(request, {*session, overview, insights});
}

struct AnalyzedRun {
  analysis::RunData data;
  analysis::RunOverview overview;
  size_t left_out = 0;
};

// Sessions that lack what was asked for are left out; none where all do, and why.
std::optional<AnalyzedRun> analyze_asked(const ReportRequest& request, const fs::path& folder,
                                         const analysis::LoadOptions& load_options,
                                         ReportOutcome& outcome) {
  auto loaded = analysis::load_run(folder, load_options);
  if (!loaded) {
    fail(outcome, loaded.status().message());
    return std::nullopt;
  }
  for (const std::string& problem : loaded->problems) fail(outcome, problem);
  AnalyzedRun run{std::move(*loaded), {}, 0};
  run.overview = analysis::analyze_run(run.data, analysis_options(request));
  analysis::RunData having;
  having.id = run.data.id;
  having.problems = run.data.problems;
  std::string why;
  for (size_t i = 0; i < run.data.sessions.size(); ++i) {
    analysis::SessionData& session = run.data.sessions[i];
    std::string lack = obstacle(request, session, run.overview.ranks[i].overview);
    if (!lack.empty()) {
      ++run.left_out;
      if (why.empty()) why = fmt::format("{}: {}", session.summary.dir.string(), lack);
      continue;
    }
    having.sessions.push_back(std::move(session));
    having.offset_ns.push_back(run.data.offset_ns[i]);
  }
  if (having.sessions.empty()) {
    fail(outcome, why);
    return std::nullopt;
  }
  run.data = std::move(having);
  if (run.left_out > 0) {
    run.overview = analysis::analyze_run(run.data, analysis_options(request));
  }
  return run;
}

std::vector<std::vector<analysis::Insight>> insights_of_each(const ReportRequest& request,
                                                             const AnalyzedRun& run) {
  std::vector<std::vector<analysis::Insight>> insights;
  for (size_t i = 0; i < run.data.sessions.size(); ++i) {
    insights.push_back(analysis::find_insights(run.data.sessions[i], run.overview.ranks[i].overview,
                                               request.thresholds));
  }
  return insights;
}

// What is to be seen of a run at once, and how to see more.
void report_run(const ReportRequest& request, const fs::path& folder,
                const analysis::LoadOptions& load_options, ReportOutcome& outcome) {
  const auto run = analyze_asked(request, folder, load_options, outcome);
  if (!run) return;
  const auto insights = analysis::find_run_insights(run->overview, request.thresholds);
  const auto of_each = insights_of_each(request, *run);
  outcome.text = run_text(request, {run->data, run->overview, insights, run->left_out, of_each});
  if (request.format != ReportFormat::Text) return;
  outcome.text += "\nSessions (--all reports each in full):\n";
  const size_t listed = std::min(run->data.sessions.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    outcome.text +=
        fmt::format("  {}\n", text::make_harmless(run->data.sessions[i].summary.dir.string()));
  }
  if (run->data.sessions.size() > listed) {
    outcome.text += fmt::format("  ... {} more\n", run->data.sessions.size() - listed);
  }
}

// One page for a session or a run.
void report_page(const ReportRequest& request, const fs::path& folder,
                 const analysis::LoadOptions& load_options, ReportOutcome& outcome) {
  const auto run = analyze_asked(request, folder, load_options, outcome);
  if (!run) return;
  const auto insights = insights_of_each(request, *run);
  const auto of_run = analysis::find_run_insights(run->overview, request.thresholds);
  report::HtmlOptions options;
  options.text = request.text;
  outcome.text =
      report::html_report({run->data, run->overview, of_run, run->left_out, insights}, options);
}

}  // namespace

ReportOutcome make_reports(const ReportRequest& request) {
  ReportOutcome outcome;
  std::vector<fs::path> sessions = sessions_by_age(request.path);
  if (sessions.empty()) {
    fail(outcome, why_no_session(request.path));
    return outcome;
  }
  std::vector<fs::path> others;
  if (!request.all) {
    others = std::move(sessions);
    sessions = take_newest(others);
    tell_unreadable(others, outcome);
  }
  leave_out_copies(sessions, outcome);
  const symbols::SymbolizeOptions on_the_fly = reading_options();
  analysis::LoadOptions load_options;
  load_options.symbolize = &on_the_fly;
  load_options.progress = request.progress;
  if (request.format == ReportFormat::Html) {
    if (request.all && sessions.size() > 1) {
      fail(outcome, "a page shows one session or run: leave out --all");
      return outcome;
    }
    report_page(request, sessions.size() > 1 ? sessions.front().parent_path() : sessions.front(),
                load_options, outcome);
  } else if (!request.all && sessions.size() > 1) {
    report_run(request, sessions.front().parent_path(), load_options, outcome);
  } else {
    for (const fs::path& session : sessions) {
      report_session(request, session, load_options, outcome);
    }
  }
  if (request.format == ReportFormat::Text)
    append_others(others, sessions.size(), request.text.width, outcome.text);
  return outcome;
}

namespace {

// Says how far reading is, where it takes long enough to wonder.
class ReadProgress {
 public:
  bool operator()(uint64_t done, uint64_t total) {
    constexpr int64_t kPatienceNs = 500'000'000;
    if (total == 0 || base::monotonic_ns() - begin_ns_ < kPatienceNs) return true;
    line_.show(fmt::format("gpufl: reading, {}",
                           text::percent(static_cast<double>(done) / static_cast<double>(total))));
    return true;
  }

 private:
  int64_t begin_ns_ = base::monotonic_ns();
  StatusLine line_{true};
};

// What was typed.
struct ReportLine {
  ReportRequest request;
  std::optional<size_t> width;
  std::string format = "text", output, thresholds, sort = "total";
};

ReportFormat format_named(std::string_view word) {
  if (word == "json") return ReportFormat::Json;
  if (word == "md") return ReportFormat::Markdown;
  return word == "html" ? ReportFormat::Html : ReportFormat::Text;
}

int run_report_command(ReportLine line) {
  ReportRequest& request = line.request;
  if (!line.thresholds.empty()) {
    auto thresholds = analysis::load_thresholds(line.thresholds);
    if (!thresholds) {
      print_error(error_line(thresholds.status().message()));
      return kExitUsage;
    }
    request.thresholds = *thresholds;
  }
  const bool is_for_terminal = line.output.empty();
  request.text.width =
      line.width.value_or(is_for_terminal ? page_width() : report::TextOptions{}.width);
  request.text.has_color = is_for_terminal && terminal_has_color();
  request.format = format_named(line.format);
  request.text.sort = report::kernel_sort_of(line.sort).value_or(report::KernelSort::Total);
  ReportOutcome outcome;
  {
    ReadProgress progress;
    request.progress = std::ref(progress);
    outcome = make_reports(request);
  }
  if (!outcome.text.empty() && !deliver("gpufl report", outcome.text, line.output)) {
    outcome.exit_code = kExitCannotTell;
  }
  print_error(outcome.errors);
  return outcome.exit_code;
}

}  // namespace

void add_report_command(Command program) {
  auto line = std::make_shared<ReportLine>();
  ReportRequest& request = line->request;
  Command command = program.add_command("report", "Print what a session recorded");
  command
      .add_option("path", request.path,
                  "A session; a run's folder: all of it together; or a log folder: its newest "
                  "session or run")
      .required();
  command.add_flag("--all", request.all, "Report every session of the folder, oldest first");
  command
      .add_option("--top", request.text.top,
                  "Rows of a list or scopes of the tree; 0: all. JSON is always whole")
      .count()
      .show_default();
  command
      .add_option("--sort", line->sort,
                  "Order of kernels, but in JSON: total, count, mean, median, p99, max or name")
      .check([](const std::string& word) {
        return report::kernel_sort_of(word) ? "" : "'" + word + "' is none of them";
      })
      .type_name("BY")
      .show_default();
  command
      .add_option("--scope", request.scope,
                  "Only work of scopes whose name, 'name / tag' or path matches, and of those "
                  "inside; * and ? as in file names")
      .type_name("GLOB");
  command.add_option("--device", request.device, "Only this GPU").type_name("N").count();
  command.add_option("--format", line->format, "text, json, md or html [default: text]")
      .choices({"text", "json", "md", "html"})
      .type_name("FORMAT");
  command
      .add_option("-o,--output", line->output,
                  "Write it here, not to standard output; one that is there is replaced")
      .type_name("FILE");
  command
      .add_option("--thresholds", line->thresholds,
                  "JSON of the numbers from which on insights are told "
                  "(docs/reference/insights.md)")
      .type_name("FILE");
  command
      .add_option("--width", line->width,
                  "Columns, 60 to 1000 [default: the terminal's, from 60 to 140; else 100]")
      .range(60, 1000);
  command.set_footer(
      "JSON: one line for each session or run, docs/reference/report-json.md.\n"
      "Exit code: 0 reported; 2 there is no session, or one cannot be read, or it has no such "
      "scope "
      "or GPU.");
  command.set_action([line] { return run_report_command(*line); });
}

}  // namespace gpufl::cli
