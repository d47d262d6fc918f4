// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/figures/hardware_counters.hpp"
#include "analysis/math/figure.hpp"
#include "base/json.hpp"

// How near ranges and kernels come to what their GPU can do at the most: arithmetic, and moving
// bytes to and from its memory. From counters alone (`range_metric`) and from facts of `device`
// lines; whatever either lacks is unknown. Operations of tensor cores are not among those counted,
// because an instruction of theirs does not say how many it is. Pure functions.
namespace gpufl::analysis {

enum class Precision : uint8_t { Single, Double };
std::string_view to_string(Precision precision);  // "fp32", "fp64"

// The most that a GPU can do, at its highest clocks.
struct DeviceRoof {
  int64_t device = -1;
  Figure<double> bytes_per_s;
  Figure<double> fp32_per_s, fp64_per_s;  // operations; a fused multiply-add is two

  const Figure<double>& operations_per_s(Precision precision) const {
    return precision == Precision::Single ? fp32_per_s : fp64_per_s;
  }
};
DeviceRoof roof_of(const base::Json& device);  // of its `device` line

// One range in one precision. Counts are means of the times that the range was counted.
struct RooflinePoint {
  std::string label, name;  // as CountedRange
  int64_t device = -1;
  Precision precision = Precision::Single;
  double operations = 0, bytes = 0, time_ns = 0;
  std::optional<bool> uses_tensor_cores;           // none: that was not counted
  std::optional<double> of_memory, of_arithmetic;  // shares of the roofs; none: no such roof

  double intensity() const { return operations / bytes; }  // operations per byte
  double operations_per_s() const { return operations / time_ns * 1e9; }
  double bytes_per_s() const { return bytes / time_ns * 1e9; }
};

struct Roofline {
  std::vector<DeviceRoof> roofs;  // of the GPUs of `device` lines that have points
  std::vector<RooflinePoint> points;
  std::vector<std::pair<std::string, std::string>> left_out;  // label of a range, and why
};
// Unknown where no range has what it takes. There is at least one range.
Figure<Roofline> roofline(std::span<const CountedRange> ranges,
                          std::span<const base::Json> devices);

}  // namespace gpufl::analysis
