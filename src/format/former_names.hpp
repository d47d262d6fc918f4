// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/json.hpp"

// Names that logs used while NVIDIA's GPUs were the only ones, and what they are called for all
// vendors (SPEC.md, "Former names"). What a name stands for never changed. Constants; any thread.
namespace gpufl::format {

struct FormerName {
  std::string_view former, name;
};

inline constexpr std::array kFormerMetrics = {
    FormerName{"sm_clock_mhz", "compute_clock_mhz"},
    FormerName{"throttle_reasons_bits", "clock_limits_bits"},
    FormerName{"nvlink_active", "link_active"},
    FormerName{"nvlink_rx_bytes", "link_rx_bytes"},
    FormerName{"nvlink_tx_bytes", "link_tx_bytes"},
    FormerName{"nvlink_replay_count", "link_replay_count"},
    FormerName{"nvlink_recovery_count", "link_recovery_count"},
    FormerName{"nvlink_crc_error_count", "link_crc_error_count"},
};

inline constexpr std::array kFormerDeviceFacts = {
    FormerName{"sm_count", "compute_units"},
    FormerName{"max_sm_clock_mhz", "max_compute_clock_mhz"},
    FormerName{"nvlink_count", "link_count"},
};

// What limits occupancy.
inline constexpr std::array kFormerOccupancyBounds = {
    FormerName{"warps", "waves"},
    FormerName{"registers", "registers"},
    FormerName{"shared", "shared_memory"},
    FormerName{"blocks", "groups"},
};

// What all vendors call it; a name that never was another is itself.
constexpr std::string_view name_for_all(std::span<const FormerName> names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &FormerName::former);
  return found == names.end() ? name : found->name;
}

// The other way round.
constexpr std::string_view former_name(std::span<const FormerName> names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &FormerName::name);
  return found == names.end() ? name : found->former;
}

// A `device` line that has every fact under the name that all vendors share, too.
base::Json with_names_for_all(const base::Json& device);

}  // namespace gpufl::format
