// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "report/session_report.hpp"
#include "workbench/answer_format.hpp"

// What `gpufl diff` and `gpufl gate` take alike: shares; and, with `gpufl report`, how many rows to
// show, in which format and where to print.
namespace gpufl::cli {

// An option whose text is a share: "5%" or "0.05".
Option add_share(Command command, const std::string& name, double& share,
                 const std::string& default_text, const std::string& help);

// How an answer is written, and where.
struct Output {
  workbench::Format format = workbench::Format::Text;
  report::TextOptions text = {};
  std::string file = {};  // empty: standard output
};
// --format: one of these, of which the first is the default.
Option add_format(Command command, std::span<const workbench::Format> formats,
                  workbench::Format& format);
// --top, --format and --output.
void add_output_options(Command command, const std::string& top_help,
                        std::span<const workbench::Format> formats, Output& output);
// The terminal's width, and colour only on one.
void fit_to_output(Output& output);

// To stdout where `file` is empty. A file that is there is replaced, as a whole or not at all; but
// never one inside a session's folder. Says what it wrote, or on stderr why it could not, and
// returns false.
bool deliver(std::string_view who, const std::string& text, const std::string& file);

}  // namespace gpufl::cli
