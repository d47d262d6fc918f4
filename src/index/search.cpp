// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "index/cancel_watch.hpp"
#include "index/event_reader.hpp"
#include "index/queries.hpp"

namespace gpufl::index {
namespace {

bool is_wanted(const SearchRequest& request, TrackKind kind) {
  return std::find(request.kinds.begin(), request.kinds.end(), kind) != request.kinds.end();
}

// The nearest event of some names, window by window.
class NearestEvent {
 public:
  // `names`: sorted.
  NearestEvent(const SearchRequest& request, const std::vector<uint32_t>& names,
               const Cancelled& is_cancelled)
      : request_(request), names_(names), watch_(is_cancelled) {}

  base::Status look_in(const Windows& windows) {
    OrderedRead asked;
    asked.is_backward = request_.is_backward;
    asked.enter = [&](const WindowSource& window) { return enter(window); };
    asked.is_needed = [&](int64_t moment, uint64_t) {
      return (!found_ || is_nearer(moment, found_->event.start)) && watch_.goes_on();
    };
    asked.visit = [&](const WindowSource& window, const IndexedBatch& batch, uint32_t track,
                      uint32_t row, const Event& event) {
      offer({window.index().tracks[track], row, shown_event(window, batch, track, event)});
      return watch_.goes_on(batch.line);
    };
    base::Status status = read_in_order(windows, asked);
    return watch_.is_over() ? CancelWatch::status() : status;
  }
  void offer(const FoundEvent& event) {
    const int64_t start = event.event.start;
    const bool is_ahead = request_.is_backward ? start < request_.after : start >= request_.after;
    if (!is_ahead || !std::binary_search(names_.begin(), names_.end(), event.event.name)) return;
    if (!found_ || is_nearer(start, found_->event.start)) found_ = event;
  }
  // Whether something in a window may be ahead.
  bool may_have(const TimeSpan& span) const {
    if (span.empty()) return false;
    return request_.is_backward ? span.first < request_.after : span.last >= request_.after;
  }
  const std::optional<FoundEvent>& found() const { return found_; }

 private:
  bool is_nearer(int64_t moment, int64_t than) const {
    return request_.is_backward ? moment > than : moment < than;
  }
  WantedTracks enter(const WindowSource& window) {
    const WindowIndex& index = window.index();
    WantedTracks wanted{std::vector<bool>(index.tracks.size())};
    for (const IndexedLane& lane : index.lanes) {
      if (!is_wanted(request_, index.tracks[lane.track].kind)) continue;
      if (lane.has_buckets) wanted.is_wanted[lane.track] = true;
      for (const KeptEvent& kept : lane.kept) {
        offer({index.tracks[lane.track], lane.row, shown_event(window, kept)});
      }
    }
    // Only what is nearer than what is known already has to be read.
    (request_.is_backward ? wanted.to : wanted.from) = request_.after;
    if (found_) (request_.is_backward ? wanted.from : wanted.to) = found_->event.start;
    return wanted;
  }

  const SearchRequest& request_;
  const std::vector<uint32_t>& names_;
  CancelWatch watch_;
  std::optional<FoundEvent> found_;
};

uint64_t count_of(const WindowIndex& index, const SearchRequest& request,
                  const std::vector<uint32_t>& names) {
  uint64_t count = 0;
  for (const auto& [kind, id] : index.durations.names()) {
    if (!is_wanted(request, kind)) continue;
    const uint32_t label = index.label_of(kind, id);
    if (!std::binary_search(names.begin(), names.end(), label)) continue;
    count += index.durations.events(kind, id);
  }
  return count;
}

}  // namespace

base::Result<SearchOutcome> search(const Windows& windows, const SearchRequest& request,
                                   int64_t open_until, const Cancelled& is_cancelled) {
  SearchOutcome outcome;
  std::vector<uint32_t> names = request.names;
  std::sort(names.begin(), names.end());
  NearestEvent nearest(request, names, is_cancelled);
  for (const auto& [key, open] : open_scopes(windows, open_until)) {
    if (!is_wanted(request, key.kind)) continue;
    if (std::binary_search(names.begin(), names.end(), open.event.name)) ++outcome.count;
    nearest.offer({key, open.depth, open.event});
  }
  Windows candidates;
  for (const auto& window : windows) {
    const uint64_t count = count_of(window->index(), request, names);
    outcome.count += count;
    if (count != 0 && nearest.may_have(window->index().span)) candidates.push_back(window);
  }
  if (const base::Status status = nearest.look_in(candidates); !status) return status;
  outcome.found = nearest.found();
  return outcome;
}

}  // namespace gpufl::index
