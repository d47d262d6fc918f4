// SPDX-License-Identifier: Apache-2.0
#include "backend/diagnosis.hpp"

namespace gpufl::backend {

std::string_view to_string(FindingState state) {
  switch (state) {
    case FindingState::Good: return "good";
    case FindingState::Absent: return "absent";
    case FindingState::Problem: return "problem";
  }
  return "unknown";
}

base::Json Finding::to_json() const {
  base::Json json = base::Json::object();
  json.set("topic", topic);
  json.set("state", to_string(state));
  json.set("text", text);
  if (!hint.empty()) json.set("hint", hint);
  return json;
}

}  // namespace gpufl::backend
