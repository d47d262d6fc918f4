// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/tables/tables.hpp"

// The rows of a session as the slices of a timeline: what each thread called and each stream ran,
// laid out in rows in which slices nest (threads) or follow each other (streams), as viewers draw
// them. Thirty bytes a slice; one thread.
namespace gpufl::timeline {

enum class SliceKind : uint8_t {
  // Of threads. At the same time, the outer one comes first.
  Scope,
  Range,  // of the table of markers, like Mark
  Mark,
  ApiCall,
  KernelCall,  // what the call behind a row took
  CopyCall,
  FillCall,
  GraphCall,
  AllocationCall,
  Wait,
  // Of streams.
  Kernel,
  Copy,
  Fill,
  Graph,
  // Of warp groups.
  WarpSpan,
  WarpInstant,
  // Of engines: rows of the batch `coverage` of Tables::others.
  Coverage,
};
inline bool is_call(SliceKind kind) {
  return kind >= SliceKind::ApiCall && kind <= SliceKind::AllocationCall;
}

// Something that has no length and opens nothing.
inline bool is_instant(SliceKind kind) {
  return kind == SliceKind::Mark || kind == SliceKind::WarpInstant;
}

struct Slice {
  int64_t start = 0, end = 0;
  SliceKind kind = SliceKind::Scope;
  uint32_t row = 0;  // of the kind's table
};

using SliceRow = std::vector<Slice>;  // by start

struct ThreadTrack {
  int64_t thread = 0;  // 0: the log does not say which
  std::vector<SliceRow> rows;
  std::string name() const {
    return thread == 0 ? "unknown thread" : "thread " + std::to_string(thread);
  }
};
struct StreamTrack {
  analysis::Lane lane;
  std::vector<SliceRow> rows;
  std::vector<SliceRow> graphs;  // launches as a whole
};

// In rows in which slices nest; what overlaps otherwise goes to further ones.
std::vector<SliceRow> lay_out_nested(SliceRow slices);

// For those who need one after the other only, and half of the memory at a time.
std::vector<ThreadTrack> thread_tracks(const analysis::Tables& tables);
std::vector<StreamTrack> stream_tracks(const analysis::Tables& tables);

struct Timeline {
  std::vector<ThreadTrack> threads;  // by thread id
  std::vector<StreamTrack> streams;  // by device, context, stream

  explicit Timeline(const analysis::Tables& tables);
  uint64_t slices() const;
};

// The table of work on a GPU, or of the calls that ask for it; null: the slice is something else.
const analysis::Work* work_of(const analysis::Tables& tables, SliceKind kind);
// What joins a piece of work with the call behind it: unique within a session, from 1; 0: nothing.
uint64_t flow_of(const analysis::Tables& tables, SliceKind kind, uint32_t row);
uint64_t flow_count(const analysis::Tables& tables);
// Whether the call is drawn, and joined with its work: where both its ends are known.
inline bool has_call(const analysis::Work& work, size_t row) {
  return work.call_start(row) != analysis::kNoTime &&
         work.call_duration(row) != analysis::kNoDuration;
}

// Slices with the same span that stand for one call are one group: what the call itself tells, and
// all the work that it brought. begin(group) and end(slice) come in the order of time.
template <typename Begin, typename End>
void walk(const SliceRow& row, Begin begin, End end) {
  std::vector<const Slice*> open;
  const auto close_until = [&](int64_t time) {
    for (; !open.empty() && open.back()->end <= time; open.pop_back()) end(*open.back());
  };
  for (size_t i = 0; i < row.size();) {
    const Slice& first = row[i];
    size_t next = i + 1;
    if (is_call(first.kind)) {
      while (next < row.size() && is_call(row[next].kind) && row[next].start == first.start &&
             row[next].end == first.end) {
        ++next;
      }
    }
    close_until(first.start);
    begin(std::span<const Slice>(row.data() + i, next - i));
    if (!is_instant(first.kind)) open.push_back(&first);
    i = next;
  }
  close_until(INT64_MAX);
}

}  // namespace gpufl::timeline
