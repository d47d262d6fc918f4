// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <algorithm>
#include <array>

#include "format/engines.hpp"

namespace gpufl::capture {

namespace {

// What this version has of an engine. Those that are not here fall to one that costs less.
std::string_view engine_of_this_version(std::string_view asked) {
  return format::has_engine(asked) ? asked : kTraceEngine;
}

void fall(format::Capability& note, std::string_view got, const backend::Availability& why) {
  note.got = got;
  note.reason = why.reason;
  note.detail = why.detail;
  note.hint = why.hint;
}

// Options that only some engines serve. All others are served by each but Monitor.
struct EngineFeature {
  std::string_view prefix;
  bool (*is_served)(std::string_view engine);
  std::string_view lacks;
  std::string_view engines;
};
constexpr EngineFeature kEngineFeatures[] = {
    {"pc_sampling_", takes_samples, "takes no samples", "PcSampling"},
    {"sass_metrics", [](std::string_view engine) { return counting_engine(engine) == kSassEngine; },
     "does not count by instruction", "SassMetrics"},
    {"range_metrics", [](std::string_view engine) { return engine == kRangeEngine; },
     "has no hardware counters by scope", "RangeProfiler"},
    {"pm_sampling_", [](std::string_view engine) { return engine == kPmEngine; },
     "has no hardware counters over time", "PmSampling"},
    {"deep_", has_deep_windows, "has nothing to attach in a deep window",
     "PcSampling, SassMetrics, RangeProfiler or Deep"},
};

}  // namespace

std::span<const std::string_view> engine_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, format::kEngines.size()> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = format::kEngines[i].name;
    return names;
  }();
  return kNames;
}

bool takes_samples(std::string_view asked) {
  return asked == kSamplingEngine || asked == kDeepEngine;
}

std::string_view counting_engine(std::string_view asked) {
  if (asked == kDeepEngine) return kSassEngine;
  return format::replaces_records(asked) ? asked : std::string_view();
}

bool has_deep_windows(std::string_view engine) {
  return takes_samples(engine) || !counting_engine(engine).empty();
}

std::string_view base_engine(std::string_view engine) {
  if (engine == kPmEngine) return engine;
  return takes_samples(engine) ? kSamplingEngine : kTraceEngine;
}

std::string_view first_engine(std::string_view engine) {
  return engine == kRangeEngine ? engine : base_engine(engine);
}

backend::TraceOptions phase_options(const backend::TraceOptions& options, std::string_view engine) {
  backend::TraceOptions its = options;
  if (engine != kSamplingEngine) its.pc_sampling.reset();
  if (engine != kSassEngine) its.sass.reset();
  if (engine != kRangeEngine) its.ranges.reset();
  if (engine != kPmEngine) its.pm_sampling.reset();
  return its;
}

format::Capability choose_engine(std::string_view asked, const EngineSupport& support,
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
    const std::string_view here = engine_of_this_version(asked);
    if (here != asked) {
      fall(note, here,
           {false,
            "not_in_this_version",
            "this version does not have that engine; it falls back to " + std::string(here),
            {}});
    }
    const bool is_counting = !counting_engine(note.got).empty() || note.got == kPmEngine;
    if (is_counting && !support.counting.available) {
      const std::string_view rest = note.got == kPmEngine ? kTraceEngine : base_engine(note.got);
      fall(note, rest, support.counting);
    }
    if (takes_samples(note.got) && !support.sampling.available) {
      fall(note, kTraceEngine, support.sampling);
    }
    if (!support.trace.available) fall(note, kMonitorEngine, support.trace);
  }
  return note;
}

std::vector<format::Capability> unserved_features(std::string_view engine,
                                                  const std::vector<std::string>& features) {
  std::vector<format::Capability> notes;
  for (const std::string& feature : features) {
    const auto* const of_engine =
        std::find_if(std::begin(kEngineFeatures), std::end(kEngineFeatures),
                     [&](const EngineFeature& one) { return feature.starts_with(one.prefix); });
    if (of_engine != std::end(kEngineFeatures)) {
      if (of_engine->is_served(engine)) continue;
      std::string detail = "the engine ";
      detail.append(engine).append(" ").append(of_engine->lacks);
      notes.push_back({feature, "on", "off", "engine_too_low", std::move(detail),
                       std::string("choose the engine ").append(of_engine->engines)});
    } else if (engine == kMonitorEngine) {
      notes.push_back({feature, "on", "off", "engine_too_low",
                       "the Monitor engine records health, scopes and counters only",
                       "choose the engine Trace or a higher one"});
    }
  }
  return notes;
}

}  // namespace gpufl::capture
