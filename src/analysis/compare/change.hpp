// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

// How much larger the values of one group of repeats are than those of another, and how sure that
// is. Each value is one repeat's, so that what changes from run to run is in them. Pure functions;
// any thread. docs/design/noise.md says why these statistics.
namespace gpufl::analysis::compare {

// Fewer repeats on a side have no interval.
inline constexpr size_t kMinRepeats = 5;

// Relative: 0.05 is 5% larger. Without an interval, low and high are infinite.
struct Change {
  double estimate = 0;
  double low = 0, high = 0;

  bool has_interval() const;
  bool is_increase() const { return low > 0; }
  bool is_decrease() const { return high < 0; }
  // The smallest difference that the repeats can tell from noise, about.
  double noise() const { return (high - low) / 2; }
  bool operator==(const Change&) const = default;
};

// How often the true change may be below an interval, and above it.
struct Errors {
  double below = 0, above = 0;
};

// `b` against `a`; all values are above zero, and neither is empty. `rounding`: the values' own
// step; the interval reaches at least so far, however little they vary.
Change change_between(std::span<const double> a, std::span<const double> b, Errors errors,
                      double rounding = 0);

// About how many repeats a side would make the interval `width` times as wide as `repeats` do.
size_t repeats_for(size_t repeats, double width);

// The mean of what is left without the outermost fifth at each end. Of fewer than kMinRepeats: of
// all.
double trimmed_mean(std::span<const double> values);

}  // namespace gpufl::analysis::compare
