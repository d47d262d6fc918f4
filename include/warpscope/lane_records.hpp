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

// What the buffer itself shows: how far apart the first lane with two records puts them.
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
  struct Counted {
    size_t records = 0;
    size_t last_slot = 0;
  };

  // Word 0 is the header. Extension words, where there are, are those of the same slots.
  LaneRecords(const uint64_t* words, size_t n, const uint64_t* extension, size_t extension_words) {
    for (size_t slot = 1; slot < n; ++slot) count(words[slot], slot);
    sort(words, n, extension, extension_words);
  }

  size_t lanes() const { return counted_.size(); }
  size_t total() const { return words_.size(); }
  const Counted& counted(size_t lane) const { return counted_[lane]; }
  // The lane's records in the order of slots; the caller may put them into another.
  uint64_t* words(size_t lane) { return words_.data() + begin(lane); }
  // Null: there are none.
  uint64_t* extension(size_t lane) {
    return extension_.empty() ? nullptr : extension_.data() + begin(lane);
  }

 private:
  void count(uint64_t word, size_t slot) {
    if (word == 0) return;
    const uint32_t lane = record_lane(word);
    if (lane >= counted_.size()) counted_.resize(lane + 1);
    ++counted_[lane].records;
    counted_[lane].last_slot = slot;
  }
  size_t begin(size_t lane) const { return ends_[lane] - counted_[lane].records; }

  void sort(const uint64_t* words, size_t n, const uint64_t* extension, size_t extension_words) {
    ends_.resize(counted_.size());
    size_t total = 0;
    for (size_t lane = 0; lane < counted_.size(); ++lane) {
      ends_[lane] = total;
      total += counted_[lane].records;
    }
    reserve_large(words_, total);
    words_.resize(total);
    if (extension != nullptr) extension_.resize(total);
    for (size_t slot = 1; slot < n; ++slot) {
      if (words[slot] == 0) continue;
      const size_t to = ends_[record_lane(words[slot])]++;
      words_[to] = words[slot];
      if (slot < extension_words) extension_[to] = extension[slot];
    }
  }

  std::vector<Counted> counted_;
  std::vector<size_t> ends_;
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
