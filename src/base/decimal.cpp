// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace gpufl::base {
namespace {

template <typename Float>
std::optional<Decimal> shortest(Float value) {
  if (!std::isfinite(value)) return {};
  char text[64];
  const auto written =
      std::to_chars(text, text + sizeof(text) - 1, value, std::chars_format::scientific);
  *written.ptr = '\0';
  // "-d.ddde+XX": at most 17 digits, so they fit.
  Decimal decimal;
  bool fraction = false;
  const char* p = text;
  for (; *p != 'e'; ++p) {
    if (*p == '.') fraction = true;
    if (*p < '0' || *p > '9') continue;
    decimal.digits = decimal.digits * 10 + (*p - '0');
    if (fraction) --decimal.exponent;
  }
  if (text[0] == '-') decimal.digits = -decimal.digits;
  if (decimal.digits == 0) return Decimal{};
  decimal.exponent += std::strtol(p + 1, nullptr, 10);
  return decimal;
}

}  // namespace

std::optional<Decimal> to_decimal(double value) { return shortest(value); }

std::optional<Decimal> to_decimal(float value) { return shortest(value); }

Decimal to_decimal(uint64_t value) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value <= kMax) return {static_cast<int64_t>(value), 0};
  return {static_cast<int64_t>(value / 10 + (value % 10 >= 5 ? 1 : 0)), 1};
}

}  // namespace gpufl::base
