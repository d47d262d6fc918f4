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
  // The log has no end, so its last phase has no row: where it began is taken from events, else
  // from the rows of GPU work.
  bool is_last_inferred = false;
};
// In order of time. None: the log does not say when.
std::optional<Phases> traced_phases(const SessionData& session);

// When one engine was attached, by the log's rows.
Intervals engine_phases(const SessionData& session, std::string_view engine);

// Those that a deep scope or somebody asked for: they are no sample of the run.
Intervals asked_phases(const SessionData& session);

}  // namespace gpufl::analysis
