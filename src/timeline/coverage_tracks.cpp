// SPDX-License-Identifier: Apache-2.0
#include "timeline/coverage_tracks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "format/columns.hpp"

namespace gpufl::timeline {

std::vector<CoverageTrack> coverage_tracks(const SessionTexts& texts) {
  namespace column = format::coverage_column;
  const auto found = texts.tables().others.find(format::Kind::Coverage);
  if (found == texts.tables().others.end()) return {};
  const format::Batch& rows = found->second;
  std::map<std::string, SliceRow> by_engine;
  for (uint32_t row = 0; row < rows.rows(); ++row) {
    const int64_t start = rows.at(column::kStart, row);
    const int64_t length = std::max<int64_t>(0, rows.at(column::kDuration, row));
    by_engine[texts.name(static_cast<uint32_t>(rows.at(column::kEngine, row)))].push_back(
        {start, analysis::saturating_add(start, length), SliceKind::Coverage, row});
  }
  std::vector<CoverageTrack> tracks;
  for (auto& [engine, slices] : by_engine) {
    tracks.push_back({engine, lay_out_nested(std::move(slices))});
  }
  return tracks;
}

}  // namespace gpufl::timeline
