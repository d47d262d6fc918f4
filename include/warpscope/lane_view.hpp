// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <warpscope/lane_records.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// One lane made ready for pairing: its records in the order of the program, what is left over from
// an earlier launch cut off, and the clock of its first record in 64 bits.
namespace ws {
namespace detail {

inline constexpr size_t kNoGap = std::numeric_limits<size_t>::max();
// How far before its anchor a lane's first record may be stamped: both are read close to each
// other, and the timer of some GPUs advances by about a thousand at once.
inline constexpr uint32_t kEarlyLimit = 4096;

struct LaneView {
  uint32_t lane = 0;
  SideLane side;
  uint64_t* words = nullptr;
  uint64_t* extension = nullptr;
  size_t records = 0;  // without the finalize
  bool has_finalize = false;
  uint32_t finalize_clock = 0;
  size_t gap = kNoGap;    // index of the first record behind overwritten ones
  uint64_t gap_skip = 0;  // whole turns of the clock that passed there

  bool anchored = false;
  uint64_t clock = 0;                        // of the first record
  double cycles_per_ns = 0;                  // 0: the clock counts nanoseconds
  uint64_t anchor_clock = 0, anchor_ns = 0;  // cycle clock

  bool has_time() const { return records != 0 || has_finalize; }
  bool finalised() const { return has_finalize || side.finalised; }
  uint32_t first_clock() const { return records != 0 ? high_half(words[0]) : finalize_clock; }
  uint64_t ns(uint64_t at) const {
    if (cycles_per_ns == 0) return at;
    const auto cycles = static_cast<double>(static_cast<int64_t>(at - anchor_clock));
    const double since = std::clamp(cycles / cycles_per_ns + 0.5, -4e18, 4e18);
    auto whole = static_cast<int64_t>(since);
    whole -= since < static_cast<double>(whole) ? 1 : 0;  // floor()
    return static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(anchor_ns) + whole, 0));
  }
  // At least 2^31 behind the anchor of init.
  bool is_late() const {
    return anchored && gap == kNoGap &&
           static_cast<int64_t>(clock - anchor_clock) >= int64_t{1} << 31;
  }
};

// Splits off the finalize, and what it or the kernel's own count shows to be of an earlier launch.
inline void cut_lane(LaneView& view, size_t total, uint64_t room, ProblemTally& problems) {
  const bool counted = view.side.finalised;
  const uint64_t expected = counted ? std::min(view.side.placed, room) : kNoGap;
  uint64_t stale = 0;
  bool early = false;  // a finalize in front of records that the kernel counted
  for (size_t i = 0; i < total; ++i) {
    const bool is_finalize = record_type(view.words[i]) == RecordType::Finalize;
    if (is_finalize && (!view.has_finalize || early)) {
      stale += early ? 1 : 0;
      early = counted && view.records < expected;
      view.has_finalize = true;
      view.finalize_clock = high_half(view.words[i]);
    } else if (is_finalize || view.records >= expected || (view.has_finalize && !counted)) {
      ++stale;
    } else {
      view.words[view.records] = view.words[i];
      if (view.extension != nullptr) view.extension[view.records] = view.extension[i];
      ++view.records;
    }
  }
  problems.add(ProblemKind::StaleTail, stale, view.lane);
}

// Where a ring's clock goes back: its oldest record. `end` when it does not.
inline size_t oldest_by_clock(const uint64_t* words, size_t begin, size_t end) {
  for (size_t i = begin + 1; i < end; ++i) {
    if ((high_half(words[i]) - high_half(words[i - 1])) >> 31 != 0) return i;
  }
  return end;
}

// Policies last and both: puts the ring behind the first `head` slots into the order of time.
inline void rotate_lane(LaneView& view, CaptureLayout::Policy policy, uint64_t room) {
  const bool counted = view.side.finalised;
  if (policy == CaptureLayout::Policy::First || room == 0 ||
      (counted && view.side.placed <= room)) {
    return;
  }
  const uint64_t head = policy == CaptureLayout::Policy::Both ? room / 2 : 0;
  if (view.records <= head) return;
  size_t oldest = view.records;
  if (counted && view.records == room) {
    oldest = static_cast<size_t>(head + (view.side.placed - head) % (room - head));
  } else {
    oldest = oldest_by_clock(view.words, head, view.records);
    if (oldest == view.records && !counted && view.records < room) return;  // never was full
  }
  view.gap = head;
  if (oldest == view.records) return;
  std::rotate(view.words + head, view.words + oldest, view.words + view.records);
  if (view.extension != nullptr) {
    std::rotate(view.extension + head, view.extension + oldest, view.extension + view.records);
  }
}

// From the first record to the last, the finalize included.
inline uint64_t clock_advance(const LaneView& view) {
  uint64_t sum = 0;
  uint32_t before = view.first_clock();
  for (size_t i = 0; i < view.records; ++i) {
    sum += high_half(view.words[i]) - before;
    before = high_half(view.words[i]);
  }
  return view.has_finalize ? sum + (view.finalize_clock - before) : sum;
}

// Continues the anchor of init. Where records were overwritten, the anchor of finalize tells how
// often the clock turned over meanwhile.
inline void anchor_lane(LaneView& view, bool cycles) {
  if (!view.side.has_anchor || !view.has_time()) return;
  const uint64_t anchor = cycles ? view.side.start_cycles : view.side.start_ns;
  const uint32_t before = low_half(anchor) - view.first_clock();
  const bool is_early = view.gap != 0 && before <= std::min<uint64_t>(kEarlyLimit, anchor);
  view.anchored = true;
  view.clock = is_early ? anchor - before : anchor + (view.first_clock() - low_half(anchor));
  view.anchor_clock = anchor;
  view.anchor_ns = view.side.start_ns;
  if (view.gap == kNoGap || !view.side.finalised) return;
  const uint64_t end = cycles ? view.side.end_cycles : view.side.end_ns;
  const uint64_t last = view.clock + clock_advance(view);
  if (end <= last) return;
  const uint64_t skip = (end - last + (uint64_t{1} << 31)) >> 32 << 32;
  if (view.gap == 0) {
    view.clock += skip;
  } else {
    view.gap_skip = skip;
  }
}

// Lanes without an anchor lie within 2^31 ns of the first lane.
inline void place_lanes(std::vector<LaneView>& views) {
  uint64_t reference = 0;
  for (const LaneView& view : views) {
    if (!view.anchored) continue;
    reference = view.clock;
    break;
  }
  for (LaneView& view : views) {
    if (view.anchored || !view.has_time()) continue;
    if (reference == 0) reference = (uint64_t{1} << 40) | view.first_clock();
    const auto offset = static_cast<int32_t>(view.first_clock() - low_half(reference));
    view.clock = reference + static_cast<uint64_t>(int64_t{offset});
  }
}

// Cycles of a nanosecond for each lane: its own, else its SM's, else that of all lanes.
inline void fit_frequencies(std::vector<LaneView>& views, ProblemTally& problems) {
  struct Sum {
    double cycles = 0, ns = 0;
    void add(const SideLane& lane) {
      cycles += static_cast<double>(lane.end_cycles - lane.start_cycles);
      ns += static_cast<double>(lane.end_ns - lane.start_ns);
    }
  };
  std::map<uint16_t, Sum> of_sm;
  Sum of_all;
  for (const LaneView& view : views) {
    if (!view.side.has_frequency()) continue;
    of_sm[view.side.sm].add(view.side);
    of_all.add(view.side);
  }
  if (of_all.ns == 0) problems.add(ProblemKind::UnknownFrequency);
  for (LaneView& view : views) {
    Sum own;
    const auto sm = of_sm.find(view.side.sm);
    if (view.side.has_frequency()) {
      own.add(view.side);
    } else if (view.side.initialised && sm != of_sm.end()) {
      own = sm->second;
    } else {
      own = of_all;
    }
    view.cycles_per_ns = own.ns == 0 ? 1 : own.cycles / own.ns;
    if (view.anchored || !view.has_time()) continue;
    problems.add(ProblemKind::UnplacedLane, 1, view.lane);
    view.anchor_clock = view.clock = view.first_clock();
  }
}

// The earliest time of all lanes that have one; lanes that cannot be placed begin there.
inline uint64_t find_origin(std::vector<LaneView>& views, bool cycles) {
  uint64_t origin = std::numeric_limits<uint64_t>::max();
  for (const LaneView& view : views) {
    if (view.has_time() && (view.anchored || !cycles))
      origin = std::min(origin, view.ns(view.clock));
  }
  if (origin == std::numeric_limits<uint64_t>::max()) origin = 0;
  for (LaneView& view : views) {
    if (cycles && !view.anchored) view.anchor_ns = origin;
  }
  return origin;
}

}  // namespace detail
}  // namespace ws
