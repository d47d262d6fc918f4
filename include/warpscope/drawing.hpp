// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>

#include <warpscope/trace.hpp>

// Where the writers of pictures put each span: a viewer's track shows spans that nest, so what
// overlaps without nesting goes to further rows of its lane. Points into the trace.
namespace ws {
namespace detail {

struct DrawnSpan {
  const Span* span = nullptr;
  uint32_t row = 0;

  uint64_t begin() const { return span->begin(); }
  uint64_t end() const { return span->begin() + span->duration(); }
};

// The spans [first, last) of the drawing are those of one block and group; row by row, each in the
// order of begins.
struct DrawnLane {
  uint32_t block = 0, group = 0;
  uint16_t sm = kUnknownSm;
  uint32_t rows = 1;
  size_t first = 0, last = 0;
};

struct Drawing {
  std::vector<DrawnSpan> spans;  // of the trace, those without an end or a begin included
  std::vector<DrawnLane> lanes;  // also those that have instants only
};

// Gives each span of a lane, sorted by begin, the first row in which it nests. How many rows there
// are.
inline uint32_t assign_rows(std::vector<DrawnSpan>& spans, size_t first, size_t last) {
  std::vector<std::vector<uint64_t>> open_ends(1);
  for (size_t i = first; i < last; ++i) {
    DrawnSpan& drawn = spans[i];
    for (drawn.row = 0;; ++drawn.row) {
      if (drawn.row == open_ends.size()) open_ends.emplace_back();
      std::vector<uint64_t>& ends = open_ends[drawn.row];
      while (!ends.empty() && ends.back() <= drawn.begin()) ends.pop_back();
      if (ends.empty() || drawn.end() <= ends.back()) {
        ends.push_back(drawn.end());
        break;
      }
    }
  }
  return static_cast<uint32_t>(open_ends.size());
}

inline Drawing draw(const Trace& trace) {
  Drawing drawing;
  drawing.spans.reserve(trace.spans.size() + trace.unmatched.size());
  for (const Span& span : trace.spans) drawing.spans.push_back({&span});
  for (const Span& span : trace.unmatched) drawing.spans.push_back({&span});
  // Of two that begin together the longer one is around the other.
  std::stable_sort(drawing.spans.begin(), drawing.spans.end(),
                   [](const DrawnSpan& a, const DrawnSpan& b) {
                     return std::make_tuple(a.span->block, a.span->group, a.begin(), b.end()) <
                            std::make_tuple(b.span->block, b.span->group, b.begin(), a.end());
                   });
  std::map<std::pair<uint32_t, uint32_t>, DrawnLane> lanes;
  const auto lane_of = [&lanes](const auto& record) -> DrawnLane& {
    DrawnLane& lane = lanes[{record.block, record.group}];
    lane.block = record.block;
    lane.group = record.group;
    lane.sm = record.sm;
    return lane;
  };
  for (const Instant& instant : trace.instants) lane_of(instant);
  for (size_t first = 0, last = 0; first < drawing.spans.size(); first = last) {
    const Span& span = *drawing.spans[first].span;
    while (last < drawing.spans.size() && drawing.spans[last].span->block == span.block &&
           drawing.spans[last].span->group == span.group) {
      ++last;
    }
    DrawnLane& lane = lane_of(span);
    lane.first = first;
    lane.last = last;
    lane.rows = assign_rows(drawing.spans, first, last);
    if (lane.rows == 1) continue;
    const auto begin = drawing.spans.begin();
    std::stable_sort(begin + static_cast<ptrdiff_t>(first), begin + static_cast<ptrdiff_t>(last),
                     [](const DrawnSpan& a, const DrawnSpan& b) { return a.row < b.row; });
  }
  for (const auto& [key, lane] : lanes) drawing.lanes.push_back(lane);
  return drawing;
}

// Names by id, where the caller has them, else those of the side block.
inline std::string name_of(const std::vector<std::string>& names, uint32_t id,
                           const std::string& otherwise) {
  return id < names.size() && !names[id].empty() ? names[id] : otherwise;
}

inline const char* ending_name(Ending ending) {
  return ending == Ending::NoEnd ? "no_end" : ending == Ending::NoBegin ? "no_begin" : "complete";
}

}  // namespace detail
}  // namespace ws
