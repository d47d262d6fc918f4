// SPDX-License-Identifier: Apache-2.0
#include "timeline/timeline.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/session/work_rows.hpp"
#include "format/columns.hpp"

namespace gpufl::timeline {
namespace {

using analysis::Tables;
using analysis::Work;

bool is_before(const Slice& a, const Slice& b) {
  return std::tie(a.start, b.end, a.kind, a.row) < std::tie(b.start, a.end, b.kind, b.row);
}

// Damaged logs have durations below zero and times near the end of what can be counted.
Slice make_slice(int64_t start, int64_t duration, SliceKind kind, uint32_t row) {
  return {start, analysis::saturating_add(start, std::max<int64_t>(duration, 0)), kind, row};
}

// For each row how late what it takes may end: a tree of maxima, so that the first row with room is
// found in logarithmic time however many there are. There is always an empty one.
class RowsWithRoom {
 public:
  // The first row that takes what ends then.
  size_t first(int64_t end) {
    size_t node = 1;
    while (node < rows_) node = node * 2 + (latest_[node * 2] < end ? 1 : 0);
    const size_t row = node - rows_;
    if (row + 1 == rows_) grow();
    return row;
  }
  void set(size_t row, int64_t latest_end) {
    size_t node = rows_ + row;
    latest_[node] = latest_end;
    for (node /= 2; node > 0; node /= 2) {
      latest_[node] = std::max(latest_[node * 2], latest_[node * 2 + 1]);
    }
  }

 private:
  void grow() {
    const std::vector<int64_t> before(latest_.end() - static_cast<std::ptrdiff_t>(rows_),
                                      latest_.end());
    rows_ *= 2;
    latest_.assign(rows_ * 2, INT64_MAX);
    std::copy(before.begin(), before.end(), latest_.begin() + static_cast<std::ptrdiff_t>(rows_));
    for (size_t node = rows_ - 1; node > 0; --node) {
      latest_[node] = std::max(latest_[node * 2], latest_[node * 2 + 1]);
    }
  }

  size_t rows_ = 64;  // a power of two
  std::vector<int64_t> latest_ = std::vector<int64_t>(rows_ * 2, INT64_MAX);
};

// Puts slices into the first row where they fit; almost always that is the first of all.
class RowLayout {
 public:
  explicit RowLayout(bool may_nest) : may_nest_(may_nest) {}

  std::vector<SliceRow> lay_out(SliceRow slices) {
    if (!std::is_sorted(slices.begin(), slices.end(), is_before)) {
      std::sort(slices.begin(), slices.end(), is_before);
    }
    std::vector<size_t> beyond;  // those that do not fit the first row
    std::vector<SliceRow> rows(1);
    Ends first;
    for (size_t i = 0; i < slices.size(); ++i) {
      if (!take(first, slices[i])) beyond.push_back(i);
    }
    for (const size_t i : beyond) rows_after_first(slices[i], rows);
    size_t kept = beyond.empty() ? slices.size() : beyond[0];
    for (size_t i = kept, skip = 0; i < slices.size(); ++i) {
      if (skip < beyond.size() && beyond[skip] == i) {
        ++skip;
      } else {
        slices[kept++] = slices[i];
      }
    }
    slices.resize(kept);
    rows[0] = std::move(slices);
    return rows;
  }

 private:
  using Ends = std::vector<int64_t>;  // of the slices that are open, outermost first

  bool take(Ends& open, const Slice& slice) const {
    while (!open.empty() && open.back() <= slice.start) open.pop_back();
    if (is_instant(slice.kind)) return true;
    if (!open.empty() && (!may_nest_ || open.back() < slice.end)) return false;
    open.push_back(slice.end);
    return true;
  }
  // `row` counts from the one after the first.
  void rows_after_first(const Slice& slice, std::vector<SliceRow>& rows) {
    for (; !open_.empty() && open_.top().first <= slice.start; open_.pop()) {
      const size_t row = open_.top().second;
      ends_[row].pop_back();  // the innermost, which ends first
      note_room(row);
    }
    const size_t row = room_.first(slice.end);
    if (row == ends_.size()) {
      ends_.emplace_back();
      rows.emplace_back();
    }
    ends_[row].push_back(slice.end);
    open_.emplace(slice.end, row);
    note_room(row);
    rows[row + 1].push_back(slice);
  }
  void note_room(size_t row) {
    const Ends& open = ends_[row];
    room_.set(row, open.empty() ? INT64_MAX : may_nest_ ? open.back() : INT64_MIN);
  }

  using End = std::pair<int64_t, size_t>;  // and its row

  bool may_nest_;
  std::vector<Ends> ends_;  // by row
  RowsWithRoom room_;
  std::priority_queue<End, std::vector<End>, std::greater<>> open_;
};

}  // namespace

std::vector<SliceRow> lay_out_nested(SliceRow slices) {
  return RowLayout(true).lay_out(std::move(slices));
}

namespace {

class ThreadSlices {
 public:
  explicit ThreadSlices(const Tables& tables) {
    thread_of_caller_.reserve(tables.callers.size());
    for (const analysis::Caller& caller : tables.callers) {
      thread_of_caller_.push_back(index_of(caller.thread));
    }
    make_room(tables);
    add_scopes(tables.scopes);
    add_markers(tables.markers);
    add_spans(tables.api_calls, SliceKind::ApiCall);
    add_calls(tables.kernels, SliceKind::KernelCall);
    add_calls(tables.copies, SliceKind::CopyCall);
    add_calls(tables.fills, SliceKind::FillCall);
    add_calls(tables.graphs, SliceKind::GraphCall);
    add_calls(tables.allocations, SliceKind::AllocationCall);
    add_spans(tables.waits, SliceKind::Wait);
  }

  std::vector<ThreadTrack> finish() {
    std::vector<ThreadTrack> tracks;
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (slices_[i].empty()) continue;
      tracks.push_back({threads_[i], lay_out_nested(std::move(slices_[i]))});
    }
    std::sort(tracks.begin(), tracks.end(),
              [](const ThreadTrack& a, const ThreadTrack& b) { return a.thread < b.thread; });
    return tracks;
  }

 private:
  uint32_t index_of(int64_t thread) {
    const auto [known, is_new] = index_.try_emplace(thread, threads_.size());
    if (is_new) {
      threads_.push_back(thread);
      slices_.emplace_back();
    }
    return known->second;
  }
  // For a call behind each row of work: lists that grow have to be there twice for a while.
  void make_room(const Tables& tables) {
    std::vector<size_t> calls(slices_.size());
    for (const Work* const work : analysis::work_tables(tables)) {
      for (const uint32_t caller : work->caller) ++calls[thread_of_caller_[caller]];
    }
    for (size_t i = 0; i < calls.size(); ++i) slices_[i].reserve(calls[i]);
  }
  SliceRow& row_of(const Work& work, uint32_t row) {
    return slices_[work.caller.empty() ? index_of(0) : thread_of_caller_[work.caller[row]]];
  }
  void add_scopes(const analysis::Scopes& scopes) {
    for (uint32_t row = 0; row < scopes.rows(); ++row) {
      slices_[index_of(scopes.thread[row])].push_back(
          make_slice(scopes.start[row], scopes.duration[row], SliceKind::Scope, row));
    }
  }
  void add_markers(const analysis::Markers& markers) {
    for (uint32_t row = 0; row < markers.rows(); ++row) {
      const bool is_mark = markers.shape[row] == static_cast<uint8_t>(format::MarkerShape::Mark);
      const int64_t thread = markers.thread.empty() ? 0 : markers.thread[row];
      slices_[index_of(thread)].push_back(make_slice(markers.start[row], markers.duration[row],
                                                     is_mark ? SliceKind::Mark : SliceKind::Range,
                                                     row));
    }
  }
  void add_spans(const Work& work, SliceKind kind) {
    for (uint32_t row = 0; row < work.rows(); ++row) {
      row_of(work, row).push_back(make_slice(work.start[row], work.duration[row], kind, row));
    }
  }
  void add_calls(const Work& work, SliceKind kind) {
    if (work.api_start.empty()) return;
    for (uint32_t row = 0; row < work.rows(); ++row) {
      if (!has_call(work, row)) continue;
      row_of(work, row).push_back(
          make_slice(work.call_start(row), work.call_duration(row), kind, row));
    }
  }

  std::unordered_map<int64_t, uint32_t> index_;
  std::vector<uint32_t> thread_of_caller_;
  std::vector<int64_t> threads_;
  std::vector<SliceRow> slices_;  // by index
};

}  // namespace

std::vector<ThreadTrack> thread_tracks(const Tables& tables) {
  return ThreadSlices(tables).finish();
}

std::vector<StreamTrack> stream_tracks(const Tables& tables) {
  const size_t unknown = tables.lanes.size();  // where no lane is told
  std::vector<SliceRow> work(unknown + 1), graphs(unknown + 1);
  std::vector<size_t> rows_of_lane(unknown + 1);
  for (const Work* const table : analysis::work_tables(tables)) {
    for (const uint32_t lane : table->lane) ++rows_of_lane[lane];
  }
  for (size_t lane = 0; lane < unknown; ++lane) work[lane].reserve(rows_of_lane[lane]);
  const auto add = [&](const Work& rows, SliceKind kind, std::vector<SliceRow>& to) {
    for (uint32_t row = 0; row < rows.rows(); ++row) {
      to[rows.lane.empty() ? unknown : rows.lane[row]].push_back(
          make_slice(rows.start[row], rows.duration[row], kind, row));
    }
  };
  add(tables.kernels, SliceKind::Kernel, work);
  add(tables.copies, SliceKind::Copy, work);
  add(tables.fills, SliceKind::Fill, work);
  add(tables.graphs, SliceKind::Graph, graphs);
  std::vector<StreamTrack> tracks;
  for (size_t lane = 0; lane <= unknown; ++lane) {
    if (work[lane].empty() && graphs[lane].empty()) continue;
    StreamTrack track;
    if (lane != unknown) track.lane = tables.lanes[lane];
    track.rows = RowLayout(false).lay_out(std::move(work[lane]));
    if (!graphs[lane].empty()) track.graphs = RowLayout(false).lay_out(std::move(graphs[lane]));
    tracks.push_back(std::move(track));
  }
  std::sort(tracks.begin(), tracks.end(), [](const StreamTrack& a, const StreamTrack& b) {
    return std::tie(a.lane.device, a.lane.context, a.lane.stream) <
           std::tie(b.lane.device, b.lane.context, b.lane.stream);
  });
  return tracks;
}

namespace {

uint64_t count_slices(const std::vector<SliceRow>& rows) {
  uint64_t count = 0;
  for (const SliceRow& row : rows) count += row.size();
  return count;
}

}  // namespace

Timeline::Timeline(const Tables& tables)
    : threads(thread_tracks(tables)), streams(stream_tracks(tables)) {}

uint64_t Timeline::slices() const {
  uint64_t count = 0;
  for (const ThreadTrack& thread : threads) count += count_slices(thread.rows);
  for (const StreamTrack& stream : streams) {
    count += count_slices(stream.rows) + count_slices(stream.graphs);
  }
  return count;
}

const Work* work_of(const Tables& tables, SliceKind kind) {
  switch (kind) {
    case SliceKind::Kernel:
    case SliceKind::KernelCall: return &tables.kernels;
    case SliceKind::Copy:
    case SliceKind::CopyCall: return &tables.copies;
    case SliceKind::Fill:
    case SliceKind::FillCall: return &tables.fills;
    case SliceKind::Graph:
    case SliceKind::GraphCall: return &tables.graphs;
    default: return nullptr;
  }
}

uint64_t flow_of(const Tables& tables, SliceKind kind, uint32_t row) {
  const Work* const work = work_of(tables, kind);
  if (work == nullptr || !has_call(*work, row)) return 0;
  uint64_t flow = uint64_t{1} + row;
  switch (kind) {
    case SliceKind::Graph:
    case SliceKind::GraphCall: flow += tables.fills.rows(); [[fallthrough]];
    case SliceKind::Fill:
    case SliceKind::FillCall: flow += tables.copies.rows(); [[fallthrough]];
    case SliceKind::Copy:
    case SliceKind::CopyCall: flow += tables.kernels.rows(); [[fallthrough]];
    default: return flow;
  }
}

uint64_t flow_count(const Tables& tables) {
  return tables.kernels.rows() + tables.copies.rows() + tables.fills.rows() + tables.graphs.rows();
}

}  // namespace gpufl::timeline
