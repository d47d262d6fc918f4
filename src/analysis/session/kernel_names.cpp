// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/kernel_names.hpp"

#include <map>
#include <string_view>

#include "analysis/code/kernel_name.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {

KernelNames::KernelNames(const Tables& tables)
    : entries_{{"?", "?", KernelClass::Other}, {}}, places_(tables.names.size(), kNoKernel) {
  std::map<std::string, std::vector<uint32_t>> alike;  // places by short name
  for (const LaunchConfig& config : tables.configs) {
    if (config.name >= places_.size() || places_[config.name] != kNoKernel) continue;
    places_[config.name] = static_cast<uint32_t>(entries_.size());
    Entry& entry = entries_.emplace_back();
    entry.full_name = symbols::demangle(tables.name(config.name));
    entry.short_name = short_kernel_name(entry.full_name);
    entry.kernel_class = classify_kernel(entry.full_name);
    if (entry.full_name.empty()) {
      entry.short_name = kernel_label({});
    } else {
      alike[entry.short_name].push_back(places_[config.name]);
    }
  }
  for (const auto& [short_name, places] : alike) {
    std::vector<std::string_view> whole;
    for (const uint32_t place : places) whole.push_back(entries_[place].full_name);
    const std::vector<std::string> labels = places.size() == 1
                                                ? std::vector{kernel_label(short_name)}
                                                : kernel_labels(short_name, whole);
    for (size_t i = 0; i < places.size(); ++i) entries_[places[i]].short_name = labels[i];
  }
}

}  // namespace gpufl::analysis
