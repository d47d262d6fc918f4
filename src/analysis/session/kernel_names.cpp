// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/kernel_names.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/code/kernel_name.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {

KernelNames::KernelNames(const Tables& tables)
    : entries_{{"?", "?", KernelClass::Other}, {}}, places_(tables.names.size(), kNoKernel) {
  const size_t first = entries_.size();
  for (const LaunchConfig& config : tables.configs) {
    if (config.name >= places_.size() || places_[config.name] != kNoKernel) continue;
    places_[config.name] = static_cast<uint32_t>(entries_.size());
    Entry& entry = entries_.emplace_back();
    entry.full_name = symbols::demangle(tables.name(config.name));
    entry.kernel_class = classify_kernel(entry.full_name);
  }
  std::vector<std::string_view> whole;
  for (size_t i = first; i < entries_.size(); ++i) whole.push_back(entries_[i].full_name);
  std::vector<std::string> labels = all_kernel_labels(whole);
  for (size_t i = 0; i < labels.size(); ++i) entries_[first + i].short_name = std::move(labels[i]);
}

}  // namespace gpufl::analysis
