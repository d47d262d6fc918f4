// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

// Random numbers that are the same on every machine and with every standard library. One thread.
namespace gpufl::bench {

class RandomNoise {
 public:
  explicit RandomNoise(uint64_t seed) : state_(seed) {}

  // splitmix64
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  // Student's t of four degrees, as wide as a normal one: one value in 200 is beyond three
  // deviations.
  double heavy_tailed() {
    double squares = 0;
    for (int i = 0; i < 4; ++i) {
      const double value = normal();
      squares += value * value;
    }
    return normal() / std::sqrt(squares / 4) / std::numbers::sqrt2;
  }

 private:
  uint64_t state_;
};

}  // namespace gpufl::bench
