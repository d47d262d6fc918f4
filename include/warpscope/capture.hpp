// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include <warpscope/names.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// What has to lie in the GPU's memory before a launch.
namespace ws {

// All words of a capture: the v1 region empty, the side block filled in and its lanes empty, the
// extension words empty. The side block begins at word layout.num_slots(). Empty when the layout is
// impossible: no block, group or slot, or more than 2^20 lanes.
inline std::vector<uint64_t> make_capture(const CaptureLayout& layout, const Names& names = {}) {
  using detail::joined;
  if (!detail::is_layout(layout)) return {};
  const bool strided = layout.placement == CaptureLayout::Placement::Strided;
  const std::string json = names.empty() ? std::string() : names_to_json(names);
  const uint64_t slots = layout.num_slots();
  const uint64_t names_offset = detail::kSideHeaderWords + layout.lanes() * detail::kSideLaneWords;
  // Extension words begin on 16 bytes, as bulk copies of them want it.
  const uint64_t named = names_offset + (json.size() + 7) / 8;
  const uint64_t side_words = named + (slots + named) % 2;
  std::vector<uint64_t> words(slots + side_words + (layout.extension ? slots : 0));
  uint64_t* const side = words.data() + slots;
  side[0] = detail::kSideMagic;
  side[1] = joined(detail::kSideVersion, detail::kSideHeaderWords);
  side[2] = joined(static_cast<uint32_t>(layout.placement), static_cast<uint32_t>(layout.clock));
  side[3] = joined(layout.num_blocks, layout.num_groups);
  side[4] = joined(strided ? layout.stride() : 0, layout.max_records);
  side[5] = slots;
  side[6] = layout.launch_id;
  side[7] = joined(static_cast<uint32_t>(layout.policy), layout.extension ? 1 : 0);
  side[8] = joined(layout.first_block, layout.block_after_last);
  side[9] = joined(layout.every_block, layout.every_tile);
  side[10] = joined(layout.first_tile, layout.tile_after_last);
  side[11] = joined(detail::kSideHeaderWords, detail::kSideLaneWords);
  side[12] = json.empty() ? 0 : joined(names_offset, json.size());
  side[13] = side_words;
  side[14] = layout.event_cost_ps;
  std::memcpy(side + names_offset, json.data(), json.size());
  return words;
}

}  // namespace ws
