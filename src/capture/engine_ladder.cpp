// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <algorithm>
#include <array>

#include "format/engines.hpp"

namespace gpufl::capture {

namespace {

constexpr std::string_view kTrace = "Trace";

}  // namespace

std::span<const std::string_view> engine_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, format::kEngines.size()> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = format::kEngines[i].name;
    return names;
  }();
  return kNames;
}

format::Capability choose_engine(std::string_view asked, const backend::Availability& trace,
                                 std::string_view backend) {
  format::Capability note;
  note.feature = "profiling_engine";
  note.asked = note.got = asked;
  note.backend = backend;
  const auto names = engine_names();
  if (std::find(names.begin(), names.end(), asked) == names.end()) {
    note.got = kMonitorEngine;
    note.reason = "unknown_engine";
    note.detail = "there is no engine of that name";
  } else if (asked != kMonitorEngine) {
    if (!format::has_engine(asked)) {
      note.got = kTrace;
      note.reason = "not_in_this_version";
      note.detail = "the highest engine of this version is Trace";
    }
    if (!trace.available) {
      note.got = kMonitorEngine;
      note.reason = trace.reason;
      note.detail = trace.detail;
      note.hint = trace.hint;
    }
  }
  return note;
}

std::vector<format::Capability> unserved_features(std::string_view engine,
                                                  const std::vector<std::string>& features) {
  std::vector<format::Capability> notes;
  if (engine != kMonitorEngine) return notes;
  for (const std::string& feature : features) {
    notes.push_back({feature, "on", "off", "engine_too_low",
                     "the Monitor engine records health, scopes and counters only",
                     "choose the engine Trace or a higher one"});
  }
  return notes;
}

}  // namespace gpufl::capture
