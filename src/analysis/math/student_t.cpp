// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/student_t.hpp"

#include <cmath>
#include <initializer_list>

namespace gpufl::analysis {
namespace {

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

}  // namespace

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

}  // namespace gpufl::analysis
