// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What the users of a vendor's GPUs call what GPUs of all vendors have. Constants; any thread.
namespace gpufl::format {

struct VendorWords {
  std::string_view compute_units = "compute units", compute_unit = "compute unit", links = "links",
                   runtime = "runtime";
};

// By the `vendor` of a `device` line; where it says none, it is of the time when all were NVIDIA's.
// Synthetic GPUs are like those.
constexpr bool is_like_nvidia(std::string_view vendor) {
  return vendor.empty() || vendor == "nvidia" || vendor == "NVIDIA" || vendor == "synthetic";
}

constexpr VendorWords words_of_vendor(std::string_view vendor) {
  return is_like_nvidia(vendor) ? VendorWords{"SMs", "SM", "NVLinks", "CUDA"} : VendorWords{};
}

}  // namespace gpufl::format
