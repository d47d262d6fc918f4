// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/insights/find_insights.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/test_tables.hpp"
#include "base/json.hpp"
#include "symbols/session_frames.hpp"

// A program made by hand, with lines of source, and what the rules say of it. For tests only.
namespace gpufl::analysis::testing {

inline constexpr int64_t kUs = 1'000, kMs = 1'000'000, kS = 1'000'000'000;

class TestProgram : public TestSession {
 public:
  // A stack whose innermost frame is that line; the id for rows.
  uint32_t line(std::string_view file, int64_t line, std::string_view function) {
    const int64_t id = ++last_id_;
    define("name", id, base::Json(function));
    define("text", id, base::Json(file));
    base::Json frame = base::Json::object();
    frame.set("function", id).set("file", id).set("line", line);
    define("frame", id, std::move(frame));
    base::Json frames = base::Json::array();
    frames.push(id);
    base::Json stack = base::Json::object();
    stack.set("frames", std::move(frames));
    define("stack", id, std::move(stack));
    return static_cast<uint32_t>(id);
  }

  CodeMap code(const symbols::SymbolFile& symbols = {}) const { return {frames_, symbols}; }

  // What a `device` line says of the GPU.
  void device_fact(int64_t device, std::string_view name, base::Json value) {
    for (base::Json& line : data.summary.devices) {
      if (line["device"].as_integer() == device) {
        line.set(name, std::move(value));
        return;
      }
    }
    base::Json line = base::Json::object();
    line.set("device", device).set(name, std::move(value));
    data.summary.devices.push_back(std::move(line));
  }

  // Call once.
  std::vector<Insight> insights(const Thresholds& thresholds = {}) {
    SessionData session = finish();
    session.code = code();
    return find_insights(session, analyze(session), thresholds);
  }

 private:
  void define(std::string_view dictionary, int64_t id, base::Json value) {
    base::Json ids = base::Json::array(), values = base::Json::array();
    ids.push(id);
    values.push(std::move(value));
    base::Json line = base::Json::object();
    line.set("type", "dict").set("dict", dictionary);
    line.set("ids", std::move(ids)).set("values", std::move(values));
    frames_.add(line);
  }

  symbols::SessionFrames frames_;
  int64_t last_id_ = 0;
};

inline std::vector<Insight> of_rule(const std::vector<Insight>& insights, std::string_view rule) {
  std::vector<Insight> found;
  std::copy_if(insights.begin(), insights.end(), std::back_inserter(found),
               [&](const Insight& insight) { return insight.rule == rule; });
  return found;
}

}  // namespace gpufl::analysis::testing
