// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "analysis/compare/gate.hpp"
#include "base/status.hpp"

// The rules file of `gpufl gate`, a JSON object: {"rules": [{"kernel": "*gemm*", "metric":
// "median", "max_increase": "5%"}, ...]}. docs/guide/compare-runs.md lists the keys. Pure
// functions.
namespace gpufl::analysis::compare {

// InvalidArgument: "rules.json:4: ..." with the line of the first mistake. `file`: what it is
// called.
base::Result<std::vector<Rule>> parse_rules(std::string_view text, std::string_view file);

// "5%" or "0.05".
base::Result<double> parse_share(std::string_view text);

// What a rule of a subject is about unless it says otherwise.
Metric default_metric(Subject subject);

}  // namespace gpufl::analysis::compare
