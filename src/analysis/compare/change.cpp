// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace gpufl::analysis::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr int kMaxTerms = 300;
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < 1e-14) break;
  }
  return fraction;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t_tail(double t, double degrees) {
  return 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

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

double student_t_quantile(double upper_tail, double degrees) {
  double low = 0;
  double high = 1;
  while (student_t_tail(high, degrees) > upper_tail && high < 1e12) high *= 2;
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (student_t_tail(middle, degrees) > upper_tail ? low : high) = middle;
  }
  return high;
}

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
