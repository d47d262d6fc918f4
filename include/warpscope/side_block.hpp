// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string_view>

#include <warpscope/names.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/trace.hpp>

// The side block: found in a capture, checked, and read lane by lane. Points into the capture.
namespace ws {
namespace detail {

inline constexpr uint64_t kSideMagic = 0x3250435350524157;  // "WARPSCP2"
inline constexpr uint32_t kSideVersion = 1;
inline constexpr uint32_t kSideHeaderWords = 16;
inline constexpr uint32_t kSideLaneWords = 8;
inline constexpr uint64_t kMaxLanes = uint64_t{1} << 20;
inline constexpr uint64_t kLaneInitialised = uint64_t{1} << 48;
inline constexpr uint64_t kLaneFinalised = uint64_t{1} << 49;
// No clock and no count of a lane reaches this; sums of those below stay within 63 bits.
inline constexpr uint64_t kLaneLimit = uint64_t{1} << 62;
inline constexpr uint32_t kMaxEventCostPs = 1'000'000'000;

inline uint32_t low_half(uint64_t word) { return static_cast<uint32_t>(word); }
inline uint32_t high_half(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
inline uint64_t joined(uint64_t low, uint64_t high) { return low | (high << 32); }

// One lane's entry.
struct SideLane {
  uint64_t start_ns = 0, start_cycles = 0;
  uint64_t end_ns = 0, end_cycles = 0;  // these and the counts only where finalised
  uint64_t offered = 0, dropped = 0;
  uint64_t placed = 0;  // of those offered, what got a slot, its own or one that is used again
  uint16_t sm = kUnknownSm, warp = 0, cluster_rank = 0;
  bool initialised = false, finalised = false;
  bool has_anchor = false;     // of init
  bool is_impossible = false;  // it has words that cannot be true; they count as not written

  bool has_frequency() const {
    return has_anchor && finalised && end_ns > start_ns && end_cycles > start_cycles;
  }
};

struct SideBlock {
  const uint64_t* words = nullptr;  // null: there is none
  CaptureLayout layout;
  uint64_t num_slots = 0;
  uint64_t size = 0;
  uint32_t lane_offset = 0, lane_words = 0;

  SideLane lane(uint64_t index) const {
    SideLane lane;
    if (words == nullptr || index >= layout.lanes()) return lane;
    const uint64_t* const entry = words + lane_offset + index * lane_words;
    const auto are_possible = [entry](size_t begin, size_t end) {
      return std::all_of(entry + begin, entry + end, [](uint64_t w) { return w < kLaneLimit; });
    };
    lane.initialised = (entry[6] & kLaneInitialised) != 0;
    if (!lane.initialised) return lane;
    const bool has_end = (entry[6] & kLaneFinalised) != 0;
    lane.has_anchor = are_possible(0, 2);
    lane.finalised = has_end && are_possible(2, 6) && entry[5] <= entry[4];
    lane.is_impossible = !lane.has_anchor || lane.finalised != has_end;
    if (lane.has_anchor) {
      lane.start_ns = entry[0];
      lane.start_cycles = entry[1];
    }
    lane.sm = static_cast<uint16_t>(entry[6]);
    lane.warp = static_cast<uint16_t>(entry[6] >> 16);
    lane.cluster_rank = static_cast<uint16_t>(entry[6] >> 32);
    if (!lane.finalised) return lane;
    lane.end_ns = entry[2];
    lane.end_cycles = entry[3];
    lane.offered = entry[4];
    lane.dropped = entry[5];
    lane.placed = lane.offered - std::min(entry[7], lane.offered);
    return lane;
  }
};

inline bool is_layout(const CaptureLayout& layout) {
  return static_cast<uint32_t>(layout.placement) <= 1 && static_cast<uint32_t>(layout.clock) <= 1 &&
         static_cast<uint32_t>(layout.policy) <= 2 && layout.num_blocks != 0 &&
         layout.num_groups != 0 && layout.lanes() <= kMaxLanes && layout.max_records != 0;
}

// Everything but the lanes. A block that cannot be true is none, and is a problem.
inline SideBlock read_side_block(const uint64_t* words, size_t available, ProblemTally& problems) {
  SideBlock side;
  if (words == nullptr || available == 0) return side;
  const auto bad = [&problems] {
    problems.add(ProblemKind::BadSideBlock);
    return SideBlock();
  };
  if (available < kSideHeaderWords || words[0] != kSideMagic ||
      low_half(words[1]) != kSideVersion || high_half(words[1]) < kSideHeaderWords) {
    return bad();
  }
  CaptureLayout& layout = side.layout;
  layout.placement = static_cast<CaptureLayout::Placement>(low_half(words[2]));
  layout.clock = static_cast<CaptureLayout::Clock>(high_half(words[2]));
  layout.num_blocks = low_half(words[3]);
  layout.num_groups = high_half(words[3]);
  layout.write_stride = low_half(words[4]);
  layout.max_records = high_half(words[4]);
  layout.launch_id = words[6];
  layout.policy = static_cast<CaptureLayout::Policy>(low_half(words[7]));
  layout.extension = (high_half(words[7]) & 1) != 0;
  layout.first_block = low_half(words[8]);
  layout.block_after_last = high_half(words[8]);
  layout.every_block = low_half(words[9]);
  layout.every_tile = high_half(words[9]);
  layout.first_tile = low_half(words[10]);
  layout.tile_after_last = high_half(words[10]);
  layout.event_cost_ps = low_half(words[14]);
  side.num_slots = words[5];
  side.lane_offset = low_half(words[11]);
  side.lane_words = high_half(words[11]);
  side.size = low_half(words[13]);
  // None of the sums below can overflow: lanes and lane words are bounded first.
  if (!is_layout(layout) || side.num_slots < layout.num_slots() || side.size > available ||
      side.lane_offset < kSideHeaderWords || side.lane_words < kSideLaneWords ||
      side.lane_offset + layout.lanes() * side.lane_words > side.size) {
    return bad();
  }
  side.words = words;
  if (layout.event_cost_ps > kMaxEventCostPs) {
    layout.event_cost_ps = 0;
    problems.add(ProblemKind::ImpossibleTime);
  }
  return side;
}

inline Names read_names(const SideBlock& side, ProblemTally& problems) {
  Names names;
  if (side.words == nullptr) return names;
  const uint64_t offset = low_half(side.words[12]), bytes = high_half(side.words[12]);
  if (offset == 0 || bytes == 0) return names;
  if (offset > side.size || bytes > (side.size - offset) * sizeof(uint64_t)) {
    problems.add(ProblemKind::BadNames);
    return names;
  }
  std::string_view json(reinterpret_cast<const char*>(side.words + offset), bytes);
  json = json.substr(0, json.find('\0'));  // zero bytes pad it, whatever `bytes` includes
  if (!names_from_json(json, names)) problems.add(ProblemKind::BadNames);
  return names;
}

// The parts of a capture that lie one behind the other.
struct CaptureParts {
  size_t region_words = 0;
  const uint64_t* side = nullptr;
  size_t side_words = 0;  // all that follows the region, the ending of a dump left out
};

inline CaptureParts find_parts(const uint64_t* words, size_t n, ProblemTally& problems) {
  CaptureParts parts;
  const auto is_side = [&](size_t at, size_t end) {
    return at < end && words[at] == kSideMagic && (end - at < 6 || words[at + 5] == at);
  };
  const auto found = [&](size_t at, size_t end) {
    parts = {at, words + at, end - at};
    return parts;
  };
  const bool has_ending = n >= 2 && words[n - 1] == kSideMagic;
  const size_t end = has_ending ? n - 2 : n;
  if (has_ending && words[n - 2] <= end) {
    const size_t around = end - static_cast<size_t>(words[n - 2]);
    if (is_side(around, end)) return found(around, end);
    if (is_side(around / 2, end)) return found(around / 2, end);
  }
  for (size_t at = 1; at < end; ++at) {
    if (is_side(at, end)) return found(at, end);
  }
  if (has_ending) problems.add(ProblemKind::BadSideBlock);
  parts.region_words = end;
  return parts;
}

}  // namespace detail
}  // namespace ws
