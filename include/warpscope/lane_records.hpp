// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/dialect.hpp>
#include <warpscope/large_pages.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// A v1 region sorted by lane: two passes over its words, whatever their placement.
namespace ws {
namespace detail {

// Where slots belong to which lane, as far as that is known.
struct SlotPattern {
  size_t base = 1;
  size_t row = 0;            // slots from one row to the next; 0: unknown
  bool row_is_lane = false;  // else a row has one slot of each lane
};

// What the buffer itself shows: how far apart the lane of its first record puts two of them.
inline SlotPattern infer_pattern(const uint64_t* words, size_t n) {
  SlotPattern pattern;
  size_t first = 1;
  while (first < n && words[first] == 0) ++first;
  for (size_t slot = first + 1; slot < n; ++slot) {
    if (words[slot] == 0 || record_lane(words[slot]) != record_lane(words[first])) continue;
    pattern.row = slot - first;
    break;
  }
  return pattern;
}

inline SlotPattern known_pattern(const CaptureLayout& layout) {
  if (layout.placement == CaptureLayout::Placement::Lanes) return {2, layout.max_records, true};
  return {1, static_cast<size_t>(layout.stride()), false};
}

class LaneRecords {
 public:
  struct Entry {
    uint32_t lane = 0;
    size_t records = 0;
    size_t last_slot = 0;
    size_t begin = 0;  // in the sorted words
  };

  // Word 0 is the header. Extension words, where there are, are those of the same slots.
  LaneRecords(const uint64_t* words, size_t n, const uint64_t* extension, size_t extension_words) {
    for (size_t slot = 1; slot < n; ++slot) {
      if (words[slot] != 0) count(record_lane(words[slot]), slot);
    }
    arrange();
    sort(words, n, extension, extension_words);
  }

  // The lanes that have records, in order.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(uint32_t lane) const {
    return lane < index_.size() && index_[lane] != 0 ? &entries_[index_[lane] - 1] : nullptr;
  }
  size_t total() const { return words_.size(); }
  uint64_t lanes() const { return entries_.empty() ? 0 : uint64_t{entries_.back().lane} + 1; }
  // The lane's records in the order of slots; the caller may put them into another.
  uint64_t* words(const Entry& entry) { return words_.data() + entry.begin; }
  // Null: there are none.
  uint64_t* extension(const Entry& entry) {
    return extension_.empty() ? nullptr : extension_.data() + entry.begin;
  }

 private:
  void count(uint32_t lane, size_t slot) {
    if (lane >= index_.size()) index_.resize(lane + 1);
    uint32_t& index = index_[lane];
    if (index == 0) {
      entries_.push_back({lane});
      index = static_cast<uint32_t>(entries_.size());
    }
    Entry& entry = entries_[index - 1];
    ++entry.records;
    entry.last_slot = slot;
  }

  void arrange() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.lane < b.lane; });
    size_t begin = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      index_[entries_[i].lane] = static_cast<uint32_t>(i + 1);
      entries_[i].begin = begin;
      begin += entries_[i].records;
    }
  }

  void sort(const uint64_t* words, size_t n, const uint64_t* extension, size_t extension_words) {
    std::vector<size_t> next;
    for (const Entry& entry : entries_) next.push_back(entry.begin);
    const size_t total = entries_.empty() ? 0 : entries_.back().begin + entries_.back().records;
    reserve_large(words_, total);
    words_.resize(total);
    if (extension != nullptr) extension_.resize(total);
    for (size_t slot = 1; slot < n; ++slot) {
      if (words[slot] == 0) continue;
      const size_t to = next[index_[record_lane(words[slot])] - 1]++;
      words_[to] = words[slot];
      if (slot < extension_words) extension_[to] = extension[slot];
    }
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> index_;  // of a lane's entry, from 1; 0: it has none
  std::vector<uint64_t> words_, extension_;
};

// Records in slots that belong to another lane.
inline void find_aliased(const uint64_t* words, size_t n, const SlotPattern& pattern,
                         ProblemTally& problems) {
  // Rows of one slot are lanes that lie in one piece, of unknown length: nothing to compare with.
  if (pattern.row <= 1) return;
  uint64_t aliased = 0;
  uint32_t first = kNoLane;
  for (size_t begin = pattern.base, row = 0; begin < n; begin += pattern.row, ++row) {
    const size_t end = std::min(n, begin + pattern.row);
    for (size_t slot = begin; slot < end; ++slot) {
      const size_t owner = pattern.row_is_lane ? row : slot - begin;
      if (words[slot] == 0 || record_lane(words[slot]) == owner) continue;
      ++aliased;
      first = std::min(first, record_lane(words[slot]));
    }
  }
  problems.add(ProblemKind::AliasedLanes, aliased, first);
}

}  // namespace detail
}  // namespace ws
