// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_command.hpp"

#include <memory>
#include <utility>

#include "analysis/session_data.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "cli/terminal.hpp"
#include "format/session_reader.hpp"
#include "report/diff_report.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using analysis::compare::Group;

struct Options {
  std::string first, second;  // A and B, each one path
  std::vector<std::string> a, b;
  std::string halves;
  std::string output;
  DiffRequest request;
};

std::string written(const analysis::compare::Comparison& comparison, const DiffRequest& request) {
  if (request.format == "json") return report::diff_json(comparison);
  if (request.format == "md") return report::diff_markdown(comparison, request.text.top);
  return report::diff_text(comparison, request.text);
}

base::Result<std::pair<Group, Group>> read_halves(const fs::path& path) {
  const std::vector<fs::path> sessions = format::find_sessions(path);
  if (sessions.empty()) return base::Status(base::Code::NotFound, why_no_session(path));
  if (sessions.size() > 1) {
    return base::Status(base::Code::InvalidArgument,
                        path.string() + ": there are several sessions in it; name one of them");
  }
  const auto session = analysis::load(sessions.front());
  if (!session) return session.status();
  auto halves = analysis::compare::halves_of(*session);
  if (!halves) {
    return base::Status(halves.status().code(), path.string() + ": " + halves.status().message());
  }
  return halves;
}

base::Result<std::pair<Group, Group>> read_sides(const DiffRequest& request) {
  if (request.halves_of) return read_halves(*request.halves_of);
  auto a = read_group(request.a);
  if (!a) return a.status();
  auto b = read_group(request.b);
  if (!b) return b.status();
  return std::pair(std::move(*a), std::move(*b));
}

// Which of the ways to name the sides was taken.
void take_paths(Options& options) {
  const bool has_lists = !options.a.empty() || !options.b.empty();
  const int ways =
      (options.first.empty() ? 0 : 1) + (has_lists ? 1 : 0) + (options.halves.empty() ? 0 : 1);
  if (ways != 1 || (has_lists && (options.a.empty() || options.b.empty())) ||
      options.first.empty() != options.second.empty()) {
    throw CLI::ValidationError("diff", "takes A and B, or --a and --b, or --halves");
  }
  DiffRequest& request = options.request;
  if (has_lists) {
    request.a.assign(options.a.begin(), options.a.end());
    request.b.assign(options.b.begin(), options.b.end());
  } else if (!options.first.empty()) {
    request.a = {options.first};
    request.b = {options.second};
  } else {
    request.halves_of = options.halves;
  }
}

}  // namespace

DiffOutcome make_diff(const DiffRequest& request) {
  const auto sides = read_sides(request);
  if (!sides) return {"", sides.status().message()};
  return {written(compare(sides->first, sides->second, request.compare), request), ""};
}

void add_diff_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  DiffRequest& request = options->request;
  request.text.top = 30;
  CLI::App* command =
      app.add_subcommand("diff", "Say what differs between sessions, or between groups of repeats");
  command->add_option("A", options->first,
                      "A session, or a folder with repeats of the same program");
  command->add_option("B", options->second, "What to compare it with");
  command->add_option("--a", options->a, "Sessions or folders that are A")->type_name("PATH ...");
  command->add_option("--b", options->b, "Sessions or folders that are B")->type_name("PATH ...");
  command
      ->add_option("--halves", options->halves,
                   "Compare the two halves of this session: was it steady?")
      ->type_name("SESSION");
  add_share(*command, "--min-change", request.compare.min_change, "1%",
            "Smaller differences do not matter");
  add_share(
      *command, "--min-share", request.compare.min_share, "0.5%",
      "Kernels with less of the GPU's time, and scopes with less of the session's, do not matter");
  command->add_option("--top", request.text.top, "Findings to show; 0: all")
      ->check(count_check())
      ->capture_default_str();
  command->add_option("--format", request.format, "text, md or json")
      ->check(CLI::IsMember({"text", "md", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      ->add_option("-o,--output", options->output,
                   "Write to this file instead of stdout; one that is there is replaced")
      ->type_name("FILE");
  command->footer(
      "With at least 5 repeats a side, a difference is told from noise; with fewer, it is shown "
      "and "
      "not proven.\nExit code: 0 compared, whatever differs; 2 there is no session, or none can be "
      "read.");
  command->callback([options, &exit_code] {
    take_paths(*options);
    DiffRequest& request = options->request;
    const bool is_for_terminal = options->output.empty();
    request.text.width = page_width();
    request.text.has_color = is_for_terminal && terminal_has_color();
    const DiffOutcome outcome = make_diff(request);
    if (!outcome.error.empty()) {
      complain("gpufl diff", outcome.error);
      exit_code = kExitCannotTell;
      return;
    }
    if (!deliver("gpufl diff", outcome.text, options->output)) exit_code = kExitCannotTell;
  });
}

}  // namespace gpufl::cli
