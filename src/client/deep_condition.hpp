// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "capture/deep_trigger.hpp"

// What people write to have a deep window opened when something is so:
//
//   METRIC OPERATOR NUMBER [for DURATION]      kernel_launch_rate<100 for 2s
//
// Metrics: capture::to_string(DeepMetric). Operators: <, <=, >, >=. A duration as `gpufl` takes it
// elsewhere, an hour at most. Blanks are free, except around "for". Pure.
namespace gpufl::client {

// A failure names the part that is wrong, and what was probably meant.
base::Result<capture::DeepCondition> parse_deep_condition(std::string_view text);

}  // namespace gpufl::client
