// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/ratio_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/math/student_t.hpp"

namespace gpufl::analysis {
namespace {

constexpr double kUpperTail = 0.025;

}  // namespace

RatioEstimator::RatioEstimator(const WholeSums& whole, double seen) : whole_(whole) {
  if (whole.clusters < kMinClusters) return;
  const auto clusters = static_cast<double>(whole.clusters);
  reach_ = student_t_quantile(kUpperTail, clusters - 1) *
           std::sqrt(clusters / (clusters - 1) * std::clamp(1 - seen, 0.0, 1.0)) / whole.sum;
}

std::optional<Estimate> RatioEstimator::of(const PartSums& part) const {
  if (whole_.clusters < kMinClusters) return std::nullopt;
  const double ratio = part.sum / whole_.sum;
  // Of the residuals: part - ratio * whole, of each cluster.
  const double squares = part.squares - 2 * ratio * part.products + ratio * ratio * whole_.squares;
  const double reach = reach_ * std::sqrt(std::max(squares, 0.0));
  return Estimate{ratio, std::max(ratio - reach, 0.0), ratio + reach, whole_.clusters};
}

Estimate binomial_estimate(uint64_t part, uint64_t total) {
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(total);
  const double share = static_cast<double>(part) / n;
  const double scale = 1 + kZ * kZ / n;
  const double middle = (share + kZ * kZ / (2 * n)) / scale;
  const double reach = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n)) / scale;
  return {share, std::clamp(middle - reach, 0.0, share), std::clamp(middle + reach, share, 1.0), 1};
}

}  // namespace gpufl::analysis
