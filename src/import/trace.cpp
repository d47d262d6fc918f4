// SPDX-License-Identifier: Apache-2.0
#include "import/trace.hpp"

namespace gpufl::importing {

size_t LaunchHash::operator()(const Launch& launch) const {
  uint64_t hash = launch.name;
  const auto mix = [&](int64_t value) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    hash = (hash ^ static_cast<uint64_t>(value)) * kOdd;
    hash ^= hash >> 29;
  };
  for (const int64_t value : launch.grid) mix(value);
  for (const int64_t value : launch.block) mix(value);
  mix(launch.registers);
  mix(launch.shared_dynamic);
  mix(launch.shared_total);
  return hash;
}

}  // namespace gpufl::importing
