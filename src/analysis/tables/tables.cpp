// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/tables.hpp"

namespace gpufl::analysis {
const LaunchConfig& Tables::config(uint32_t id) const {
  static const LaunchConfig kUnknown = [] {
    LaunchConfig config;
    config.name = kNoRow;
    return config;
  }();
  return id < configs.size() ? configs[id] : kUnknown;
}

const std::string& Tables::text_at(const std::vector<std::string>& texts, uint32_t id) {
  static const std::string kUnknown = "?";
  static const std::string kEmpty;
  if (id == 0) return kEmpty;
  return id < texts.size() ? texts[id] : kUnknown;
}

}  // namespace gpufl::analysis
