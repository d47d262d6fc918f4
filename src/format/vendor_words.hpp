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
constexpr VendorWords words_of_vendor(std::string_view vendor) {
  const bool is_nvidia =
      vendor.empty() || vendor == "nvidia" || vendor == "NVIDIA" || vendor == "synthetic";
  return is_nvidia ? VendorWords{"SMs", "SM", "NVLinks", "CUDA"} : VendorWords{};
}

}  // namespace gpufl::format
