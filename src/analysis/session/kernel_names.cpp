// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/kernel_names.hpp"

#include <map>
#include <string_view>

#include "analysis/code/kernel_name.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {

KernelNames kernel_names(const Tables& tables) {
  KernelNames names;
  std::map<std::string, std::vector<uint32_t>> alike;  // ids by short name
  names.entries.resize(tables.names.size());
  for (const LaunchConfig& config : tables.configs) {
    if (config.name >= names.entries.size()) continue;
    KernelNames::Entry& entry = names.entries[config.name];
    if (!entry.full_name.empty()) continue;
    entry.full_name = symbols::demangle(tables.name(config.name));
    entry.short_name = short_kernel_name(entry.full_name);
    entry.kernel_class = classify_kernel(entry.full_name);
    if (entry.full_name.empty()) {
      entry.short_name = kernel_label({});
    } else {
      alike[entry.short_name].push_back(config.name);
    }
  }
  for (const auto& [short_name, ids] : alike) {
    std::vector<std::string_view> whole;
    for (const uint32_t id : ids) whole.push_back(names.entries[id].full_name);
    const std::vector<std::string> labels =
        ids.size() == 1 ? std::vector{kernel_label(short_name)} : kernel_labels(short_name, whole);
    for (size_t i = 0; i < ids.size(); ++i) names.entries[ids[i]].short_name = labels[i];
  }
  return names;
}

}  // namespace gpufl::analysis
