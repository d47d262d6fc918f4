// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/coverage_totals.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis {
namespace {

void add_known(uint64_t& total, int64_t count) {
  if (count > 0) total += static_cast<uint64_t>(count);
}

template <typename Reason>
bool is_paced(int64_t reason) {
  return reason == static_cast<int64_t>(Reason::Budget) ||
         reason == static_cast<int64_t>(Reason::DeepScope) ||
         reason == static_cast<int64_t>(Reason::Schedule);
}

}  // namespace

void CoverageCost::add(int64_t cost_ns, int64_t measure) {
  if (cost_ns < 0 || measure == static_cast<int64_t>(format::CostMeasure::Unknown)) {
    ++unknown;
    return;
  }
  const bool is_steps = measure == static_cast<int64_t>(format::CostMeasure::Steps);
  int64_t& sum_ns = is_steps ? steps_ns : calls_ns;
  sum_ns = saturating_add(sum_ns, cost_ns);
  ++(is_steps ? by_steps : by_calls);
}

std::optional<int64_t> CoverageCost::total_ns() const {
  if (by_calls + by_steps == 0) return std::nullopt;
  return saturating_add(calls_ns, steps_ns);
}

std::string_view CoverageCost::measure() const {
  if (by_calls > 0 && by_steps > 0) return "calls and steps";
  return by_steps > 0 ? "steps" : "calls";
}

void EngineCoverage::add(const format::Batch& rows, size_t row) {
  namespace column = format::coverage_column;
  const int64_t duration_ns = std::max<int64_t>(0, rows.at(column::kDuration, row));
  const int64_t cost_ns = rows.at(column::kCost, row, -1);
  const int64_t measure = rows.at(column::kMeasure, row);
  const bool is_window =
      rows.at(column::kShape, row) == static_cast<int64_t>(format::CoverageShape::Window);
  if (is_window) {
    ++windows;
    window_ns = saturating_add(window_ns, duration_ns);
    window_cost.add(cost_ns, measure);
    add_known(samples, rows.at(column::kSamples, row, -1));
    add_known(dropped, rows.at(column::kDropped, row, -1));
    return;
  }
  ++phases;
  phase_ns = saturating_add(phase_ns, duration_ns);
  phase_cost.add(cost_ns, measure);
  is_paced |= analysis::is_paced<format::CoverageReason>(rows.at(column::kWhy, row)) ||
              analysis::is_paced<format::CoverageEnd>(rows.at(column::kEnding, row));
}

const EngineCoverage* coverage_of(const std::vector<EngineCoverage>& all, std::string_view engine) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const EngineCoverage& entry) { return entry.engine == engine; });
  return found == all.end() ? nullptr : &*found;
}

void CoverageTable::add(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  names_.resolve(rows, format::coverage_column::kEngine, dictionaries, row_names_);
  for (size_t row = 0; row < rows.rows(); ++row) engines_[row_names_[row]].add(rows, row);
}

std::vector<EngineCoverage> CoverageTable::finish() const {
  std::vector<EngineCoverage> out;
  for (const auto& [name, engine] : engines_) {
    out.push_back(engine);
    out.back().engine = names_.text(name);
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.engine < b.engine; });
  return out;
}

}  // namespace gpufl::analysis
