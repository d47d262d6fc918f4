// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <algorithm>
#include <array>

#include "format/engines.hpp"

namespace gpufl::capture {

namespace {

constexpr std::string_view kTrace = "Trace";

format::Capability unserved_feature(const std::string& feature) {
  return {feature,
          "on",
          "off",
          "engine_too_low",
          "the Monitor engine records health, scopes and counters only",
          "choose the engine Trace or a higher one"};
}

}  // namespace

std::span<const std::string_view> engine_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, format::kEngines.size()> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = format::kEngines[i].name;
    return names;
  }();
  return kNames;
}

EngineChoice choose_engine(std::string_view asked, const backend::Availability& trace,
                           const std::vector<std::string>& features) {
  EngineChoice choice;
  format::Capability note{
      std::string(kEngineFeature), std::string(asked), std::string(asked), {}, {}, {}};
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
  choice.engine = note.got;
  choice.notes.push_back(std::move(note));
  if (choice.engine != kMonitorEngine) return choice;
  for (const std::string& feature : features) choice.notes.push_back(unserved_feature(feature));
  return choice;
}

}  // namespace gpufl::capture
