// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analysis/compare/gate.hpp"
#include "report/text_report.hpp"

// What `gpufl gate` prints. Each ends with a newline. Any thread.
namespace gpufl::report {

// Of a rule with many matches, options.top of them; 0 all.
std::string gate_text(const analysis::compare::GateResult& result, const TextOptions& options = {});
std::string gate_markdown(const analysis::compare::GateResult& result, size_t top = 30);
std::string gate_json(const analysis::compare::GateResult& result);
// One test case a rule: a regression is a failure, what cannot be told an error.
std::string gate_junit(const analysis::compare::GateResult& result);

}  // namespace gpufl::report
