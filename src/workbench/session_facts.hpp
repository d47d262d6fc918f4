// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary/summary.hpp"
#include "base/json.hpp"
#include "format/batch.hpp"
#include "format/dictionaries.hpp"
#include "format/problem.hpp"
#include "format/session_header.hpp"
#include "format/told_again.hpp"
#include "format/window_file.hpp"

// What a session says of itself as a whole (its devices, what was asked for, what happened, whether
// everything is there), from the few lines that say it instead of all of the log. The members are
// those of the JSON report, made by the same code. One thread.
namespace gpufl::workbench {

struct SessionFacts {
  format::SessionHeader header;
  std::filesystem::path dir;
  bool is_live = false;
  int64_t last_ns = 0;                    // of any row
  std::map<format::Kind, uint64_t> rows;  // by kind, as read
  std::vector<format::WindowFile> files;  // all of the session's
  std::vector<format::Problem> problems;  // found while reading them
};

class FactsReader {
 public:
  // Lines of objects, in the order of the log. What cannot be parsed is a problem of its file,
  // which whoever reads that has told already.
  void add_object(std::string_view line);
  // Of the kind `coverage`: when engines were attached.
  void add_coverage(const format::Batch& batch, const format::Dictionaries& dictionaries);

  // {"session", "devices", "capabilities", "ledger", "events", "event_counts"}. Call once.
  base::Json finish(const SessionFacts& facts);

 private:
  analysis::SummaryBuilder summary_;
  format::FirstTold first_told_;
};

}  // namespace gpufl::workbench
