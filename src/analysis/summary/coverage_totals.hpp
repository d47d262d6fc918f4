// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// How much of a session each engine was attached to and what that cost, from `coverage` rows.
// Memory grows with engines. One thread.
namespace gpufl::analysis {

// What phases or windows cost together, by how that was measured.
struct CoverageCost {
  int64_t calls_ns = 0, steps_ns = 0;
  uint64_t by_calls = 0, by_steps = 0, unknown = 0;  // of so many

  void add(int64_t cost_ns, int64_t measure);
  void add(const CoverageCost& other);
  // None where nothing was measured.
  std::optional<int64_t> total_ns() const;
  std::string_view measure() const;  // "calls", "steps", "calls and steps"
};

struct EngineCoverage {
  std::string engine;  // "Trace"
  uint64_t phases = 0, windows = 0;
  int64_t phase_ns = 0, window_ns = 0;  // durations, added up
  CoverageCost phase_cost, window_cost;
  uint64_t samples = 0, dropped = 0;  // of windows
  int64_t last_end_ns = 0;            // of phases
  bool is_paced = false;              // phases ended to stay within a budget
  bool ends_with_windows = false;     // phases ended because a deep window opened or closed

  // Of the phases where any is known, else of the windows in them.
  CoverageCost cost() const;
  void add(const format::Batch& rows, size_t row);
};

// Of all engines together: whichever is attached, GPU work is recorded, and only one is at a time.
EngineCoverage sum_of(const std::vector<EngineCoverage>& engines);

class CoverageTable {
 public:
  explicit CoverageTable(NameTable& names) : names_(names) {}
  void add(const format::Batch& rows, const format::Dictionaries& dictionaries);
  std::vector<EngineCoverage> finish() const;  // by name

 private:
  NameTable& names_;
  std::map<uint32_t, EngineCoverage> engines_;
  std::vector<uint32_t> row_names_;  // scratch
};

}  // namespace gpufl::analysis
