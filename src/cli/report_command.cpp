// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/summary.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/run_sessions.hpp"
#include "cli/sessions_command.hpp"
#include "cli/symbolize_command.hpp"
#include "cli/terminal.hpp"
#include "format/session_reader.hpp"
#include "report/run_report.hpp"
#include "report/text_page.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxListed = 10;

// Session ids begin with the time of their start, whatever run's folder they lie in.
std::vector<fs::path> sessions_by_age(const fs::path& path) {
  std::vector<fs::path> sessions = format::find_sessions(path);
  std::sort(sessions.begin(), sessions.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.filename(), a) < std::pair(b.filename(), b);
  });
  return sessions;
}

std::string error_line(std::string_view message) {
  return fmt::format("gpufl report: {}\n", report::make_harmless(message));
}

void append_others(const std::vector<fs::path>& others, size_t reported, std::string& text) {
  if (others.empty()) return;
  fmt::format_to(std::back_inserter(text),
                 "\nThis is the newest {} of {} sessions. The others (--all reports them too):\n",
                 reported == 1 ? "one" : "run", others.size() + reported);
  const size_t listed = std::min(others.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    fmt::format_to(std::back_inserter(text), "  {}\n",
                   report::make_harmless(others[others.size() - 1 - i].string()));
  }
  if (others.size() > listed) {
    fmt::format_to(std::back_inserter(text), "  ... {} older\n", others.size() - listed);
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

// What is to be seen of a run at once, and how to see more.
void report_run(const fs::path& folder, const report::TextOptions& options,
                ReportOutcome& outcome) {
  const RunSessions run = summarize_run(folder);
  for (const std::string& problem : run.problems) {
    outcome.errors += error_line(problem);
    outcome.exit_code = kExitCannotTell;
  }
  if (run.sessions.empty()) return;
  outcome.text = report::run_report(run.sessions, options);
  outcome.text += "\nSessions (--all reports each in full):\n";
  const size_t listed = std::min(run.sessions.size(), kMaxListed);
  for (size_t i = 0; i < listed; ++i) {
    outcome.text += fmt::format("  {}\n", report::make_harmless(run.sessions[i].dir.string()));
  }
  if (run.sessions.size() > listed) {
    outcome.text += fmt::format("  ... {} more\n", run.sessions.size() - listed);
  }
}

}  // namespace

ReportOutcome make_reports(const fs::path& path, bool all, const report::TextOptions& options) {
  ReportOutcome outcome;
  std::vector<fs::path> sessions = sessions_by_age(path);
  if (sessions.empty()) {
    outcome.errors = error_line(why_no_session(path));
    outcome.exit_code = kExitCannotTell;
    return outcome;
  }
  std::vector<fs::path> others;
  if (!all) {
    others = std::move(sessions);
    sessions = take_newest(others);
    if (sessions.size() > 1) {
      report_run(sessions.front().parent_path(), options, outcome);
      append_others(others, sessions.size(), outcome.text);
      return outcome;
    }
  }
  const symbols::SymbolizeOptions on_the_fly = reading_options();
  for (const fs::path& session : sessions) {
    const auto summary = analysis::summarize(session, &on_the_fly);
    if (!summary) {
      outcome.errors +=
          error_line(fmt::format("{}: {}", session.string(), summary.status().message()));
      outcome.exit_code = kExitCannotTell;
      continue;
    }
    if (!outcome.text.empty()) outcome.text += '\n';
    outcome.text += report::text_report(*summary, options);
  }
  append_others(others, 1, outcome.text);
  return outcome;
}

void add_report_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string path;
    size_t top = report::TextOptions{}.top;
    std::optional<size_t> width;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Print what a session recorded");
  command
      ->add_option("path", options->path,
                   "A session; a run's folder: all of it in brief; or a log folder: its newest "
                   "session or run")
      ->required();
  command->add_flag("--all", options->all, "Report every session of the folder, oldest first");
  command->add_option("--top", options->top, "Rows of a list or scopes of the tree; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--width", options->width,
                   "Columns, 60 to 1000 [default: the terminal's, from 80 to 140; else 100]")
      ->check(CLI::Range(60, 1000));
  command->footer("Exit code: 0 reported; 2 there is no session, or one cannot be read.");
  command->callback([options, &exit_code] {
    const ReportOutcome outcome =
        make_reports(options->path, options->all,
                     {options->width.value_or(page_width()), options->top, terminal_has_color()});
    print(outcome.text);
    print_error(outcome.errors);
    exit_code = outcome.exit_code;
  });
}

}  // namespace gpufl::cli
