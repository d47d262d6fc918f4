// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/insights/find_insights.hpp"
#include "report/text_report.hpp"

// A session with everything that a report of it needs, and golden texts. For tests only.
namespace gpufl::report {

struct TestReport {
  explicit TestReport(analysis::SessionData made, const analysis::AnalysisOptions& options = {})
      : session(std::move(made)),
        overview(analysis::analyze(session, options)),
        insights(analysis::find_insights(session, overview)) {}
  explicit TestReport(analysis::SessionSummary summary)
      : TestReport(analysis::SessionData{std::move(summary), {}, {}}) {}

  SessionReport view() const { return {session, overview, insights}; }
  // Everything there is; the short report has tests of its own.
  std::string text(TextOptions options = {}) const {
    options.is_full = true;
    return text_report(view(), options);
  }
  std::string short_text(const TextOptions& options = {}) const {
    return text_report(view(), options);
  }

  analysis::SessionData session;
  analysis::Overview overview;
  std::vector<analysis::Insight> insights;
};

inline std::string text_of(analysis::SessionData session, const TextOptions& options = {}) {
  return TestReport(std::move(session)).text(options);
}
inline std::string text_of(analysis::SessionSummary summary, const TextOptions& options = {}) {
  return TestReport(std::move(summary)).text(options);
}

// The expected text lies in golden/; GPUFL_UPDATE_GOLDEN=1 writes it anew, to be looked at in git.
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(GPUFL_GOLDEN_DIR) + "/" + name;
  if (std::getenv("GPUFL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace gpufl::report
