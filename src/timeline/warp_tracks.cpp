// SPDX-License-Identifier: Apache-2.0
#include "timeline/warp_tracks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/warp/kernel_join.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::timeline {
namespace {

namespace column = format::warp_span_column;
using format::WarpEnding;

struct Launch {
  std::string kernel;
  std::vector<std::string> group_names;
};

std::unordered_map<int64_t, Launch> launches_of(const SessionTexts& texts) {
  const analysis::Tables& tables = texts.tables();
  const analysis::KernelJoin join(tables);
  std::unordered_map<int64_t, Launch> launches;
  for (const format::WarpLaunch& line : tables.warp_launches) {
    const uint32_t row = join.find(line);
    const std::string whole = row != analysis::kNoRow ? texts.kernel(tables.kernels.config[row])
                                                      : symbols::demangle(line.kernel);
    Launch& launch = launches[line.launch];
    launch.kernel = valid_utf8(analysis::short_kernel_name(whole));
    launch.group_names = line.group_names;
  }
  return launches;
}

std::string group_name(const SessionTexts& texts, const Launch& launch, int64_t group,
                       int64_t name_id) {
  std::string name = name_id > 0 ? texts.name(static_cast<uint32_t>(name_id)) : std::string();
  const auto place = static_cast<uint64_t>(group);
  if (name.empty() && place < launch.group_names.size()) {
    name = valid_utf8(launch.group_names[place]);
  }
  return name.empty() ? "group " + std::to_string(group) : name;
}

}  // namespace

std::string WarpTrack::sm_name() const {
  return sm < 0 ? "SM unknown" : "SM " + std::to_string(sm);
}

std::vector<WarpTrack> warp_tracks(const SessionTexts& texts) {
  const auto found = texts.tables().others.find(format::Kind::WarpSpan);
  if (found == texts.tables().others.end()) return {};
  const format::Batch& rows = found->second;
  std::unordered_map<int64_t, Launch> launches = launches_of(texts);
  using Key = std::tuple<int64_t, std::string, int64_t, int64_t, int64_t>;
  std::map<Key, std::pair<WarpTrack, SliceRow>> tracks;
  for (uint32_t row = 0; row < rows.rows(); ++row) {
    const Launch& launch = launches[rows.at(column::kLaunch, row)];
    const int64_t block = rows.at(column::kBlock, row), group = rows.at(column::kGroup, row);
    const Key key{rows.at(column::kDevice, row, -1), launch.kernel, rows.at(column::kSm, row, -1),
                  block, group};
    auto& [track, slices] = tracks[key];
    if (slices.empty()) {
      std::tie(track.device, std::ignore, track.sm, track.block, track.group) = key;
      track.kernel = launch.kernel.empty() ? "inside a kernel" : "inside " + launch.kernel;
      track.name = "block " + std::to_string(block) + ", " +
                   group_name(texts, launch, group, rows.at(column::kGroupName, row));
    }
    const bool is_range = rows.at(column::kEnding, row) == static_cast<int64_t>(WarpEnding::Normal);
    const int64_t start = rows.at(column::kStart, row);
    const int64_t duration = is_range ? std::max<int64_t>(0, rows.at(column::kDuration, row)) : 0;
    slices.push_back({start, analysis::saturating_add(start, duration),
                      is_range ? SliceKind::WarpSpan : SliceKind::WarpInstant, row});
  }
  std::vector<WarpTrack> all;
  for (auto& [key, of_key] : tracks) {
    of_key.first.rows = lay_out_nested(std::move(of_key.second));
    all.push_back(std::move(of_key.first));
  }
  return all;
}

}  // namespace gpufl::timeline
