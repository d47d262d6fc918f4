// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/device.cuh>

// How a lane begins and ends, whichever way its records go in between: the header, its entry in the
// side block, its finalize record. Called by the lane's leader alone.
namespace ws::device {

// Longest wait for a tick of the timer, in reads of it: over 1 microsecond on every GPU.
inline constexpr int kMaxTickReads = 256;

struct Anchor {
  uint64_t timer;
  uint64_t cycles;
};

// Both clocks at one moment. Cycles are turned into time by two such pairs, so with the cycle clock
// this waits for the timer to tick, which else is off by up to a tick.
template <Clock kClock>
WS_DEVICE Anchor read_anchor() {
  uint64_t timer = globaltimer();
  if (kClock == Clock::Cycles) {
    const uint64_t before = timer;
    WS_NOT_UNROLLED
    for (int i = 0; i < kMaxTickReads && timer == before; ++i) timer = globaltimer();
  }
  return {timer, clock()};
}

struct LaneStart {
  bool is_captured;
  uint32_t lane;
  LanePlace place;
  uint64_t* side;  // its entry, or null
};

// Writes what is the same for every lane, which is why any leader may and each does, and the lane's
// own entry. Not captured: blocks outside of the window, and lanes that the buffer, the shape or
// the tag has no place for.
template <Clock kClock>
WS_DEVICE LaneStart begin_lane(const Capture& capture, uint32_t group) {
  store_global(capture.words, capture.num_blocks, capture.num_groups);
  if (capture.side != nullptr) {
    store_global_high(capture.side + 2, static_cast<uint32_t>(kClock));
  }
  const uint32_t block = block_index();
  const uint64_t lane = static_cast<uint64_t>(block) * capture.num_groups + group;
  LaneStart start = {};
  start.lane = static_cast<uint32_t>(lane);
  const bool has_place = capture.placement == kPlacedInLanes || lane < capture.write_stride;
  start.is_captured = block < capture.num_blocks && group < capture.num_groups &&
                      lane < kMaxLanes && has_place && capture.max_records != 0 &&
                      capture.window.has_block(block);
  if (!start.is_captured) return start;
  start.place = place_lane(capture, start.lane);
  if (capture.side != nullptr) {
    start.side = capture.side + kSideHeaderWords + lane * kSideLaneWords;
    const Anchor anchor = read_anchor<kClock>();
    store_global(start.side, anchor.timer);
    store_global(start.side + 1, anchor.cycles);
    store_global(start.side + 6, smid() | warpid() << 16, cluster_rank() | 1u << 16);
  }
  return start;
}

// The finalize record in its slot, and what the side block says of a lane that has ended. `lost`:
// dropped before there was a slot to look for.
template <Clock kClock>
WS_DEVICE void end_lane(uint64_t* records, uint32_t step, uint32_t room, uint64_t* side,
                        uint32_t tag, uint32_t time, const Anchor& anchor, uint32_t offered,
                        uint32_t lost = 0) {
  const uint32_t kept = offered < room ? offered : room;
  store_global(records + static_cast<uint64_t>(kept) * step, tag | kFinalize, time);
  if (side == nullptr) return;
  store_global(side + 2, anchor.timer);
  store_global(side + 3, anchor.cycles);
  store_global(side + 4, offered + lost);
  store_global(side + 5, offered - kept + lost);
  store_global(side + 6, smid() | warpid() << 16, cluster_rank() | 3u << 16);
  store_global(side + 7, lost);
}

template <Clock kClock>
WS_DEVICE uint32_t low_half(const Anchor& anchor) {
  return static_cast<uint32_t>(kClock == Clock::Cycles ? anchor.cycles : anchor.timer);
}

}  // namespace ws::device
