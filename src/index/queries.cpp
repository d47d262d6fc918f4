// SPDX-License-Identifier: Apache-2.0
#include "index/queries.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "index/cancel_watch.hpp"
#include "index/event_reader.hpp"

namespace gpufl::index {
namespace {

constexpr uint64_t kMaxRowsRead = 4'000'000;
constexpr uint64_t kMaxRowsOfEdges = 40'000'000;

using SumsByName = std::unordered_map<uint32_t, NameSum>;

void add_to(SumsByName& sums, uint32_t name, int64_t start, int64_t end, int64_t from, int64_t to) {
  if (start >= to || reach_of(start, end) <= from) return;
  NameSum& sum = sums[name];
  sum.name = name;
  ++(start >= from ? sum.count : sum.reaching);
  sum.busy_ns += static_cast<uint64_t>(std::min(end, to) - std::max(start, from));
}

class RangeSums {
 public:
  RangeSums(std::vector<TrackKey> tracks, int64_t from, int64_t to, const Cancelled& is_cancelled)
      : tracks_(std::move(tracks)),
        from_(from),
        to_(to),
        watch_(is_cancelled),
        totals_(tracks_.size()),
        sums_(tracks_.size()) {
    for (size_t i = 0; i < tracks_.size(); ++i) places_.emplace(tracks_[i], i);
  }

  base::Status add(const WindowSource& window) {
    const WindowIndex& index = window.index();
    if (!index.span.reaches(from_, to_)) return {};
    WantedTracks wanted{std::vector<bool>(index.tracks.size()), from_, to_};
    std::vector<size_t> place_of(index.tracks.size());
    for (size_t i = 0; i < index.tracks.size(); ++i) {
      const auto place = places_.find(index.tracks[i]);
      if (place == places_.end()) continue;
      wanted.is_wanted[i] = true;
      place_of[i] = place->second;
    }
    const bool is_inside = index.span.first >= from_ && index.span.last < to_;
    rows_read_ += rows_to_read(index, wanted);
    if (!is_inside && rows_read_ > kMaxRowsOfEdges) {
      return {base::Code::LimitReached, "the range holds too many events to add up; narrow it"};
    }
    if (is_inside && rows_read_ > kMaxRowsRead) {
      add_totals(index, wanted, place_of);
      return {};
    }
    std::vector<uint32_t> lines;
    base::Status status = read_events(
        window, wanted,
        [&](const IndexedBatch& batch, uint32_t track, uint32_t, const Event& event) {
          const uint32_t name = index.label_of(index.tracks[track].kind, event.name);
          add_to(sums_[place_of[track]], name, event.start, event.end, from_, to_);
          return watch_.goes_on(batch.line);
        },
        &lines);
    if (watch_.is_over()) return CancelWatch::status();
    if (!status) return status;
    for (const IndexedLane& lane : index.lanes) {
      if (!wanted.is_wanted[lane.track]) continue;
      for (const KeptEvent& kept : lane.kept) {
        if (std::binary_search(lines.begin(), lines.end(), kept.line)) continue;
        add_to(sums_[place_of[lane.track]], kept.name, kept.start, kept.end, from_, to_);
      }
    }
    return {};
  }

  void add_open(const Windows& windows, int64_t until) {
    for (const auto& [key, open] : open_scopes(windows, until)) {
      const auto place = places_.find(key);
      if (place == places_.end()) continue;
      add_to(sums_[place->second], open.event.name, open.event.start, open.event.end, from_, to_);
    }
  }

  std::vector<TrackSum> finish() {
    std::vector<TrackSum> result = std::move(totals_);
    for (size_t i = 0; i < tracks_.size(); ++i) {
      TrackSum& sum = result[i];
      sum.key = tracks_[i];
      for (const auto& [id, name] : sums_[i]) {
        sum.count += name.count;
        sum.reaching += name.reaching;
        sum.busy_ns += name.busy_ns;
        sum.names.push_back(name);
      }
      std::sort(sum.names.begin(), sum.names.end(), [](const NameSum& a, const NameSum& b) {
        return std::tie(b.busy_ns, a.name) < std::tie(a.busy_ns, b.name);
      });
    }
    return result;
  }

 private:
  // Of a window that lies in the range as a whole.
  void add_totals(const WindowIndex& index, const WantedTracks& wanted,
                  const std::vector<size_t>& place_of) {
    for (const IndexedLane& lane : index.lanes) {
      if (!wanted.is_wanted[lane.track]) continue;
      TrackSum& sum = totals_[place_of[lane.track]];
      sum.count += lane.events;
      sum.busy_ns += lane.busy;
      sum.has_all_names = false;
    }
  }

  const std::vector<TrackKey> tracks_;
  int64_t from_, to_;
  uint64_t rows_read_ = 0;
  CancelWatch watch_;
  std::unordered_map<TrackKey, size_t, TrackKeyHash> places_;
  std::vector<TrackSum> totals_;  // of windows that were not read
  std::vector<SumsByName> sums_;
};

}  // namespace

std::vector<TrackInfo> list_tracks(const Windows& windows, int64_t open_until) {
  std::map<TrackKey, TrackInfo> tracks;
  const auto add = [&](const TrackKey& key, uint32_t row, uint64_t events, uint64_t busy_ns,
                       const TimeSpan& span) {
    TrackInfo& info = tracks[key];
    info.key = key;
    info.rows = std::max(info.rows, row + 1);
    info.events += events;
    info.busy_ns += busy_ns;
    info.span.include(span.first, span.last);
  };
  for (const auto& window : windows) {
    for (const IndexedLane& lane : window->index().lanes) {
      if (lane.events == 0) continue;
      add(window->index().tracks[lane.track], lane.row, lane.events, lane.busy, lane.span);
    }
  }
  for (const auto& [key, open] : open_scopes(windows, open_until)) {
    const TimeSpan span{open.event.start, open.event.end};
    add(key, open.depth, 1, static_cast<uint64_t>(span.last - span.first), span);
  }
  std::vector<TrackInfo> list;
  list.reserve(tracks.size());
  for (const auto& [key, info] : tracks) list.push_back(info);
  return list;
}

Durations all_durations(const Windows& windows) {
  Durations all;
  for (const auto& window : windows) all.merge(window->index().durations);
  return all;
}

base::Result<std::vector<TrackSum>> sum_range(const Windows& windows,
                                              std::span<const TrackKey> tracks, int64_t from,
                                              int64_t to, int64_t open_until,
                                              const Cancelled& is_cancelled) {
  if (base::Status status = check_range(from, to); !status) return status;
  RangeSums sums(each_once(tracks), from, to, is_cancelled);
  for (const auto& window : windows) {
    if (const base::Status status = sums.add(*window); !status) return status;
  }
  sums.add_open(windows, open_until);
  return sums.finish();
}

}  // namespace gpufl::index
