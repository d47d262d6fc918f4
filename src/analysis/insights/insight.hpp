// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One thing that a session shows and that somebody can act on. Plain data: the rules of insights/
// make them, reports show them.
namespace gpufl::analysis {

enum class Category : uint8_t {
  Synchronization,
  Launch,
  Transfer,
  Memory,
  Occupancy,
  Compute,
  System,
  Trace,
};
std::string_view to_string(Category category);  // "SYNCHRONIZATION"

enum class Severity : uint8_t { Low, Medium, High };
std::string_view to_string(Severity severity);  // "HIGH"

enum class Confidence : uint8_t { Low, Medium, High };
std::string_view to_string(Confidence confidence);

// Where it can be seen: a line, a scope, a kernel, a span of time. Unset parts do not apply.
struct Evidence {
  std::string text;  // "50 waits, 73.58 s": what was seen there
  std::string kernel, scope, file;
  int64_t line = 0;
  std::optional<int64_t> device;
  std::optional<int64_t> start_ns, end_ns;  // session times
};

struct Insight {
  std::string rule;  // stable word: the page docs/reference/insights/<rule>.md
  Category category = Category::Trace;
  Severity severity = Severity::Low;
  std::string title;   // one line: "In-loop sync × 50 — likely blocking GPU pipelining"
  std::string detail;  // what was measured
  std::string advice;  // what to do
  // What doing it would save of the session's time. None: it costs no time that can be told.
  std::optional<double> gain_ns;
  double gain_share = 0;                 // of the time of `gain_of`
  std::string_view gain_of = "session";  // or "what was recorded", see SessionView::whole
  std::string estimate;                  // how the gain was estimated
  Confidence confidence = Confidence::Low;
  std::vector<Evidence> evidence;
};

}  // namespace gpufl::analysis
