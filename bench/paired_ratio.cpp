// SPDX-License-Identifier: Apache-2.0
#include "bench/paired_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpufl::bench {
namespace {

// The largest k for which the median lies outside [k-th smallest, k-th largest] with a probability
// of at most 5%: 2 * P(Binomial(n, 1/2) < k) <= 0.05. 0: there is none.
size_t interval_rank(size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));  // P(exactly 0)
  double below = 0;
  size_t rank = 0;
  while (rank < n && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  return rank;
}

}  // namespace

Ratio summarize_ratios(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const size_t n = ratios.size();
  Ratio result;
  result.pairs = static_cast<int>(n);
  result.high = std::numeric_limits<double>::infinity();
  if (n == 0) return result;
  result.median = (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
  const size_t rank = interval_rank(n);
  if (rank > 0) {
    result.low = ratios[rank - 1];
    result.high = ratios[n - rank];
  }
  return result;
}

}  // namespace gpufl::bench
