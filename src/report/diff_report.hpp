// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analysis/compare/comparison.hpp"
#include "report/text_report.hpp"

// What `gpufl diff` prints. Each ends with a newline. Any thread.
namespace gpufl::report {

std::string diff_text(const analysis::compare::Comparison& comparison,
                      const TextOptions& options = {});
// For a comment on a change: `top` findings, 0 all.
std::string diff_markdown(const analysis::compare::Comparison& comparison, size_t top = 30);
// Everything, also what is alike.
std::string diff_json(const analysis::compare::Comparison& comparison);

}  // namespace gpufl::report
