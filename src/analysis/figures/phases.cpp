// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/phases.hpp"

#include <algorithm>
#include <string>

#include "analysis/math/saturating.hpp"
#include "analysis/session/work_rows.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis {
namespace {

// When the phase began that was under way where the log ends: when recording was last resumed, else
// with the first work after `from_ns`. None: nothing says that there was one.
std::optional<int64_t> open_phase_start(const SessionData& session, int64_t from_ns) {
  std::optional<int64_t> start_ns = session.summary.resumed_ns;
  if (start_ns && *start_ns >= from_ns) return start_ns;
  start_ns.reset();
  for (const Work* const work : work_tables(session.tables)) {
    const auto first = std::lower_bound(work->start.begin(), work->start.end(), from_ns);
    if (first != work->start.end()) start_ns = std::min(start_ns.value_or(*first), *first);
  }
  // A session is attached from its start.
  return start_ns && from_ns == 0 ? 0 : start_ns;
}

// `is_wanted`: by the engine's name, and why it began.
template <typename IsWanted>
Intervals told_phases(const SessionData& session, IsWanted is_wanted) {
  namespace column = format::coverage_column;
  Intervals spans;
  const auto found = session.tables.others.find(format::Kind::Coverage);
  if (found == session.tables.others.end()) return spans;
  const format::Batch& rows = found->second;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const bool is_phase =
        rows.at(column::kShape, row) == static_cast<int64_t>(format::CoverageShape::Phase);
    const auto name = static_cast<uint32_t>(rows.at(column::kEngine, row));
    const auto why = static_cast<format::CoverageReason>(rows.at(column::kWhy, row));
    if (!is_phase || !is_wanted(session.tables.name(name), why)) continue;
    const int64_t start_ns = rows.at(column::kStart, row);
    spans.push_back({start_ns, saturating_add(start_ns, rows.at(column::kDuration, row))});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  Intervals united;
  for (const Interval& span : spans) add_in_order(united, span.start, span.end);
  return united;
}

}  // namespace

Intervals engine_phases(const SessionData& session, std::string_view engine) {
  return told_phases(session,
                     [&](std::string_view name, format::CoverageReason) { return name == engine; });
}

Intervals asked_phases(const SessionData& session) {
  return told_phases(session, [](std::string_view, format::CoverageReason why) {
    return why == format::CoverageReason::DeepScope || why == format::CoverageReason::Request;
  });
}

std::optional<Phases> traced_phases(const SessionData& session) {
  Phases phases{
      told_phases(session, [](std::string_view, format::CoverageReason) { return true; })};
  const bool has_budget = session.summary.header.overhead_budget_ppm.has_value();
  if (phases.spans.empty() && (session.summary.ended || !has_budget)) return std::nullopt;
  if (session.summary.ended) return phases;
  const int64_t from_ns = phases.spans.empty() ? 0 : phases.spans.back().end;
  const std::optional<int64_t> start_ns = open_phase_start(session, from_ns);
  if (start_ns && *start_ns < session.summary.duration_ns) {
    add_in_order(phases.spans, *start_ns, session.summary.duration_ns);
    phases.is_last_inferred = true;
  }
  return phases;
}

}  // namespace gpufl::analysis
