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

}  // namespace

bool records_gpu_work(const SessionData& session) {
  return session.summary.header.engine != "Monitor" || session.tables.kernels.rows() != 0;
}

Unknown missing_gpu_work(const SessionData& session) {
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
