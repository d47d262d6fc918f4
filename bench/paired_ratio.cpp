// SPDX-License-Identifier: Apache-2.0
#include "bench/paired_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpufl::bench {
namespace {

// The largest k for which the middle lies outside [k-th smallest, k-th largest mean of two] with a
// probability of at most 5%: that of signed ranks 1 to n with a sum below k, counted exactly.
// 0: there is none.
size_t interval_rank(size_t n) {
  std::vector<double> chance(n * (n + 1) / 2 + 1);  // by sum
  chance[0] = 1;
  size_t largest = 0;
  for (size_t rank = 1; rank <= n; ++rank) {
    largest += rank;
    for (size_t sum = largest + 1; sum-- > 0;) {
      const double with = sum >= rank ? chance[sum - rank] : 0;
      chance[sum] = (chance[sum] + with) / 2;
    }
  }
  double below = 0;
  size_t rank = 0;
  while (rank < chance.size() && below + chance[rank] <= 0.025) below += chance[rank++];
  return rank;
}

}  // namespace

Estimate summarize_differences(std::vector<double> differences) {
  const size_t n = differences.size();
  Estimate result;
  result.pairs = static_cast<int>(n);
  result.low = -std::numeric_limits<double>::infinity();
  result.high = std::numeric_limits<double>::infinity();
  if (n == 0) return result;
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) means.push_back((differences[i] + differences[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  result.middle = (means[(means.size() - 1) / 2] + means[means.size() / 2]) / 2;
  const size_t rank = interval_rank(n);
  if (rank > 0) {
    result.low = means[rank - 1];
    result.high = means[means.size() - rank];
  }
  return result;
}

Ratio summarize_ratios(std::vector<double> ratios) {
  for (double& ratio : ratios) ratio = std::log(ratio);
  Ratio result = summarize_differences(std::move(ratios));
  for (double* value : {&result.middle, &result.low, &result.high}) *value = std::exp(*value);
  return result;
}

Ratio ratio_of(const std::vector<PairCost>& costs) {
  std::vector<double> ratios;
  for (const PairCost& cost : costs) ratios.push_back(cost.subject / cost.baseline);
  return summarize_ratios(std::move(ratios));
}

Estimate difference_of(const std::vector<PairCost>& costs) {
  std::vector<double> differences;
  for (const PairCost& cost : costs) differences.push_back(cost.subject - cost.baseline);
  return summarize_differences(std::move(differences));
}

}  // namespace gpufl::bench
