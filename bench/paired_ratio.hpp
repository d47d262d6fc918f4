// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

// How benchmarks compare two ways of doing the same work: alternately, in one process, so that a
// machine that drifts drifts under both.
namespace gpufl::bench {

struct Ratio {
  double median = 0;
  double low = 0;  // 95% interval of the median; of the order statistics, so of no distribution
  double high = 0;
  int pairs = 0;
};

// Of at least six ratios; fewer have no 95% interval, and give one from 0 to infinity.
Ratio summarize_ratios(std::vector<double> ratios);

inline constexpr int kMinPairs = 20;

// `pairs` times subject() / baseline(), each of which does its work once and returns what it cost.
// Who goes first changes with every pair.
template <typename Baseline, typename Subject>
Ratio paired_ratio(int pairs, Baseline&& baseline, Subject&& subject) {
  std::vector<double> ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    double base_cost = 0;
    double subject_cost = 0;
    if (pair % 2 == 0) {
      base_cost = baseline();
      subject_cost = subject();
    } else {
      subject_cost = subject();
      base_cost = baseline();
    }
    ratios.push_back(subject_cost / base_cost);
  }
  return summarize_ratios(std::move(ratios));
}

}  // namespace gpufl::bench
