// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "backend/backend.hpp"

namespace gpufl::backend {

base::Json DeviceFacts::to_json() const {
  base::Json json = base::Json::object();
  json.set("device", device);
  if (parent) json.set("parent", *parent);
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"vendor", vendor},
      {"name", name},
      {"uuid", uuid},
      {"pci_bus", pci_bus},
      {"driver", driver},
      {"runtime", runtime},
      {"architecture", architecture},
  };
  for (const auto& [key, text] : texts) {
    if (!text.empty()) json.set(key, text);
  }
  const std::pair<std::string_view, const std::optional<int64_t>&> numbers[] = {
      {"compute_units", compute_units},
      {"memory_bytes", memory_bytes},
      {"power_limit_mw", power_limit_mw},
      {"max_compute_clock_mhz", max_compute_clock_mhz},
      {"max_memory_clock_mhz", max_memory_clock_mhz},
      {"memory_bus_bits", memory_bus_bits},
      {"pcie_generation_max", pcie_generation_max},
      {"pcie_width_max", pcie_width_max},
      {"link_count", link_count},
      {"slowdown_temperature_c", slowdown_temperature_c},
      {"shutdown_temperature_c", shutdown_temperature_c},
  };
  for (const auto& [key, number] : numbers) {
    if (number) json.set(key, *number);
  }
  for (const auto& [key, number] : own) json.set(key, number);
  return json;
}

int64_t number_after(const std::vector<DeviceFacts>& devices) {
  int64_t after = 0;
  for (const DeviceFacts& facts : devices) after = std::max(after, facts.device + 1);
  return after;
}

}  // namespace gpufl::backend
