// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "cli/command_line.hpp"
#include "report/text_report.hpp"

// `gpufl diff`: what differs between two sessions, or between two groups of repeats.
namespace gpufl::cli {

void add_diff_command(Command program);

struct DiffRequest {
  std::vector<std::filesystem::path> a, b;
  std::optional<std::filesystem::path> halves_of;  // instead of both: a session
  std::string format = "text";
  analysis::compare::CompareOptions compare;
  report::TextOptions text;
};

struct DiffOutcome {
  std::string text;   // for stdout, or the file asked for
  std::string error;  // a sentence; empty: it was compared
};
DiffOutcome make_diff(const DiffRequest& request);

}  // namespace gpufl::cli
