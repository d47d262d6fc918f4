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

// Nobody else lets go of the program to spare it: turns of samples go on as turns without.
bool is_of_budget(int64_t ending) {
  return ending == static_cast<int64_t>(format::CoverageEnd::Budget) ||
         ending == static_cast<int64_t>(format::CoverageEnd::DeepScope);
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

void CoverageCost::add(const CoverageCost& other) {
  calls_ns = saturating_add(calls_ns, other.calls_ns);
  steps_ns = saturating_add(steps_ns, other.steps_ns);
  by_calls += other.by_calls;
  by_steps += other.by_steps;
  unknown += other.unknown;
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
  const int64_t shape = rows.at(column::kShape, row);
  if (shape == static_cast<int64_t>(format::CoverageShape::Window)) {
    ++windows;
    window_ns = saturating_add(window_ns, duration_ns);
    window_cost.add(cost_ns, measure);
    add_known(samples, rows.at(column::kSamples, row, -1));
    add_known(dropped, rows.at(column::kDropped, row, -1));
  }
  if (shape != static_cast<int64_t>(format::CoverageShape::Phase)) return;
  ++phases;
  phase_ns = saturating_add(phase_ns, duration_ns);
  phase_cost.add(cost_ns, measure);
  last_end_ns = std::max(last_end_ns, saturating_add(rows.at(column::kStart, row), duration_ns));
  const int64_t ending = rows.at(column::kEnding, row);
  is_paced |= is_of_budget(ending);
  ends_with_windows |= ending == static_cast<int64_t>(format::CoverageEnd::DeepWindow);
}

CoverageCost EngineCoverage::cost() const {
  if (phase_cost.total_ns()) return phase_cost;
  CoverageCost cost = window_cost;
  cost.unknown += phase_cost.unknown;
  return cost;
}

EngineCoverage sum_of(const std::vector<EngineCoverage>& engines) {
  EngineCoverage sum;
  for (const EngineCoverage& engine : engines) {
    sum.phases += engine.phases;
    sum.windows += engine.windows;
    sum.phase_ns = saturating_add(sum.phase_ns, engine.phase_ns);
    sum.window_ns = saturating_add(sum.window_ns, engine.window_ns);
    sum.phase_cost.add(engine.phase_cost);
    sum.window_cost.add(engine.window_cost);
    sum.samples += engine.samples;
    sum.dropped += engine.dropped;
    sum.last_end_ns = std::max(sum.last_end_ns, engine.last_end_ns);
    sum.is_paced |= engine.is_paced;
    sum.ends_with_windows |= engine.ends_with_windows;
  }
  return sum;
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
