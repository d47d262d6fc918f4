// SPDX-License-Identifier: Apache-2.0
#include "backend/metric_table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace gpufl::backend {
namespace {

// The row that docs/reference/metrics.md has for a metric, without where its values come from,
// which tests/docs/docs_test.py compares with the code that reads them.
std::string documented_row(const MetricSpec& spec) {
  std::ostringstream row;
  row << "| `" << spec.name << "` | " << (spec.unit.empty() ? "count" : spec.unit) << " | "
      << to_string(spec.type) << " | " << (spec.index.empty() ? "" : "per ") << spec.index << " | "
      << spec.help << " |";
  return row.str();
}

// "| name | unit | type | index | source | meaning |" without the source.
std::string without_source(std::string row) {
  size_t begin = 0;
  for (int cell = 0; cell < 4; ++cell) begin = row.find(" | ", begin) + 2;
  return row.erase(begin, row.find(" | ", begin) + 2 - begin);
}

TEST(MetricTable, TheDocumentHasTheSameRowsInTheSameOrder) {
  // "## heading" -> the rows below it whose first cell is a name in backquotes.
  std::map<std::string, std::vector<std::string>> documented;
  std::ifstream document(GPUFL_METRICS_DOCUMENT);
  ASSERT_TRUE(document.is_open()) << GPUFL_METRICS_DOCUMENT;
  std::string heading;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("## ")) heading = line.substr(3);
    if (line.starts_with("| `")) documented[heading].push_back(without_source(line));
  }
  std::map<std::string, std::vector<std::string>> wanted;
  for (const MetricSpec& spec : metric_table()) {
    const std::string section = spec.scope == MetricScope::Host ? "Host metrics"
                                : spec.rate == MetricRate::Fast ? "Device metrics, fast"
                                                                : "Device metrics, slow";
    wanted[section].push_back(documented_row(spec));
  }
  for (const auto& [section, rows] : wanted) EXPECT_EQ(documented[section], rows) << section;
}

TEST(MetricTable, NamesAreUniqueSnakeCaseAndEndInTheirUnit) {
  const std::map<std::string_view, std::string_view> endings = {
      {"percent", "_pct"},  {"permille", "_permille"},
      {"bytes", "_bytes"},  {"bytes/s", "_bytes_per_s"},
      {"°C", "_c"},         {"mW", "_mw"},
      {"mJ", "_mj"},        {"MHz", "_mhz"},
      {"bits", "_bits"},    {"lanes", "_lanes"},
      {"1/1000", "_milli"},
  };
  std::set<std::string_view> names;
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos);
    EXPECT_EQ(find_metric(spec.scope, spec.name), &spec);
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    if (spec.unit.empty()) continue;
    ASSERT_TRUE(endings.contains(spec.unit)) << spec.name << " in " << spec.unit;
    EXPECT_TRUE(spec.name.ends_with(endings.at(spec.unit))) << spec.name;
  }
  EXPECT_EQ(find_metric(MetricScope::Host, metric::kGpuUtil), nullptr);
}

}  // namespace
}  // namespace gpufl::backend
