// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

// What a share of a whole is, from parts of the whole that were looked at: phases of a session,
// windows of sampling. These are clusters, what happens within one is alike, so that the error is
// taken from how much they differ from each other. docs/reference/figures.md has the formulas.
// Plain data and pure functions.
namespace gpufl::analysis {

// With the 95% interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
  uint64_t clusters = 0;
  // The same of a whole that is `factor` times as large as that of shares.
  Estimate times(double factor) const {
    return {value * factor, low * factor, high * factor, clusters};
  }
};

inline constexpr uint64_t kMinClusters = 3;

// Sums over clusters, so that many need no more memory than one.
struct WholeSums {
  uint64_t clusters = 0;
  double sum = 0, squares = 0;
  // A cluster that has nothing of the whole says nothing of shares.
  void add(double whole) {
    if (whole <= 0) return;
    ++clusters;
    sum += whole;
    squares += whole * whole;
  }
};
struct PartSums {
  double sum = 0, squares = 0, products = 0;
  void add(double part, double whole) {
    sum += part;
    squares += part * part;
    products += part * whole;
  }
};

// Shares of one whole.
class RatioEstimator {
 public:
  // `seen`: which share of everything the clusters are together, 0 to 1. It is known for certain.
  explicit RatioEstimator(const WholeSums& whole, double seen = 0);
  // None with fewer than kMinClusters.
  std::optional<Estimate> of(const PartSums& part) const;

 private:
  WholeSums whole_;
  double reach_ = 0;  // by which the root of the squared residuals is multiplied
};

// Of samples that have nothing to do with each other (Wilson's interval); `total` above 0.
Estimate binomial_estimate(uint64_t part, uint64_t total);

}  // namespace gpufl::analysis
