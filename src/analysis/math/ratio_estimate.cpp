// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/ratio_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/math/student_t.hpp"

namespace gpufl::analysis {
namespace {

constexpr double kUpperTail = 0.025;
// Of the time outside of clusters, below which it changes nothing that is worth a mention.
constexpr double kHardlyAny = 0.05;
constexpr double kMostDegrees = 10'000;  // with more, nothing changes

// Adds what one cluster has: its sums of two things, and the sum of their products by piece.
void add_cluster(Products& products, const Cluster& cluster, size_t rule, double pieces,
                 double sum_a, double sum_b, double by_piece) {
  // How much pieces differ is not known of one.
  const bool is_known = cluster.is_known_whole || pieces > 1;
  const double seen = is_known ? std::clamp(cluster.seen[rule], 0.0, 1.0) : 0;
  products.between += (1 - seen) * sum_a * sum_b;
  if (cluster.is_known_whole || pieces <= 1) return;
  products.within += seen * pieces / (pieces - 1) * (by_piece - sum_a * sum_b / pieces);
}

// Of the residuals: part - ratio * whole.
double squared(double ratio, double part_part, double part_whole, double whole_whole) {
  return std::max(0.0, part_part - 2 * ratio * part_whole + ratio * ratio * whole_whole);
}

}  // namespace

void WholeSums::add(const Cluster& cluster, std::span<const Piece> pieces) {
  in_last_ = static_cast<uint64_t>(std::count_if(
      pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.whole > 0; }));
  if (in_last_ == 0) return;
  ++clusters_;
  pieces_ += in_last_;
  for (size_t rule = 0; rule < kPauseRules; ++rule) {
    OfRule& sums = rules_[rule];
    double sum = 0, squares = 0;
    for (const Piece& piece : pieces) {
      const double whole = piece.weight[rule] * piece.whole;
      sum += whole;
      squares += whole * whole;
    }
    sums.sum += sum;
    sums.in_last = sum;
    sums.unseen += (1 - std::clamp(cluster.seen[rule], 0.0, 1.0)) * sum;
    add_cluster(sums.squares, cluster, rule, static_cast<double>(in_last_), sum, sum, squares);
  }
}

void PartSums::add(const WholeSums& whole, const Cluster& cluster, std::span<const Piece> pieces) {
  if (whole.in_last_ == 0) return;
  const auto count = static_cast<double>(whole.in_last_);
  for (size_t rule = 0; rule < kPauseRules; ++rule) {
    OfRule& sums = rules_[rule];
    double sum = 0, squares = 0, products = 0;
    for (const Piece& piece : pieces) {
      const double part = piece.weight[rule] * piece.part;
      sum += part;
      squares += part * part;
      products += part * piece.weight[rule] * piece.whole;
    }
    sums.sum += sum;
    add_cluster(sums.squares, cluster, rule, count, sum, sum, squares);
    add_cluster(sums.products, cluster, rule, count, sum, whole.rules_[rule].in_last, products);
  }
}

bool RatioEstimator::is_known() const {
  const WholeSums::OfRule& both = whole_.rules_[static_cast<size_t>(PauseLike::Both)];
  if (both.sum <= 0) return false;
  if (whole_.clusters_ >= kMinClusters) return true;
  return whole_.pieces_ >= kMinClusters && both.unseen <= kHardlyAny * both.sum;
}

std::optional<Estimate> RatioEstimator::of(const PartSums& part) const {
  if (!is_known()) return std::nullopt;
  Estimate estimate;
  for (size_t rule = 0; rule < kPauseRules; ++rule) {
    const double whole = whole_.rules_[rule].sum;
    const double ratio = whole > 0 ? part.rules_[rule].sum / whole : 0;
    const double reach_of_rule = whole > 0 ? reach(rule, part) : 0;
    if (static_cast<PauseLike>(rule) == PauseLike::Both) estimate.value = ratio;
    const double low = std::max(0.0, ratio - reach_of_rule), high = ratio + reach_of_rule;
    estimate.low = rule == 0 ? low : std::min(estimate.low, low);
    estimate.high = rule == 0 ? high : std::max(estimate.high, high);
  }
  estimate.pieces = whole_.pieces_;
  return estimate;
}

double RatioEstimator::reach(size_t rule, const PartSums& of_part) const {
  const WholeSums::OfRule& whole = whole_.rules_[rule];
  const PartSums::OfRule& part = of_part.rules_[rule];
  const double ratio = part.sum / whole.sum;
  const auto clusters = static_cast<double>(whole_.clusters_);
  double between =
      squared(ratio, part.squares.between, part.products.between, whole.squares.between);
  between *= whole_.clusters_ >= kMinClusters ? clusters / (clusters - 1) : 0;
  const double within =
      squared(ratio, part.squares.within, part.products.within, whole.squares.within);
  const double variance = between + within;
  if (variance <= 0) return 0;
  // Satterthwaite's: of clusters where these differ more, of pieces where those do.
  const double free_pieces = std::max(1.0, static_cast<double>(whole_.pieces_) - clusters);
  const double degrees =
      variance * variance /
      (between * between / std::max(1.0, clusters - 1) + within * within / free_pieces);
  return quantile(degrees) * std::sqrt(variance) / whole.sum;
}

double RatioEstimator::quantile(double degrees) const {
  const double whole = std::floor(std::clamp(degrees + 1e-6, 1.0, kMostDegrees));
  const auto [found, is_new] = quantiles_.try_emplace(static_cast<int64_t>(whole), 0);
  if (is_new) found->second = student_t_quantile(kUpperTail, whole);
  return found->second;
}

Estimate binomial_estimate(double share, double total) {
  constexpr double kZ = 1.959964;
  const double scale = 1 + kZ * kZ / total;
  const double middle = (share + kZ * kZ / (2 * total)) / scale;
  const double reach =
      kZ * std::sqrt(share * (1 - share) / total + kZ * kZ / (4 * total * total)) / scale;
  return {share, std::clamp(middle - reach, 0.0, share), std::clamp(middle + reach, share, 1.0), 1};
}

}  // namespace gpufl::analysis
