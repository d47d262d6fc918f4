// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "cli/terminal.hpp"
#include "report/text_page.hpp"
#include "text/display.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/report.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "gpufl report";
constexpr size_t kFolders = 10, kFoldersBriefly = 3;  // that are listed

// The first few, one a line, and how many there are besides: "... 12 more".
void append_folders(std::span<const fs::path> folders, size_t most, std::string& text) {
  const size_t listed = std::min(folders.size(), most);
  for (const fs::path& folder : folders.first(listed)) {
    text += fmt::format("  {}\n", text::make_harmless(folder.string()));
  }
  if (folders.size() > listed) {
    text += fmt::format("  ... {} more\n", folders.size() - listed);
  }
}

// What else lies there, and how to see more of it.
void append_hints(const workbench::ReportOutcome& outcome, const report::TextOptions& options,
                  std::string& text) {
  if (outcome.is_run && !outcome.reported.empty()) {
    text += "\nSessions (--all reports each of them):\n";
    append_folders(outcome.reported, options.is_full ? kFolders : kFoldersBriefly, text);
  }
  if (outcome.others.empty()) return;
  const size_t reported = outcome.chosen.size();
  report::TextPage note(options.width, false);
  const size_t all = outcome.others.size() + reported;
  const std::string_view what = reported == 1 ? "one" : "run";
  const std::string newest =
      outcome.passes_over_newer
          ? fmt::format("Of {} sessions, this is the newest {} that recorded something.", all, what)
          : fmt::format("This is the newest {} of {} sessions.", what, all);
  note.paragraph(
      0, newest + (options.is_full ? " The others (--all reports them too):"
                                   : " --all reports all of them; gpufl sessions lists them."));
  text += '\n' + note.text();
  if (options.is_full) append_folders(outcome.others, kFolders, text);
}

// A sentence, and the lines of a list where it has one.
void complain_in_lines(std::string_view message) {
  const size_t end = message.find('\n');
  complain(kCommand, message.substr(0, end));
  if (end == std::string_view::npos) return;
  for (std::string_view left = message.substr(end + 1); !left.empty();) {
    const size_t next = std::min(left.find('\n'), left.size());
    print_error(text::make_harmless(left.substr(0, next)) + "\n");
    left.remove_prefix(std::min(next + 1, left.size()));
  }
}

// What was typed.
struct ReportLine {
  workbench::ReportRequest request;
  std::optional<size_t> width, top;
  std::string output, thresholds, sort = "total";
};

int run_report_command(ReportLine line) {
  workbench::ReportRequest& request = line.request;
  if (!line.thresholds.empty()) {
    auto thresholds = analysis::load_thresholds(line.thresholds);
    if (!thresholds) {
      complain(kCommand, thresholds.status().message());
      return kExitUsage;
    }
    request.thresholds = *thresholds;
  }
  const bool is_for_terminal = line.output.empty();
  request.text.width =
      line.width.value_or(is_for_terminal ? page_width() : report::TextOptions{}.width);
  request.text.has_color = is_for_terminal && terminal_has_color();
  request.text.sort = report::kernel_sort_of(line.sort).value_or(report::KernelSort::Total);
  if (line.top) request.text.top = *line.top;
  request.text.has_top = line.top.has_value();
  request.open.libdw = libdw();
  workbench::ReportOutcome outcome = with_progress([&](const workbench::Progress& progress) {
    request.open.progress = progress;
    return workbench::make_reports(request);
  });
  if (request.format == workbench::Format::Text) {
    append_hints(outcome, request.text, outcome.text);
  }
  bool is_delivered = true;
  if (!outcome.text.empty()) is_delivered = deliver(kCommand, outcome.text, line.output);
  for (const std::string& note : outcome.notes) complain(kCommand, note);
  for (const base::Status& failure : outcome.failures) complain_in_lines(failure.message());
  return is_delivered && outcome.failures.empty() ? kExitGood : kExitCannotTell;
}

}  // namespace

void add_report_command(Command program) {
  auto line = std::make_shared<ReportLine>();
  workbench::ReportRequest& request = line->request;
  request.path = workbench::kDefaultLogs;
  Command command = program.add_command("report", "Print what a session recorded");
  command
      .add_option("path", request.path,
                  "A session; a run's folder, to report all of its sessions together; or a log "
                  "folder, to report its newest session or run")
      .show_default();
  command.add_flag("--all", request.all, "Report every session of the folder, oldest first");
  command.add_flag("--full", request.text.is_full,
                   "Print everything instead of what fits on a screen; JSON and HTML always "
                   "contain it");
  command
      .add_option("--top", line->top,
                  "Rows of a list or scopes of the tree; 0: all [default: 10; without --full at "
                  "most 5, as many as fit on a screen]")
      .count();
  command
      .add_option("--sort", line->sort,
                  "Order of kernels, except in JSON: total, count, mean, median, p99, max or name")
      .choices({"total", "count", "mean", "median", "p99", "max", "name"})
      .type_name("BY")
      .show_default();
  command
      .add_option("--scope", request.scope,
                  "Only work of scopes whose name, 'name / tag' or path matches, and of scopes "
                  "inside them; * and ? as in file names")
      .type_name("GLOB");
  command.add_option("--device", request.device, "Only this GPU").count();
  Option kernel =
      command
          .add_option("--kernel", request.kernel.kernel,
                      "Only this kernel, by line and instruction: a part of its name, or all of it "
                      "with * and ?")
          .type_name("NAME");
  command
      .add_flag("--source", request.kernel.with_source,
                "With --kernel: source and instructions side by side; in JSON also PTX")
      .needs(kernel);
  command
      .add_option("--nvdisasm", request.kernel.nvdisasm,
                  "With --kernel: NVIDIA's disassembler, for code that gpufl disassemble has not "
                  "stored [default: found as gpufl disassemble does]")
      .type_name("FILE")
      .needs(kernel);
  add_format(command, workbench::kReportFormats, request.format);
  command
      .add_option("-o,--output", line->output,
                  "Write to this file instead of stdout; an existing file is replaced")
      .type_name("FILE");
  command
      .add_option("--thresholds", line->thresholds,
                  "JSON file with the thresholds above which insights are reported "
                  "(docs/reference/insights.md)")
      .type_name("FILE");
  command
      .add_option("--width", line->width,
                  "Columns, 60 to 1000 [default: the terminal's width, within 60 to 140; without "
                  "a terminal, 100]")
      .range(60, 1000);
  command.set_footer(
      "JSON has one line for each session or run: docs/reference/report-json.md.\nExit code: 0 "
      "reported; 2 there is no session, or one cannot be read, or it has no such scope, GPU or "
      "kernel, or several kernels match.");
  command.set_action([line] { return run_report_command(*line); });
}

}  // namespace gpufl::cli
