// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/group.hpp"
#include "base/status.hpp"
#include "cli/command_line.hpp"
#include "report/text_report.hpp"

// What `gpufl diff` and `gpufl gate` take alike: folders with repeats, shares; and, with `gpufl
// report`, how many rows to show and where to print.
namespace gpufl::cli {

// "runs/main", or "3 paths" of several.
std::string group_label(const std::vector<std::filesystem::path>& paths);
// NotFound: no session of it can be read; the sentence says why.
base::Result<analysis::compare::Group> read_group(const std::vector<std::filesystem::path>& paths);

// An option whose text is a share: "5%" or "0.05".
Option add_share(Command command, const std::string& name, double& share,
                 const std::string& default_text, const std::string& help);

// How an answer is written, and where.
struct Output {
  std::string format = "text";
  report::TextOptions text = {};
  std::string file = {};  // empty: standard output
};
// --top, --format and --output.
void add_output_options(Command command, const std::string& top_help,
                        const std::vector<std::string>& formats, Output& output);
// The terminal's width, and colour only on one.
void fit_to_output(Output& output);
// Returns `exit_code`, or 2 where the answer cannot be written. With an error, that alone is said.
int deliver_answer(std::string_view who, const std::string& text, const std::string& error,
                   int exit_code, const Output& output);

// To stdout where `file` is empty. A file that is there is replaced, as a whole or not at all; but
// never one inside a session's folder. Says what it wrote, or on stderr why it could not, and
// returns false.
bool deliver(std::string_view who, const std::string& text, const std::string& file);

}  // namespace gpufl::cli
