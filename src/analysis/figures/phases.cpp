// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/phases.hpp"

#include <algorithm>
#include <string>

#include "analysis/math/saturating.hpp"
#include "format/columns.hpp"
#include "format/engines.hpp"

namespace gpufl::analysis {
namespace {

struct PhaseRow {
  std::string_view engine;
  format::CoverageReason why;
  format::CoverageEnd ending;
};

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
    const PhaseRow phase{session.tables.name(name),
                         static_cast<format::CoverageReason>(rows.at(column::kWhy, row)),
                         static_cast<format::CoverageEnd>(rows.at(column::kEnding, row))};
    if (!is_phase || !is_wanted(phase)) continue;
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
  return told_phases(session, [&](const PhaseRow& phase) { return phase.engine == engine; });
}

Intervals asked_phases(const SessionData& session) {
  using format::CoverageReason;
  const auto is_asked = [](CoverageReason why) {
    return why == CoverageReason::DeepScope || why == CoverageReason::DeepWindow ||
           why == CoverageReason::Request;
  };
  Intervals spans = told_phases(session, [&](const PhaseRow& phase) {
    // A deep scope that opens in a phase makes that last as long as it does.
    return is_asked(phase.why) || phase.ending == format::CoverageEnd::DeepScope;
  });
  const std::optional<Interval> open = session.summary.open_phase();
  const auto& change = session.summary.last_change;
  const auto word = [](CoverageReason why) {
    return format::word_of(format::kCoverageReasonWords, static_cast<int64_t>(why));
  };
  if (open && change &&
      (change->why == word(CoverageReason::DeepScope) ||
       change->why == word(CoverageReason::DeepWindow) ||
       change->why == word(CoverageReason::Request))) {
    spans = unite(spans, {*open});
  }
  return spans;
}

std::optional<Phases> traced_phases(const SessionData& session) {
  // While counters were in the place of records, there are none.
  Phases phases{told_phases(
      session, [](const PhaseRow& phase) { return !format::replaces_records(phase.engine); })};
  if (const std::optional<Interval> open = session.summary.open_phase()) {
    phases.spans = unite(phases.spans, {*open});
    phases.is_last_inferred = true;
  }
  const bool says_nothing = session.summary.ended || !session.summary.header.overhead_budget_ppm;
  if (phases.spans.empty() && says_nothing) return std::nullopt;
  return phases;
}

}  // namespace gpufl::analysis
