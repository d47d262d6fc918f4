// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/math/intervals.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Which part of a session's time its log knows the GPU's work of. Pure functions.
namespace gpufl::analysis {

// When no work is known, though the GPU may have done some: what lies outside of the phases in
// which it was traced, or, where the log has no rows of these, between `recording_paused` and
// `recording_resumed` events; what of the session's beginning was deleted to stay within the
// log's limits, and windows of GPU work that are missing or damaged. Ends before the session and
// after it are open.
Intervals unrecorded_spans(const SessionData& session);
// The same of one GPU, and the time since a kernel was launched on it that still ran when the log
// ends: that kernel has no row, and the GPU was not idle.
Intervals spans_without_rows(const SessionData& session, int64_t device);
// When work was recorded at all: the rest of the session, or of the options' window.
Intervals recorded_spans(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
