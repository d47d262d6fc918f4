// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_counters.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {

CounterCurves::CounterCurves(const Tables& tables) {
  const Samples& samples = tables.counters;
  for (size_t row = 0; row < samples.rows(); ++row) {
    curves_[samples.metric[row]].push_back({samples.time[row], samples.value[row]});
  }
}

CounterCurves::Bounds CounterCurves::at(const Curve& curve, int64_t time_ns) {
  const auto after = std::upper_bound(curve.begin(), curve.end(), time_ns,
                                      [](int64_t t, const Step& step) { return t < step.time_ns; });
  // The first sample has what the counter was at the beginning, the last what it was at the end.
  if (after == curve.begin()) return {curve.front().value, curve.front().value};
  const Step& before = *(after - 1);
  const bool is_exact = after == curve.end() || before.time_ns == time_ns;
  return {before.value, is_exact ? before.value : after->value};
}

std::vector<ScopeCounter> CounterCurves::increases(const Tables& tables,
                                                   const Intervals& spans) const {
  std::vector<ScopeCounter> out;
  const auto length_ns = static_cast<double>(total_length(spans));
  for (const auto& [name, curve] : curves_) {
    Bounds increase{0, 0};
    for (const Interval& span : spans) {
      const Bounds first = at(curve, span.start), last = at(curve, span.end);
      const int64_t least = std::max<int64_t>(0, saturating_subtract(last.least, first.most));
      increase.least = saturating_add(increase.least, least);
      increase.most = saturating_add(increase.most, saturating_subtract(last.most, first.least));
    }
    if (increase.most <= 0) continue;
    const double least = static_cast<double>(increase.least);
    const double most = static_cast<double>(increase.most);
    if (most - least > kMaxDoubt * most) {
      const Unknown unknown{
          "they were sampled too seldom to tell what grew inside from what grew outside",
          "count in scopes that take longer, or divide by hand what the program "
          "counts"};
      out.push_back({tables.name(name), unknown, unknown});
      continue;
    }
    const int64_t middle = increase.least + (increase.most - increase.least) / 2;
    out.push_back({tables.name(name), middle, static_cast<double>(middle) * 1e9 / length_ns});
  }
  std::sort(out.begin(), out.end(),
            [](const ScopeCounter& a, const ScopeCounter& b) { return a.name < b.name; });
  return out;
}

}  // namespace gpufl::analysis
