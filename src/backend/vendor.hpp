// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/diagnosis.hpp"
#include "backend/metric_catalog.hpp"
#include "backend/vendor_entry.hpp"

// What is known of a vendor before, and without, its backend: the words that users write, and what
// the rest of the program passes on to it. Constant data; registry.cpp lists all vendors, whether
// or not their machines, libraries or headers are here.
namespace gpufl::backend {

// What opens and closes the part of a program that is recorded.
enum class CaptureRangeKind : uint8_t {
  Profiler,  // calls of the vendor's profiler start and stop
  Marker,    // a range of the program's annotations, by its name
};
// How a user writes one: "cudaProfilerApi"; "nvtx:" with a name behind it.
struct CaptureRangeWord {
  std::string_view word;
  CaptureRangeKind kind;
};

struct Vendor {
  std::string_view name;  // its backend's
  bool is_automatic;      // "auto" looks for it
  // Null only where this build has no such backend; `why` is its health, or what is lacking.
  std::unique_ptr<Backend> (*make)(Availability& why);
  // What of the vendor's is on the machine below `root`; null: nothing is looked for.
  void (*probe)(const std::string& root, const Availability& health,
                std::vector<Finding>& findings) = nullptr;
  std::span<const CaptureRangeWord> capture_ranges = {};
  std::span<const std::string_view> variables = {};  // how those begin that its backend reads
  // Those that make its libraries load ours into a program.
  std::span<const std::string_view> injection_variables = {};
  bool (*driver_starts)() = nullptr;  // whether somebody waited for that; null: nobody can
  // Its catalogue of hardware counters, and the engines that take some; null: there is none.
  base::Result<std::unique_ptr<MetricCatalog>> (*open_catalog)(const std::string& chip) = nullptr;
  std::vector<CountingEngine> (*counting_engines)() = nullptr;
  int (*annotations_start)(AnnotationTables tables) = nullptr;  // null: it has none
};

std::span<const Vendor> vendors();
std::vector<std::string_view> injection_variables();  // of all vendors

}  // namespace gpufl::backend
