// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/compare/gate.hpp"
#include "cli/command_line.hpp"
#include "report/text_report.hpp"

// `gpufl gate`: whether a program has become slower than rules allow; for CI.
namespace gpufl::cli {

void add_gate_command(Command program);

struct GateRequest {
  std::vector<std::filesystem::path> baseline, candidate;
  std::vector<analysis::compare::Rule> rules;
  std::string format = "text";
  report::TextOptions text;
};

struct GateOutcome {
  std::string text;   // for stdout, or the file asked for
  std::string error;  // a sentence: nothing could be judged; else empty
  int exit_code = 0;
};
GateOutcome make_gate(const GateRequest& request);

}  // namespace gpufl::cli
