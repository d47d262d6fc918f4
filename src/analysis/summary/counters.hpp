// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/math/saturating.hpp"
#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// The program's own counters: totals and rates. Memory grows with names. One thread.
namespace gpufl::analysis {

struct CounterTotal {
  std::string name;
  uint64_t samples = 0;
  int64_t first = 0, last = 0;        // values: counted since the process began
  int64_t first_ns = 0, last_ns = 0;  // session times of those samples
  int64_t span_ns = 0;                // how long the increase took, idle times included

  void add(int64_t time_ns, int64_t value);  // one more sample; they come in any order
  int64_t increase() const { return saturating_subtract(last, first); }
  // Unknown with fewer than two samples, and for no time at all.
  std::optional<double> per_second() const;
};

class CounterTable {
 public:
  explicit CounterTable(NameTable& names) : names_(names) {}
  void add(const format::Batch& rows, const format::Dictionaries& dictionaries);
  // By name. A counter is sampled when it has changed, so its first value is that of the session's
  // beginning and its last that of the end, unless the beginning `is_cut`.
  std::vector<CounterTotal> finish(int64_t end_ns, bool is_cut) const;

 private:
  NameTable& names_;
  std::map<uint32_t, CounterTotal> totals_;
  std::vector<uint32_t> row_names_;  // scratch
};

}  // namespace gpufl::analysis
