// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/math/figure.hpp"
#include "analysis/session/session_data.hpp"

// Why a session does not tell something, and what would have made it: the words of every figure
// that is unknown. Pure functions.
namespace gpufl::analysis {

// Whether GPU work would be in the log if there was any. It is not with the engine Monitor, nor
// where tracing could not begin, was never turned on or its capture range never entered, nor where
// it was written and cannot be read, nor in a trace of another tool that tells of the CPU alone,
// nor where there is none and it may have been lost, as lost_gpu_work() says.
bool records_gpu_work(const SessionData& session);
bool records_gpu_work(const SessionSummary& summary);  // the same, where tables were not read
// Why there is no GPU work at all; only where !records_gpu_work().
Unknown missing_gpu_work(const SessionSummary& summary);
// Why a session that has ended may have had more GPU work than its log: rows that were lost, or no
// end. Empty: nothing says so.
std::string lost_gpu_work(const SessionSummary& summary);
// What keeps the ring of a thread from getting full.
inline constexpr std::string_view kFullRingRemedy =
    "mark fewer, longer parts of the program, such as a whole loop instead of every turn of it; "
    "the "
    "size of a ring is fixed";
// Why the scopes or markers of a session are only a lower bound of those that there were, and what
// would avoid it; none: neither its ledger nor a missing end says so.
std::optional<Unknown> lost_scopes(const SessionSummary& summary);
std::optional<Unknown> lost_markers(const SessionSummary& summary);
// Rows that were written, as the ledger says, and were neither read nor deleted on purpose: their
// part of the log is damaged. Both are 0 where there is no ledger.
struct UnreadRows {
  uint64_t written = 0, unread = 0;
};
UnreadRows unread_rows(const SessionSummary& summary);
// Whether the session says that it asked for a feature in vain.
bool is_refused(const SessionData& session, std::string_view feature);
// The tool whose trace the session was imported from; empty: GPUFlight recorded it.
std::string_view imported_from(const SessionSummary& summary);
// " The engine Deep would tell."; empty for imported sessions, which have no engine. Those that
// this version lacks are called so, here and below.
std::string deeper_engine(const SessionSummary& summary, std::string_view engine);
// Why there are no rows that these engines record: `what` they are. Where the session says that one
// was asked for and could not be had, with the reason and the remedy of that.
Unknown missing_rows(const SessionSummary& summary, const std::string& what,
                     std::span<const std::string_view> engines);
Unknown missing_samples(const SessionSummary& summary);  // of the program counter
// Whether the session was to have such samples.
bool wants_samples(const SessionSummary& summary);
// Why something is missing that `option` would record: `what` was "not recorded". Where the session
// says that it could not be had, that is the reason; an imported one says what its tool could have
// told.
Unknown missing_option(const SessionData& session, std::string_view what, std::string_view option);
// Why there are no times of the calls behind work.
Unknown missing_call_times(const SessionData& session);
// Why nothing was sampled of GPUs and host; only where there is no sample.
Unknown missing_metrics(const SessionSummary& summary);
// Why there can be no markers; known where there would be, had the program any.
Figure<bool> records_markers(const SessionSummary& summary);

}  // namespace gpufl::analysis
