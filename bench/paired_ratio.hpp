// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

// How benchmarks compare two ways of doing the same work: alternately, in one process, so that a
// machine that drifts drifts under both.
namespace gpufl::bench {

struct Estimate {
  double middle = 0;
  double low = 0;  // 95% interval of `middle`
  double high = 0;
  int pairs = 0;
};
using Ratio = Estimate;

// The middle of what pairs say: the median of the means of every two of them (Hodges and Lehmann),
// with the interval of Wilcoxon's signed ranks. It asks only that noise be as often above as below,
// which pairs whose order alternates give, is as deaf to outliers as a median, and needs a third
// fewer pairs. Of at least six; fewer have no 95% interval, and give an infinite one.
Estimate summarize_differences(std::vector<double> differences);
// The same on a logarithmic scale; an interval that is none goes from 0 to infinity.
Ratio summarize_ratios(std::vector<double> ratios);

inline constexpr int kMinPairs = 20;

struct PairCost {
  double baseline = 0, subject = 0;
};

// `pairs` times baseline() and subject(), each of which does its work once and returns what it
// cost. Who goes first changes with every pair.
template <typename Baseline, typename Subject>
std::vector<PairCost> run_pairs(int pairs, Baseline&& baseline, Subject&& subject) {
  std::vector<PairCost> costs(static_cast<size_t>(pairs));
  for (int pair = 0; pair < pairs; ++pair) {
    PairCost& cost = costs[static_cast<size_t>(pair)];
    if (pair % 2 == 0) {
      cost.baseline = baseline();
      cost.subject = subject();
    } else {
      cost.subject = subject();
      cost.baseline = baseline();
    }
  }
  return costs;
}

Ratio ratio_of(const std::vector<PairCost>& costs);
Estimate difference_of(const std::vector<PairCost>& costs);  // subject minus baseline

// subject() / baseline().
template <typename Baseline, typename Subject>
Ratio paired_ratio(int pairs, Baseline&& baseline, Subject&& subject) {
  return ratio_of(
      run_pairs(pairs, std::forward<Baseline>(baseline), std::forward<Subject>(subject)));
}

}  // namespace gpufl::bench
