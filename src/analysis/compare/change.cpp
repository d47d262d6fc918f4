// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "analysis/math/student_t.hpp"

namespace gpufl::analysis::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t trimmed_each_end(size_t count) { return count < kMinRepeats ? 0 : count / 5; }

// The middle of a sample and how far off it may be, after Yuen: the mean of what trimming leaves,
// and its variance from the sample in which the trimmed values are drawn in to the outermost kept.
struct Middle {
  double mean = 0;
  double variance = 0;  // of the mean
  double degrees = 0;
};

Middle middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t trimmed = trimmed_each_end(values.size());
  const size_t kept = values.size() - 2 * trimmed;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(trimmed);
  const auto last = first + static_cast<std::ptrdiff_t>(kept);
  Middle middle;
  middle.mean = std::accumulate(first, last, 0.0) / static_cast<double>(kept);
  if (kept < 2) return middle;
  std::fill(values.begin(), first, *first);
  std::fill(last, values.end(), *(last - 1));
  const double drawn_mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - drawn_mean) * (value - drawn_mean);
  middle.degrees = static_cast<double>(kept - 1);
  middle.variance = squares / (static_cast<double>(kept) * middle.degrees);
  return middle;
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double v) { return std::log(v); });
  return logs;
}

}  // namespace

bool Change::has_interval() const { return std::isfinite(low) && std::isfinite(high); }

double trimmed_mean(std::span<const double> values) {
  return middle_of({values.begin(), values.end()}).mean;
}

Change change_between(std::span<const double> a, std::span<const double> b, Errors errors,
                      double rounding) {
  const Middle from = middle_of(logarithms(a));
  const Middle to = middle_of(logarithms(b));
  const double difference = to.mean - from.mean;
  Change change{std::expm1(difference), -kInfinity, kInfinity};
  if (a.size() < kMinRepeats || b.size() < kMinRepeats) return change;

  const double variance = from.variance + to.variance;
  const double step = rounding * std::exp(-std::min(from.mean, to.mean));
  // Welch and Satterthwaite: the groups need not be equally noisy.
  const double degrees =
      variance * variance /
      (from.variance * from.variance / from.degrees + to.variance * to.variance / to.degrees);
  const auto reach = [&](double error) {
    if (variance == 0) return step;
    return std::max(step, student_t_quantile(error, degrees) * std::sqrt(variance));
  };
  change.low = std::expm1(difference - reach(errors.below));
  change.high = std::expm1(difference + reach(errors.above));
  return change;
}

size_t repeats_for(size_t repeats, double width) {
  const double wanted = static_cast<double>(repeats) / (width * width);
  constexpr double kMost = 10'000;
  return static_cast<size_t>(std::ceil(std::min(wanted, kMost)));
}

}  // namespace gpufl::analysis::compare
