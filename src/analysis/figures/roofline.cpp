// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/roofline.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/code/multiprocessor.hpp"

namespace gpufl::analysis {
namespace {

constexpr std::string_view kTime = "gpu__time_duration.sum";  // nanoseconds
constexpr std::string_view kBytes = "dram__bytes.sum";
constexpr std::string_view kRead = "dram__bytes_read.sum", kWritten = "dram__bytes_write.sum";

// Threads that executed an instruction that adds, multiplies, or does both.
struct Operations {
  Precision precision;
  std::string_view add, multiply, fused;
};
constexpr std::array kOperations = {
    Operations{Precision::Single, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
               "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
               "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"},
    Operations{Precision::Double, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
               "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
               "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"},
};

Unknown lacks(std::string_view what) {
  return {fmt::format("the log has no {} of the GPU", what), ""};
}

Figure<double> arithmetic_roof(const base::Json& device, Precision precision) {
  const auto sm = multiprocessor_of(device);
  const auto per_clock = !sm                              ? std::nullopt
                         : precision == Precision::Single ? sm->fp32_per_clock
                                                          : sm->fp64_per_clock;
  if (!per_clock) {
    return Unknown{fmt::format("how many {} operations a multiprocessor of this architecture does "
                               "in a clock is not known here",
                               to_string(precision)),
                   ""};
  }
  const int64_t units = device["compute_units"].as_integer(0);
  const int64_t clock_mhz = device["max_compute_clock_mhz"].as_integer(0);
  if (units <= 0) return lacks("number of multiprocessors");
  if (clock_mhz <= 0) return lacks("highest clock");
  return static_cast<double>(units) * static_cast<double>(clock_mhz) * 1e6 *
         static_cast<double>(*per_clock);
}

Figure<double> memory_roof(const base::Json& device) {
  const int64_t bits = device["memory_bus_bits"].as_integer(0);
  const int64_t clock_mhz = device["max_memory_clock_mhz"].as_integer(0);
  if (bits <= 0) return lacks("width of the memory bus");
  if (clock_mhz <= 0) return lacks("highest memory clock");
  // Memory of GPUs moves data twice in a clock.
  return 2 * static_cast<double>(clock_mhz) * 1e6 * static_cast<double>(bits) / 8;
}

Figure<double> bytes_of(const CountedRange& range) {
  if (const auto all = range.mean(kBytes)) return *all;
  const auto read = range.mean(kRead), written = range.mean(kWritten);
  if (read && written) return *read + *written;
  return Unknown{fmt::format("{} was not counted", kBytes), ""};
}

Figure<double> time_of(const CountedRange& range) {
  if (const auto time_ns = range.mean(kTime)) return *time_ns;
  return Unknown{fmt::format("{} was not counted", kTime), ""};
}

// Unknown where one of the three was not counted: then the sum of the others is too small.
Figure<double> operations_of(const CountedRange& range, const Operations& kind) {
  double operations = 0;
  for (const auto& [metric, weight] :
       {std::pair{kind.add, 1.0}, std::pair{kind.multiply, 1.0}, std::pair{kind.fused, 2.0}}) {
    const auto threads = range.mean(metric);
    if (!threads) return Unknown{fmt::format("{} was not counted", metric), ""};
    operations += *threads * weight;
  }
  return operations;
}

std::optional<bool> uses_tensor_cores(const CountedRange& range) {
  std::optional<bool> uses;
  for (const RangeCounter& counter : range.counters) {
    if (counter.metric.find("tensor") == std::string::npos) continue;
    uses = uses.value_or(false) || counter.values.max > 0;
  }
  return uses;
}

std::optional<double> share(double rate, const Figure<double>& roof) {
  if (!roof) return std::nullopt;
  return rate / *roof;
}

// Why a range has no point; empty: it has.
std::string add_points(const CountedRange& range, const DeviceRoof& roof,
                       std::vector<RooflinePoint>& points) {
  const Figure<double> bytes = bytes_of(range), time_ns = time_of(range);
  if (!time_ns) return time_ns.unknown().reason;
  if (!bytes) return bytes.unknown().reason;
  if (*time_ns <= 0) return "it took no time on the GPU";
  if (*bytes <= 0) return "it moved nothing to or from the GPU's memory";
  std::string reason;
  bool has_point = false;
  for (const Operations& kind : kOperations) {
    const Figure<double> operations = operations_of(range, kind);
    if (!operations && reason.empty()) reason = operations.unknown().reason;
    if (!operations || *operations <= 0) continue;
    RooflinePoint point;
    point.label = range.label;
    point.name = range.name;
    point.device = range.device;
    point.precision = kind.precision;
    point.operations = *operations;
    point.bytes = *bytes;
    point.time_ns = *time_ns;
    point.uses_tensor_cores = uses_tensor_cores(range);
    point.of_memory = share(point.bytes_per_s(), roof.bytes_per_s);
    point.of_arithmetic = share(point.operations_per_s(), roof.operations_per_s(kind.precision));
    points.push_back(std::move(point));
    has_point = true;
  }
  if (has_point) return "";
  return reason.empty() ? "it did no operation of fp32 or fp64" : reason;
}

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::Single ? "fp32" : "fp64";
}

DeviceRoof roof_of(const base::Json& device) {
  DeviceRoof roof;
  roof.device = device["device"].as_integer(-1);
  roof.bytes_per_s = memory_roof(device);
  roof.fp32_per_s = arithmetic_roof(device, Precision::Single);
  roof.fp64_per_s = arithmetic_roof(device, Precision::Double);
  return roof;
}

Figure<Roofline> roofline(std::span<const CountedRange> ranges,
                          std::span<const base::Json> devices) {
  Roofline found;
  for (const CountedRange& range : ranges) {
    const auto line = std::find_if(devices.begin(), devices.end(), [&](const base::Json& device) {
      return device["device"].as_integer(-1) == range.device;
    });
    const DeviceRoof roof = roof_of(line == devices.end() ? base::Json::object() : *line);
    const std::string why_not = add_points(range, roof, found.points);
    if (!why_not.empty()) {
      found.left_out.emplace_back(range.label, why_not);
      continue;
    }
    const bool is_known = std::any_of(found.roofs.begin(), found.roofs.end(),
                                      [&](const auto& of) { return of.device == roof.device; });
    if (line != devices.end() && !is_known) found.roofs.push_back(roof);
  }
  if (found.points.empty()) {
    return Unknown{
        fmt::format("{}: {}", found.left_out.front().first, found.left_out.front().second),
        "count operations, bytes and time of a range"};
  }
  return found;
}

}  // namespace gpufl::analysis
