// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/ledger.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"

// What a report of one session says, as numbers: the one implementation of each. Loads the whole
// session once; memory is proportional to distinct names, not to events.
namespace gpufl::analysis {

struct Distribution {  // of durations or values
  uint64_t count = 0;
  double total = 0, min = 0, max = 0, mean = 0, last = 0;
};

struct ScopeNode {  // one path of nested names
  std::string name, tag;
  uint32_t depth = 0;
  Distribution duration_ns;
  uint64_t open = 0;                  // still open when the log ended
  uint64_t repeat = 0, warmup = 0;    // benchmark scopes: iterations over all instances
  std::vector<ScopeNode> children;    // in order of first appearance
};

struct CounterTotal {
  std::string name;
  int64_t first = 0, last = 0;
  std::optional<double> per_second;   // unknown with fewer than two samples
};

struct MetricSeries {
  std::optional<int64_t> device;      // none: host
  int64_t index = 0;
  std::string metric;
  Distribution values;
};

struct Capability {
  std::string feature, asked, got, reason, detail, hint;
};

struct SessionSummary {
  format::SessionHeader header;
  std::filesystem::path dir;
  int64_t duration_ns = 0;            // up to the newest time in the log
  bool ended = false;                 // has an `end` line
  bool live = false;
  std::optional<format::Ledger> ledger;  // absent: crashed or still running
  std::vector<Capability> capabilities;
  std::vector<base::Json> devices;    // `device` lines
  std::vector<base::Json> events;
  std::vector<ScopeNode> scopes;
  std::vector<CounterTotal> counters;
  std::vector<MetricSeries> metrics;
  std::map<std::string, uint64_t> rows;   // by kind, as read
  std::vector<format::Problem> problems;  // first 100
  uint64_t problem_count = 0;
};

base::Result<SessionSummary> summarize(const std::filesystem::path& session_dir);

}  // namespace gpufl::analysis
