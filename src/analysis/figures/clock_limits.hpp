// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The bits of the metric clock_limits_bits, for GPUs of all vendors (docs/reference/metrics.md).
// Constant data.
namespace gpufl::analysis {

struct ClockLimit {
  uint64_t bit;
  std::string_view name;
  bool is_slowdown;  // something holds the clocks back; false: idle, or as configured
};

// The index is the bit's number.
inline constexpr std::array kClockLimits = {
    ClockLimit{0x001, "gpu_idle", false},       ClockLimit{0x002, "applications_clocks", false},
    ClockLimit{0x004, "sw_power_cap", true},    ClockLimit{0x008, "hw_slowdown", true},
    ClockLimit{0x010, "sync_boost", false},     ClockLimit{0x020, "sw_thermal", true},
    ClockLimit{0x040, "hw_thermal", true},      ClockLimit{0x080, "hw_power_brake", true},
    ClockLimit{0x100, "display_clocks", false},
};

}  // namespace gpufl::analysis
