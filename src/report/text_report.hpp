// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analysis/summary.hpp"

// The report of a session as text: `gpufl report` and generateReport. Session, what was asked and
// not possible, and ledger come first. A number that the log does not support is "unknown".
namespace gpufl::report {

struct TextOptions {
  size_t width = 100;  // columns; below 60 it is 60
  size_t top = 30;     // rows of a list or scopes of the tree; 0: all
  bool has_color = false;
};

// Plain ASCII but for names from the log. Ends with a newline. Any thread.
std::string text_report(const analysis::SessionSummary& summary, const TextOptions& options = {});

}  // namespace gpufl::report
