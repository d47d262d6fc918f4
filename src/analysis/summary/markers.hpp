// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/summary/name_table.hpp"
#include "base/json.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// The program's marks and ranges, by name and domain. Memory grows with those, and with ranges of a
// second and more. One thread.
namespace gpufl::analysis {

struct MarkerTotal {
  std::string name, domain;
  uint64_t marks = 0;
  Distribution duration_ns;  // of its ranges
  uint64_t open = 0;         // ranges that the log shows beginning, but not ending
  double open_ns = 0;        // how long those were, as far as the log goes

  uint64_t count() const { return marks + duration_ns.count + open; }
  double total_ns() const { return duration_ns.total + open_ns; }
};

class MarkerTable {
 public:
  explicit MarkerTable(NameTable& names) : names_(names) {}
  void add(const format::Batch& rows, const format::Dictionaries& dictionaries);
  // True for the events that tell of markers, which are no events of the session's own.
  bool take_event(const base::Json& line);
  // Those with the most time first, then those that are most frequent.
  std::vector<MarkerTotal> finish(int64_t end_ns) const;

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // name, domain
  using Place = std::pair<int64_t, int64_t>;  // start, thread

  NameTable& names_;
  std::map<Key, MarkerTotal> totals_;
  std::map<Place, Key> announced_;                 // ranges that were open when the log was written
  std::vector<Place> long_ranges_;                 // that ended
  std::vector<uint32_t> row_names_, row_domains_;  // scratch
};

}  // namespace gpufl::analysis
