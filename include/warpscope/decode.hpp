// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/dialect.hpp>
#include <warpscope/lane_records.hpp>
#include <warpscope/lane_view.hpp>
#include <warpscope/large_pages.hpp>
#include <warpscope/pairing.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// Words become a trace. Whatever the words are, the result is what can be told from them, and
// Trace::problems what cannot; only a lack of memory throws. Takes about 8 bytes of memory a word
// besides the result.
namespace ws {
namespace detail {

class Decoder {
 public:
  Decoder(const uint64_t* words, size_t n, const DecodeOptions& options, ProblemTally& problems)
      : words_(words), n_(n), options_(options), problems_(problems) {}

  Trace decode() {
    if (n_ == 0) problems_.add(ProblemKind::WrongSize);
    Converted converted;
    if (options_.dialect != Dialect::V1 && n_ != 0) {
      converted = convert(words_, n_, options_.dialect, problems_);
      words_ = converted.words.data();
      extension_ = converted.extension.empty() ? nullptr : converted.extension.data();
      extension_words_ = converted.extension.size();
      sm_of_lane_ = &converted.sm_of_lane;
    } else {
      read_side();
    }
    LaneRecords records(words_, n_, extension_, extension_words_);
    take_shape(records);
    const SlotPattern pattern =
        side_.words != nullptr ? known_pattern(side_.layout) : infer_pattern(words_, n_);
    find_aliased(words_, n_, pattern, problems_);
    std::vector<LaneView> views = view_lanes(records);
    find_lost(records, views, pattern);
    pair(records, views);
    trace_.problems = problems_.take();
    return std::move(trace_);
  }

 private:
  bool cycles() const {
    return side_.words != nullptr && side_.layout.clock == CaptureLayout::Clock::Cycles;
  }
  uint64_t room() const { return side_.layout.max_records - 1; }

  void read_side() {
    side_ = read_side_block(options_.side, options_.side_words, problems_);
    trace_.has_side_block = side_.words != nullptr;
    if (!trace_.has_side_block) return;
    trace_.layout = side_.layout;
    trace_.names = read_names(side_, problems_);
    const uint64_t slots = side_.num_slots;
    problems_.add(ProblemKind::WrongSize,
                  std::max<uint64_t>(n_, slots) - std::min<uint64_t>(n_, slots));
    n_ = static_cast<size_t>(std::min<uint64_t>(n_, slots));
    if (!side_.layout.extension || options_.extension == nullptr) return;
    extension_ = options_.extension;
    extension_words_ = std::min(options_.extension_words, n_);
    problems_.add(ProblemKind::WrongSize, n_ - extension_words_);
  }

  void take_shape(const LaneRecords& records) {
    const uint64_t header = n_ != 0 ? words_[0] : 0;
    uint64_t blocks = low_half(header), groups = high_half(header);
    const bool is_shape = blocks != 0 && groups != 0 && blocks * groups <= kMaxLanes;
    if (side_.words != nullptr) {
      const bool differs = blocks != side_.layout.num_blocks || groups != side_.layout.num_groups;
      if (header != 0 && differs) problems_.add(ProblemKind::BadHeader);
      blocks = side_.layout.num_blocks;
      groups = side_.layout.num_groups;
    } else if (!is_shape) {
      if (n_ != 0) {
        problems_.add(header == 0 ? ProblemKind::MissingHeader : ProblemKind::BadHeader);
      }
      blocks = groups = 0;
    }
    if (options_.num_blocks != 0) blocks = options_.num_blocks;
    if (options_.num_groups != 0) groups = options_.num_groups;
    const auto needed = [&records](uint64_t per) { return (records.lanes() + per - 1) / per; };
    if (groups == 0) groups = std::max<uint64_t>(1, blocks == 0 ? 1 : needed(blocks));
    if (blocks == 0) blocks = needed(groups);
    for (const LaneRecords::Entry& entry : records.entries()) {
      if (entry.lane < blocks * groups) continue;
      problems_.add(ProblemKind::LaneOutsideShape, entry.records, entry.lane);
    }
    trace_.num_blocks = static_cast<uint32_t>(std::max(blocks, needed(groups)));
    trace_.num_groups = static_cast<uint32_t>(groups);
  }

  // Lanes that recorded something or were initialised, in order.
  std::vector<LaneView> view_lanes(LaneRecords& records) {
    std::vector<LaneView> views;
    const uint64_t known = side_.words != nullptr ? side_.layout.lanes() : 0;
    for (uint32_t lane = 0; lane < known; ++lane) {
      const LaneRecords::Entry* const entry = records.find(lane);
      const SideLane side = side_.lane(lane);
      if (entry != nullptr || side.initialised)
        views.push_back(view_lane(records, lane, entry, side));
    }
    for (const LaneRecords::Entry& entry : records.entries()) {
      if (entry.lane >= known) views.push_back(view_lane(records, entry.lane, &entry, {}));
    }
    return views;
  }

  LaneView view_lane(LaneRecords& records, uint32_t lane, const LaneRecords::Entry* entry,
                     const SideLane& side) {
    LaneView view;
    view.lane = lane;
    view.side = side;
    if (entry != nullptr) {
      view.words = records.words(*entry);
      view.extension = records.extension(*entry);
      cut_lane(view, entry->records, room(), problems_);
    }
    if (side_.words != nullptr) rotate_lane(view, side_.layout.policy, room());
    anchor_lane(view, cycles());
    problems_.add(ProblemKind::Dropped, side.dropped, lane);
    problems_.add(ProblemKind::ImpossibleTime, side.is_impossible ? 1 : 0, lane);
    if (!view.finalised() && fields_of(options_.dialect).finalizes) {
      problems_.add(ProblemKind::NotFinalised, 1, lane);
    }
    return view;
  }

  // Full lanes of which nobody counted what did not fit: the kernel drops it without a word.
  void find_lost(const LaneRecords& records, const std::vector<LaneView>& views,
                 const SlotPattern& pattern) {
    const uint64_t lanes = uint64_t{trace_.num_blocks} * trace_.num_groups;
    const uint64_t step = pattern.row != 0 ? pattern.row : lanes;
    for (const LaneView& view : views) {
      const LaneRecords::Entry* const entry = records.find(view.lane);
      if (entry == nullptr || view.side.finalised) continue;
      const size_t used = view.records + (view.has_finalize ? 1 : 0);
      bool is_full = options_.max_records != 0 && used >= options_.max_records;
      if (side_.words != nullptr) {
        is_full |= used >= (view.has_finalize ? side_.layout.max_records : room());
      } else if (used == entry->records) {  // else something older lies in the next slot
        const uint64_t next = entry->last_slot + step;
        is_full |= next >= n_ || words_[next] != 0;
      }
      problems_.add(ProblemKind::PossiblyLost, is_full ? 1 : 0, view.lane);
    }
  }

  void pair(const LaneRecords& records, std::vector<LaneView>& views) {
    if (cycles()) {
      fit_frequencies(views, problems_);
    } else {
      place_lanes(views);
    }
    const uint64_t origin = find_origin(views, cycles());
    for (const LaneView& view : views) trace_.has_origin |= view.anchored;
    trace_.origin_ns = trace_.has_origin ? origin : 0;
    reserve_large(trace_.spans, records.total() / 2);
    trace_.lanes.reserve(views.size());
    Pairing pairing(trace_, problems_, origin);
    for (const LaneView& view : views) {
      Lane& lane = trace_.lanes.emplace_back();
      lane.block = view.lane / trace_.num_groups;
      lane.group = view.lane % trace_.num_groups;
      lane.sm = view.side.sm;
      if (sm_of_lane_ != nullptr && view.lane < sm_of_lane_->size()) {
        lane.sm = (*sm_of_lane_)[view.lane];
      }
      lane.warp = view.side.warp;
      lane.cluster_rank = view.side.cluster_rank;
      lane.initialised = view.side.initialised;
      lane.finalised = view.finalised();
      lane.records = view.records;
      lane.offered = view.side.finalised ? view.side.offered : view.records;
      lane.dropped = view.side.dropped;
      lane.cycles_per_ns = view.cycles_per_ns;
      pairing.pair(view, lane);
    }
  }

  const uint64_t* words_;
  size_t n_;
  const DecodeOptions& options_;
  ProblemTally& problems_;
  const uint64_t* extension_ = nullptr;
  size_t extension_words_ = 0;
  const std::vector<uint16_t>* sm_of_lane_ = nullptr;
  SideBlock side_;
  Trace trace_;
};

}  // namespace detail

// The records of a v1 region of n words.
inline Trace decode(const uint64_t* words, size_t n, const DecodeOptions& options = {}) {
  detail::ProblemTally problems;
  return detail::Decoder(words, words == nullptr ? 0 : n, options, problems).decode();
}
inline Trace decode(const std::vector<uint64_t>& words, const DecodeOptions& options = {}) {
  return decode(words.data(), words.size(), options);
}

// The same for all that was copied back at once, or read from a dump: the v1 region and, where they
// follow it, side block and extension words.
inline Trace decode_capture(const uint64_t* words, size_t n, const DecodeOptions& options = {}) {
  if (words == nullptr || options.dialect != Dialect::V1) return decode(words, n, options);
  detail::ProblemTally problems;
  const detail::CaptureParts parts = detail::find_parts(words, n, problems);
  DecodeOptions located = options;
  if (parts.side != nullptr) {
    located.side = parts.side;
    located.side_words = parts.side_words;
    detail::ProblemTally told_by_decode;
    const detail::SideBlock side =
        detail::read_side_block(parts.side, parts.side_words, told_by_decode);
    if (side.words != nullptr) {
      located.extension = parts.side + side.size;
      located.extension_words = parts.side_words - static_cast<size_t>(side.size);
      const size_t expected = side.layout.extension ? parts.region_words : 0;
      if (located.extension_words > expected) {
        problems.add(ProblemKind::WrongSize, located.extension_words - expected);
      }
    }
  }
  return detail::Decoder(words, parts.region_words, located, problems).decode();
}
inline Trace decode_capture(const std::vector<uint64_t>& words, const DecodeOptions& options = {}) {
  return decode_capture(words.data(), words.size(), options);
}

}  // namespace ws
