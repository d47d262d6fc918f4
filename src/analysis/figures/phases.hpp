// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "analysis/math/intervals.hpp"
#include "analysis/session/session_data.hpp"

// Pure functions.
namespace gpufl::analysis {

// When GPU work was recorded, whichever engine did.
struct Phases {
  Intervals spans;
  bool is_last_inferred = false;  // it is SessionSummary::open_phase(), and has no row
};
// In order of time. None: the log does not say when.
std::optional<Phases> traced_phases(const SessionData& session);

// When one engine was attached, by the log's rows.
Intervals engine_phases(const SessionData& session, std::string_view engine);

// Those that a deep scope, a deep window or somebody asked for, or that a deep scope made longer:
// they are no sample of the run.
Intervals asked_phases(const SessionData& session);

}  // namespace gpufl::analysis
