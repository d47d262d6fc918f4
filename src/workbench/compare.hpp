// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/gate.hpp"
#include "base/status.hpp"
#include "report/session_report.hpp"
#include "workbench/answer_format.hpp"
#include "workbench/open.hpp"

// What differs between sessions, or groups of repeats, and whether a program has become slower than
// rules allow. One session is in memory at a time.
namespace gpufl::workbench {

inline constexpr std::array kDiffFormats = {Format::Text, Format::Markdown, Format::Json};
inline constexpr std::array kGateFormats = {Format::Text, Format::Markdown, Format::Json,
                                            Format::Junit};

struct DiffRequest {
  std::vector<std::filesystem::path> a, b;         // sessions, or folders with repeats
  std::optional<std::filesystem::path> halves_of;  // instead of both: a session
  analysis::compare::CompareOptions compare;
  OpenOptions open = {};
};
// NotFound: of a side no session can be read. InvalidArgument: what is to be cut into halves is no
// one session, or cannot be cut.
base::Result<analysis::compare::Comparison> diff(const DiffRequest& request);
// In one of kDiffFormats.
std::string write_diff(const analysis::compare::Comparison& comparison, Format format,
                       const report::TextOptions& options);

struct GateRequest {
  std::vector<std::filesystem::path> baseline, candidate;
  std::vector<analysis::compare::Rule> rules;
  OpenOptions open = {};
};
// NotFound: of a side no session can be read.
base::Result<analysis::compare::GateResult> gate(const GateRequest& request);
// In one of kGateFormats.
std::string write_gate(const analysis::compare::GateResult& result, Format format,
                       const report::TextOptions& options);
// The rules of a JSON file.
base::Result<std::vector<analysis::compare::Rule>> load_rules(const std::filesystem::path& file);

}  // namespace gpufl::workbench
