// SPDX-License-Identifier: Apache-2.0
#include "format/former_names.hpp"

#include <string>

#include "format/vendor_words.hpp"

namespace gpufl::format {

base::Json with_names_for_all(const base::Json& device) {
  base::Json line = device;
  for (const auto& [former, name] : kFormerDeviceFacts) {
    const base::Json* value = device.find(former);
    if (value != nullptr && device.find(name) == nullptr) line.set(name, *value);
  }
  const base::Json &major = device["compute_major"], &minor = device["compute_minor"];
  // Of other vendors' GPUs, which imports know, the two numbers are not all of its name.
  if (is_like_nvidia(device["vendor"].as_string()) && major.is_integer() && minor.is_integer() &&
      device.find("architecture") == nullptr) {
    line.set("architecture",
             "sm_" + std::to_string(major.as_integer()) + std::to_string(minor.as_integer()));
  }
  return line;
}

}  // namespace gpufl::format
