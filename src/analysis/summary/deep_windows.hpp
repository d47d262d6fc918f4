// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// The deep windows of a session, from `deep_window` rows. One thread.
namespace gpufl::analysis {

struct DeepWindowFact {
  int64_t start_ns = 0, duration_ns = 0;
  std::string name;  // empty: it has none
  std::string opened_by, closed_by;
  std::optional<uint64_t> launches;
  std::string engine;     // the highest that was attached; empty: none could be
  std::string limit;      // a word: why not what was asked for; empty: it was
  std::string condition;  // that opened it; empty: none did
  std::optional<int64_t> seen;
  uint64_t ignored = 0;
};

struct DeepWindowTotals {
  static constexpr size_t kMaxWindows = 1'000;

  std::vector<DeepWindowFact> windows;   // the first kMaxWindows, in the log's order
  uint64_t count = 0;                    // of all
  int64_t duration_ns = 0;               // added up
  std::optional<uint64_t> launches = 0;  // likewise; none: unknown of some
};

class DeepWindowTable {
 public:
  explicit DeepWindowTable(NameTable& names) : names_(names) {}
  void add(const format::Batch& rows, const format::Dictionaries& dictionaries);
  DeepWindowTotals finish() const { return totals_; }

 private:
  NameTable& names_;
  DeepWindowTotals totals_;
};

}  // namespace gpufl::analysis
