// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_command.hpp"

#include <memory>
#include <utility>

#include "analysis/session/session_data.hpp"
#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/sessions_command.hpp"
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
  Output output;
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
base::Status take_paths(Options& options) {
  const bool has_lists = !options.a.empty() || !options.b.empty();
  const int ways =
      (options.first.empty() ? 0 : 1) + (has_lists ? 1 : 0) + (options.halves.empty() ? 0 : 1);
  if (ways != 1 || (has_lists && (options.a.empty() || options.b.empty())) ||
      options.first.empty() != options.second.empty()) {
    return base::Status(base::Code::InvalidArgument, "takes A and B, or --a and --b, or --halves");
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
  return {};
}

}  // namespace

DiffOutcome make_diff(const DiffRequest& request) {
  const auto sides = read_sides(request);
  if (!sides) return {"", sides.status().message()};
  return {written(compare(sides->first, sides->second, request.compare), request), ""};
}

void add_diff_command(Command program) {
  auto options = std::make_shared<Options>();
  DiffRequest& request = options->request;
  options->output.text.top = 30;
  Command command = program.add_command(
      "diff", "Say what differs between sessions, or between groups of repeats");
  command.add_option("A", options->first,
                     "A session, or a folder with repeats of the same program");
  command.add_option("B", options->second, "What to compare it with");
  command.add_option("--a", options->a, "Sessions or folders that are A").type_name("PATH ...");
  command.add_option("--b", options->b, "Sessions or folders that are B").type_name("PATH ...");
  command
      .add_option("--halves", options->halves,
                  "Compare the two halves of this session: was it steady?")
      .type_name("SESSION");
  add_share(command, "--min-change", request.compare.min_change, "1%",
            "Smaller differences do not matter");
  add_share(
      command, "--min-share", request.compare.min_share, "0.5%",
      "Kernels with less of the GPU's time, and scopes with less of the session's, do not matter");
  add_output_options(command, "Findings to show; 0: all", {"text", "md", "json"}, options->output);
  command.set_footer(
      "With at least 5 repeats a side, a difference is told from noise; with fewer, it is shown "
      "and "
      "not proven.\nExit code: 0 compared, whatever differs; 2 there is no session, or none can be "
      "read.");
  command.set_action([options]() -> base::Result<int> {
    if (const base::Status status = take_paths(*options); !status) return status;
    fit_to_output(options->output);
    options->request.format = options->output.format;
    options->request.text = options->output.text;
    const DiffOutcome outcome = make_diff(options->request);
    const int exit_code = outcome.error.empty() ? kExitGood : kExitCannotTell;
    return deliver_answer("gpufl diff", outcome.text, outcome.error, exit_code, options->output);
  });
}

}  // namespace gpufl::cli
