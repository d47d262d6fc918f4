// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/selection.hpp"

#include <algorithm>

#include "analysis/session/scope_paths.hpp"

namespace gpufl::analysis {

Selection::Selection(const Tables& tables, const AnalysisOptions& options)
    : device_(options.device) {
  if (options.window) {
    window_ = {std::max(options.window->start, kAlways.start),
               std::min(options.window->end, kAlways.end)};
  }
  is_everywhere_ = !device_ && options.scope.empty();
  if (device_) {
    for (const Lane& lane : tables.lanes) lanes_.push_back(lane.device == *device_);
  }
  if (!options.scope.empty()) {
    const ScopePaths paths = scope_paths(tables, options);
    has_scopes_ = true;
    for (const Caller& caller : tables.callers) {
      const uint32_t path =
          caller.scope < paths.of_scope.size() ? paths.of_scope[caller.scope] : kNoRow;
      callers_.push_back(path != kNoRow && paths.is_chosen[path]);
    }
  }
}

std::span<const uint32_t> Selection::keys(const Work& work, const std::vector<uint32_t>& column,
                                          std::vector<uint32_t>& scratch) const {
  if (is_all()) return column;
  scratch = column;
  for (size_t row = 0; row < scratch.size(); ++row) {
    if (!includes(work, row)) scratch[row] = kNoRow;
  }
  return scratch;
}

std::array<RowRange, 4> Selection::reaching_rows(const WorkTables& tables) const {
  std::array<RowRange, 4> rows;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i] != nullptr) rows[i] = reaching_rows(*tables[i]);
  }
  return rows;
}

DeviceIndex::DeviceIndex(const Tables& tables) {
  for (const Lane& lane : tables.lanes) devices.push_back(lane.device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  for (const Lane& lane : tables.lanes) of_lane.push_back(find(lane.device));
}

uint32_t DeviceIndex::find(int64_t device) const {
  const auto place = std::lower_bound(devices.begin(), devices.end(), device);
  if (place == devices.end() || *place != device) return kNoRow;
  return static_cast<uint32_t>(place - devices.begin());
}

}  // namespace gpufl::analysis
