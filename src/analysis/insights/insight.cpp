// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/insight.hpp"

namespace gpufl::analysis {

std::string_view to_string(Category category) {
  switch (category) {
    case Category::Synchronization: return "SYNCHRONIZATION";
    case Category::Launch: return "LAUNCH";
    case Category::Transfer: return "TRANSFER";
    case Category::Memory: return "MEMORY";
    case Category::Occupancy: return "OCCUPANCY";
    case Category::Compute: return "COMPUTE";
    case Category::System: return "SYSTEM";
    case Category::Trace: break;
  }
  return "TRACE";
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::High: return "HIGH";
    case Severity::Medium: return "MEDIUM";
    case Severity::Low: break;
  }
  return "LOW";
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::High: return "high";
    case Confidence::Medium: return "medium";
    case Confidence::Low: break;
  }
  return "low";
}

}  // namespace gpufl::analysis
