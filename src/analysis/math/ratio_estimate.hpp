// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "analysis/math/pause_weights.hpp"

// What a share of a whole is, from pieces of the whole that were looked at: phases of a session, or
// windows of sampling in them. Phases are clusters: what happens within one is alike, so that the
// error is taken from how much they differ from each other. docs/reference/figures.md has the
// formulas. Plain data and pure functions.
namespace gpufl::analysis {

// With the 95% interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
  uint64_t pieces = 0;  // that it is made of
  // The same of a whole that is `factor` times as large as that of shares.
  Estimate times(double factor) const {
    return {value * factor, low * factor, high * factor, pieces};
  }
};

inline constexpr uint64_t kMinClusters = 3;

// What one piece has, and how much it counts: the time that it stands for, divided by its own.
struct Piece {
  double part = 0, whole = 0;
  ByPauseRule weight = {1, 1, 1};
};

// Pieces that lie close together.
struct Cluster {
  // How much of the time that it stands for lies within it, 0 to 1.
  ByPauseRule seen = {0, 0, 0};
  // Its pieces are all of it, and not samples that may differ by chance.
  bool is_known_whole = true;
};

// Products of two things, weighted and summed up as the variance has them: of clusters, and of
// pieces within them.
struct Products {
  double between = 0, within = 0;
};

// Sums over clusters, so that many need no more memory than one.
class WholeSums {
 public:
  // A piece that has nothing of the whole says nothing of shares.
  void add(const Cluster& cluster, std::span<const Piece> pieces);
  uint64_t pieces() const { return pieces_; }
  double sum() const { return rules_[static_cast<size_t>(PauseLike::Both)].sum; }

 private:
  friend class PartSums;
  friend class RatioEstimator;
  struct OfRule {
    double sum = 0, unseen = 0;
    Products squares;
    double in_last = 0;  // cluster
  };
  std::array<OfRule, kPauseRules> rules_;
  uint64_t clusters_ = 0, pieces_ = 0, in_last_ = 0;
};
class PartSums {
 public:
  // Of the cluster that was added to `whole` last: all pieces that have something of the part.
  void add(const WholeSums& whole, const Cluster& cluster, std::span<const Piece> pieces);
  double sum() const { return rules_[static_cast<size_t>(PauseLike::Both)].sum; }

 private:
  friend class RatioEstimator;
  struct OfRule {
    double sum = 0;
    Products squares, products;  // with the whole
  };
  std::array<OfRule, kPauseRules> rules_;
};

// Shares of one whole. The value takes pauses to have been like both of their neighbours; the
// interval reaches to what it would be if all had been like the one, or like the other.
class RatioEstimator {
 public:
  explicit RatioEstimator(const WholeSums& whole) : whole_(whole) {}
  // With fewer than kMinClusters clusters nobody knows how much pauses may differ, so there is none
  // unless hardly any time is outside of the clusters; then with fewer than as many pieces.
  bool is_known() const;
  std::optional<Estimate> of(const PartSums& part) const;

 private:
  double reach(size_t rule, const PartSums& part) const;
  double quantile(double degrees) const;

  const WholeSums whole_;
  mutable std::map<int64_t, double> quantiles_;  // by whole degrees of freedom
};

// Of `total` samples that have nothing to do with each other (Wilson's interval); above 0.
Estimate binomial_estimate(double share, double total);

}  // namespace gpufl::analysis
