// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The bits of the metric throttle_reasons_bits (docs/reference/metrics.md). Constant data.
namespace gpufl::analysis {

struct ThrottleReason {
  uint64_t bit;
  std::string_view name;
  bool is_slowdown;  // something holds the clocks back; false: idle, or as configured
};

// Those of nvmlClocksEventReasons; the index is the bit's number.
inline constexpr std::array kThrottleReasons = {
    ThrottleReason{0x001, "gpu_idle", false},
    ThrottleReason{0x002, "applications_clocks", false},
    ThrottleReason{0x004, "sw_power_cap", true},
    ThrottleReason{0x008, "hw_slowdown", true},
    ThrottleReason{0x010, "sync_boost", false},
    ThrottleReason{0x020, "sw_thermal", true},
    ThrottleReason{0x040, "hw_thermal", true},
    ThrottleReason{0x080, "hw_power_brake", true},
    ThrottleReason{0x100, "display_clocks", false},
};

}  // namespace gpufl::analysis
