// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

// Numbers as logs hold them: digits * 10^exponent, both whole. Any thread; allocates nothing.
namespace gpufl::base {

struct Decimal {
  int64_t digits = 0;
  int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};

// The fewest digits that give the value back. None for what is not a finite number.
std::optional<Decimal> to_decimal(double value);
std::optional<Decimal> to_decimal(float value);
// Exact up to the largest int64; beyond that the last digit is rounded away.
Decimal to_decimal(uint64_t value);

}  // namespace gpufl::base
