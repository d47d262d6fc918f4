// SPDX-License-Identifier: Apache-2.0
#include "cli/diff_command.hpp"

#include <memory>
#include <string>
#include <vector>

#include "cli/compare_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "workbench/compare.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl diff";

struct Options {
  std::string first, second;  // A and B, each one path
  std::vector<std::string> a, b;
  std::string halves;
  Output output;
  workbench::DiffRequest request;
};

// Which of the ways to name the sides was taken.
base::Status take_paths(Options& options) {
  const bool has_lists = !options.a.empty() || !options.b.empty();
  const int ways =
      (options.first.empty() ? 0 : 1) + (has_lists ? 1 : 0) + (options.halves.empty() ? 0 : 1);
  if (ways != 1 || (has_lists && (options.a.empty() || options.b.empty())) ||
      options.first.empty() != options.second.empty()) {
    return base::Status(base::Code::InvalidArgument,
                        "name two sessions or folders: gpufl diff A B (or use --a and --b, or "
                        "--halves)");
  }
  workbench::DiffRequest& request = options.request;
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

int run_diff(Options& options) {
  Output& output = options.output;
  fit_to_output(output);
  const auto comparison = with_progress([&](const workbench::Progress& progress) {
    options.request.open.progress = progress;
    return workbench::diff(options.request);
  });
  if (!comparison) {
    complain(kCommand, comparison.status().message());
    return kExitCannotTell;
  }
  const std::string text = workbench::write_diff(*comparison, output.format, output.text);
  return deliver(kCommand, text, output.file) ? kExitGood : kExitCannotTell;
}

}  // namespace

void add_diff_command(Command program) {
  auto options = std::make_shared<Options>();
  workbench::DiffRequest& request = options->request;
  options->output.text.top = 10;
  Command command = program.add_command(
      "diff", "Show what differs between sessions, or between groups of repeats");
  command.add_option("A", options->first,
                     "A session, or a folder with repeats of the same program");
  command.add_option("B", options->second, "What to compare it with");
  command.add_option("--a", options->a, "Sessions or folders that are A").type_name("PATH ...");
  command.add_option("--b", options->b, "Sessions or folders that are B").type_name("PATH ...");
  command
      .add_option("--halves", options->halves,
                  "Compare the two halves of this session: was it steady?")
      .type_name("SESSION");
  add_share(
      command, "--min-change", request.compare.min_change, "1%",
      "Ignore smaller differences; with fewer than 5 repeats per side, times must differ by 5%");
  add_share(command, "--min-share", request.compare.min_share, "0.5%",
            "Ignore kernels with less of the GPU's time, and scopes with less of the session's");
  add_output_options(command, "Findings to show; 0: all", workbench::kDiffFormats, options->output);
  command.set_footer(
      "With at least 5 repeats per side, differences are separated from noise; with fewer, they "
      "are shown but not proven.\nExit code: 0 compared, whether or not anything differs; 2 there "
      "is no session, or none can be read.");
  command.set_action([options]() -> base::Result<int> {
    if (const base::Status status = take_paths(*options); !status) return status;
    return run_diff(*options);
  });
}

}  // namespace gpufl::cli
