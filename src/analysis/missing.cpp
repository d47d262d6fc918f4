// SPDX-License-Identifier: Apache-2.0
#include "analysis/missing.hpp"

#include <algorithm>

namespace gpufl::analysis {

namespace {

const Capability* refusal(const SessionData& session, std::string_view feature) {
  const auto& capabilities = session.summary.capabilities;
  const auto found =
      std::find_if(capabilities.begin(), capabilities.end(), [&](const Capability& capability) {
        return capability.feature == feature && !capability.is_as_asked();
      });
  return found == capabilities.end() ? nullptr : &*found;
}

Unknown refused(const Capability& capability) {
  const std::string& detail = capability.detail.empty() ? capability.reason : capability.detail;
  return {capability.feature + " was asked for and could not be had: " + detail, capability.hint};
}

// What tells that GPU work was to be recorded and was not; null: nothing does.
const base::Json* find_event(const SessionData& session) {
  const std::vector<base::Json>& events = session.summary.events;
  const auto found = std::find_if(events.begin(), events.end(), [](const base::Json& event) {
    const std::string& name = event["name"].as_string();
    return name == "trace_unavailable" || name == "capture_range_never_opened";
  });
  return found == events.end() ? nullptr : &*found;
}

}  // namespace

bool records_gpu_work(const SessionData& session) {
  const Tables& tables = session.tables;
  const size_t rows = tables.kernels.rows() + tables.copies.rows() + tables.fills.rows();
  if (rows != 0) return true;
  return session.summary.header.engine != "Monitor" && find_event(session) == nullptr;
}

Unknown missing_gpu_work(const SessionData& session) {
  if (const base::Json* event = find_event(session)) {
    const std::string& text = (*event)["text"].as_string();
    const std::string& name = (*event)["name"].as_string();
    return {"no GPU work was recorded: " + (text.empty() ? name : text),
            (*event)["hint"].as_string()};
  }
  if (const Capability* capability = refusal(session, "profiling_engine")) {
    return refused(*capability);
  }
  return {"the engine Monitor records no GPU work",
          "record with `gpufl trace`, or with the engine Trace"};
}

bool is_refused(const SessionData& session, std::string_view feature) {
  return refusal(session, feature) != nullptr;
}

Unknown missing_option(const SessionData& session, std::string_view what, std::string_view option) {
  if (!records_gpu_work(session)) return missing_gpu_work(session);
  if (const Capability* capability = refusal(session, option)) return refused(*capability);
  return {std::string(what) + " not recorded", "record with " + std::string(option)};
}

}  // namespace gpufl::analysis
