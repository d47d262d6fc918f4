// SPDX-License-Identifier: Apache-2.0
#include "report/html/warp_lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "analysis/session/selection.hpp"
#include "analysis/warp/kernel_join.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using timeline::Slice;
using timeline::SliceRow;
using timeline::WarpTrack;

std::unordered_set<int64_t> chosen_launches(const analysis::Tables& tables,
                                            const analysis::Selection& selection,
                                            const analysis::AnalysisOptions& options) {
  const analysis::KernelJoin join(tables);
  std::unordered_set<int64_t> chosen;
  for (const format::WarpLaunch& launch : tables.warp_launches) {
    const uint32_t row = join.find(launch);
    const bool is_chosen = row != analysis::kNoRow
                               ? selection.includes(tables.kernels, row)
                               : options.scope.empty() && selection.has_device(launch.device) &&
                                     selection.has_window(launch.time_ns);
    if (is_chosen) chosen.insert(launch.launch);
  }
  return chosen;
}

template <typename IsLeftOut>
void leave_out(std::vector<WarpTrack>& tracks, IsLeftOut is_left_out) {
  for (WarpTrack& track : tracks) {
    for (SliceRow& row : track.rows) std::erase_if(row, is_left_out);
    std::erase_if(track.rows, [](const SliceRow& row) { return row.empty(); });
  }
  std::erase_if(tracks, [](const WarpTrack& track) { return track.rows.empty(); });
}

// When its groups recorded something, and where they are.
struct ThreadBlock {
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  std::vector<size_t> tracks;
};

std::vector<int64_t> choose_blocks(const std::map<int64_t, ThreadBlock>& blocks) {
  size_t groups = 1;
  for (const auto& [number, block] : blocks) groups = std::max(groups, block.tracks.size());
  const size_t room = std::clamp<size_t>(kMaxWarpTracks / groups, 1, kMaxWarpBlocks);
  std::vector<int64_t> chosen;
  for (const auto& [number, block] : blocks) {
    if (chosen.size() == room) break;
    chosen.push_back(number);
  }
  const auto longest =
      std::max_element(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
        return a.second.last_ns - a.second.first_ns < b.second.last_ns - b.second.first_ns;
      });
  if (longest->first > chosen.back()) chosen.back() = longest->first;
  return chosen;
}

WarpLanes lanes_of_kernel(std::vector<WarpTrack>& tracks, size_t begin, size_t end) {
  std::map<int64_t, ThreadBlock> blocks;
  for (size_t i = begin; i < end; ++i) {
    ThreadBlock& block = blocks[tracks[i].block];
    block.tracks.push_back(i);
    for (const SliceRow& row : tracks[i].rows) {
      block.first_ns = std::min(block.first_ns, row.front().start);
      for (const Slice& slice : row) block.last_ns = std::max(block.last_ns, slice.end);
    }
  }
  const std::vector<int64_t> chosen = choose_blocks(blocks);
  WarpLanes lanes;
  constexpr std::string_view kPrefix = "inside ";
  lanes.kernel = tracks[begin].kernel.substr(kPrefix.size());
  lanes.title = chosen.size() == blocks.size()
                    ? tracks[begin].kernel
                    : fmt::format("{}: {} of {} blocks", tracks[begin].kernel, chosen.size(),
                                  text::count(blocks.size()));
  for (const int64_t block : chosen) {
    for (const size_t i : blocks[block].tracks) {
      if (lanes.tracks.size() == kMaxWarpTracks) return lanes;
      WarpTrack& track = lanes.tracks.emplace_back(std::move(tracks[i]));
      if (track.rows.size() > kMaxWarpRows) track.rows.resize(kMaxWarpRows);
    }
  }
  return lanes;
}

}  // namespace

std::vector<WarpLanes> warp_lanes(const timeline::SessionTexts& texts,
                                  const analysis::AnalysisOptions& options) {
  const analysis::Tables& tables = texts.tables();
  std::vector<WarpTrack> tracks = timeline::warp_tracks(texts);
  if (tracks.empty()) return {};
  // A wait that was over within a tick of the timer: there is nothing to draw.
  leave_out(tracks, [](const Slice& slice) {
    return slice.kind == timeline::SliceKind::WarpSpan && slice.end == slice.start;
  });
  const analysis::Selection selection(tables, options);
  if (!selection.is_all()) {
    const std::unordered_set<int64_t> chosen = chosen_launches(tables, selection, options);
    const format::Batch& spans = tables.others.at(format::Kind::WarpSpan);
    leave_out(tracks, [&](const Slice& slice) {
      return !chosen.contains(spans.at(format::warp_span_column::kLaunch, slice.row));
    });
  }
  std::vector<WarpLanes> lanes;
  for (size_t begin = 0; begin < tracks.size() && lanes.size() < kMaxWarpKernels;) {
    size_t end = begin;
    while (end < tracks.size() && tracks[end].device == tracks[begin].device &&
           tracks[end].kernel == tracks[begin].kernel) {
      ++end;
    }
    lanes.push_back(lanes_of_kernel(tracks, begin, end));
    begin = end;
  }
  return lanes;
}

}  // namespace gpufl::report
