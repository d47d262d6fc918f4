// SPDX-License-Identifier: Apache-2.0
#include "analysis/scope_counters.hpp"

#include <algorithm>

#include "analysis/saturating.hpp"

namespace gpufl::analysis {

CounterCurves::CounterCurves(const Tables& tables) {
  const Samples& samples = tables.counters;
  for (size_t row = 0; row < samples.rows(); ++row) {
    curves_[samples.metric[row]].push_back({samples.time[row], samples.value[row]});
  }
}

int64_t CounterCurves::at(const Curve& curve, int64_t time_ns) {
  const auto after = std::upper_bound(curve.begin(), curve.end(), time_ns,
                                      [](int64_t t, const Step& step) { return t < step.time_ns; });
  // The first sample has what the counter was at the beginning.
  return after == curve.begin() ? curve.front().value : (after - 1)->value;
}

std::vector<ScopeCounter> CounterCurves::increases(const Tables& tables,
                                                   const Intervals& spans) const {
  std::vector<ScopeCounter> out;
  const auto length_ns = static_cast<double>(total_length(spans));
  for (const auto& [name, curve] : curves_) {
    int64_t increase = 0;
    for (const Interval& span : spans) {
      increase =
          saturating_add(increase, saturating_subtract(at(curve, span.end), at(curve, span.start)));
    }
    if (increase <= 0) continue;
    out.push_back({tables.name(name), increase, static_cast<double>(increase) * 1e9 / length_ns});
  }
  std::sort(out.begin(), out.end(),
            [](const ScopeCounter& a, const ScopeCounter& b) { return a.name < b.name; });
  return out;
}

}  // namespace gpufl::analysis
