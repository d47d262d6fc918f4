// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

// What repeated measurements say. Plain values; who measures is cost.cuh.
namespace ws {

// The middle of the measurements, and an interval that holds the true one 19 times of 20.
struct Measured {
  double median = 0;
  double low = 0;
  double high = 0;
};

// Order statistics, so that a few wild measurements move nothing. Below 6 of them the interval is
// all that was seen. Nothing measured is zeros.
inline Measured summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  // The binomial distribution's ranks, by the normal one with its correction for whole numbers.
  const auto count = static_cast<double>(n);
  const auto rank = static_cast<size_t>(std::max(0.0, (count - 1 - 1.96 * std::sqrt(count)) / 2));
  return {median, values[rank], values[n - 1 - rank]};
}

}  // namespace ws
