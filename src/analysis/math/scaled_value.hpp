// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

// Values of hardware counters, which the log has as whole numbers times powers of ten. Pure.
namespace gpufl::analysis {

// `value` times ten to the power of `exponent`; infinite where that fits no double.
inline double scaled_value(int64_t value, int64_t exponent) {
  const auto number = static_cast<double>(value);
  // Dividing by a whole power is exact to the last digit; multiplying by a fraction is not.
  return exponent < 0 ? number / std::pow(10.0, -static_cast<double>(exponent))
                      : number * std::pow(10.0, static_cast<double>(exponent));
}

}  // namespace gpufl::analysis
