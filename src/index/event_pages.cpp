// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "index/cancel_watch.hpp"
#include "index/event_reader.hpp"
#include "index/queries.hpp"

namespace gpufl::index {
namespace {

constexpr uint64_t kMaxRowsRead = 4'000'000;  // of a page

// Of the same event alike, whether its batch was read or the index kept it.
auto identity(const FoundEvent& found) {
  const EventPlace& place = found.event.place;
  return std::make_tuple(found.event.start, found.key, found.event.is_open, place.channel,
                         place.window, place.line, place.row);
}

// The first events of a range, of which it never holds many more than are asked for.
class FirstEvents {
 public:
  FirstEvents(const EventsRequest& request, const Cancelled& is_cancelled)
      : request_(request),
        most_(std::max<size_t>(request.most, 1)),
        watch_(is_cancelled),
        tracks_(request.tracks.begin(), request.tracks.end()),
        labels_(request.labels.begin(), request.labels.end()) {}

  base::Status read(const Windows& windows) {
    Windows in_range;
    for (const auto& window : windows) {
      if (!window->index().span.reaches(first_reach(), request_.to)) continue;
      if (may_have_labels(window->index())) in_range.push_back(window);
    }
    OrderedRead asked;
    asked.enter = [&](const WindowSource& window) { return enter(window); };
    asked.is_needed = [&](int64_t moment, uint64_t rows) { return is_needed(moment, rows); };
    asked.visit = [&](const WindowSource& window, const IndexedBatch& batch, uint32_t track,
                      uint32_t row, const Event& event) {
      offer({window.index().tracks[track], row, shown_event(window, batch, track, event)});
      return watch_.goes_on(batch.line);
    };
    base::Status status = read_in_order(in_range, asked);
    return watch_.is_over() ? CancelWatch::status() : status;
  }
  void add_open(const Windows& windows, int64_t until) {
    for (const auto& [key, open] : open_scopes(windows, until)) {
      if (tracks_.contains(key)) offer({key, open.depth, open.event});
    }
  }

  base::Result<EventPage> finish() {
    if (unread_from_) {
      // What was not read may come before what was found.
      if (*unread_from_ <= request_.starts_from) {
        return base::Status(base::Code::LimitReached,
                            "too many events reach into the range to list them; narrow it");
      }
      next_ = std::min(next_.value_or(*unread_from_), *unread_from_);
      std::erase_if(events_, [&](const FoundEvent& found) { return found.event.start >= *next_; });
    }
    shorten();
    return EventPage{std::move(events_), next_};
  }

 private:
  // Nothing that ends before it is asked for.
  int64_t first_reach() const { return std::max(request_.from, request_.starts_from); }

  bool may_have_labels(const WindowIndex& index) const {
    if (labels_.empty() || index.durations.is_full()) return true;
    const auto names = index.durations.names();
    return std::any_of(names.begin(), names.end(), [&](const auto& one) {
      return labels_.contains(index.label_of(one.first, one.second));
    });
  }

  WantedTracks enter(const WindowSource& window) {
    const WindowIndex& index = window.index();
    WantedTracks wanted{std::vector<bool>(index.tracks.size()), first_reach(), request_.to};
    for (size_t i = 0; i < index.tracks.size(); ++i) {
      wanted.is_wanted[i] = tracks_.contains(index.tracks[i]);
    }
    for (const IndexedLane& lane : index.lanes) {
      if (!wanted.is_wanted[lane.track]) continue;
      for (const KeptEvent& kept : lane.kept) {
        offer({index.tracks[lane.track], lane.row, shown_event(window, kept)});
      }
    }
    return wanted;
  }
  bool is_needed(int64_t moment, uint64_t rows) {
    if (events_.size() > most_) shorten();
    if (next_ && moment >= *next_) return false;
    if (!watch_.goes_on()) return false;
    if (rows < kMaxRowsRead) return true;
    unread_from_ = moment;
    return false;
  }
  void offer(const FoundEvent& found) {
    const auto& [start, end, name, is_open, place] = found.event;
    if (start < request_.starts_from || start >= request_.to) return;
    if (!labels_.empty() && !labels_.contains(name)) return;
    if (reach_of(start, end) <= request_.from || (next_ && start >= *next_)) return;
    events_.push_back(found);
    if (events_.size() > room_) {
      shorten();
      room_ = std::max(4 * most_ + 1024, 2 * events_.size());
    }
  }
  // To the first of them, and those that begin together with the last of these.
  void shorten() {
    std::sort(events_.begin(), events_.end(),
              [](const FoundEvent& a, const FoundEvent& b) { return identity(a) < identity(b); });
    // An event that is kept as it is comes again with its batch.
    events_.erase(std::unique(events_.begin(), events_.end(),
                              [](const FoundEvent& a, const FoundEvent& b) {
                                return !a.event.is_open && identity(a) == identity(b);
                              }),
                  events_.end());
    if (events_.size() <= most_) return;
    size_t end = most_;
    while (end < events_.size() && events_[end].event.start == events_[end - 1].event.start) ++end;
    if (end == events_.size()) return;
    next_ = events_[end].event.start;
    events_.resize(end);
  }

  const EventsRequest& request_;
  const size_t most_;
  CancelWatch watch_;
  const std::unordered_set<TrackKey, TrackKeyHash> tracks_;
  const std::unordered_set<uint32_t> labels_;
  std::vector<FoundEvent> events_;
  std::optional<int64_t> next_;
  std::optional<int64_t> unread_from_;  // it gave up: nothing that it did not read begins before
  size_t room_ = 4 * most_ + 1024;
};

}  // namespace

base::Result<EventPage> list_events(const Windows& windows, const EventsRequest& request,
                                    int64_t open_until, const Cancelled& is_cancelled) {
  if (base::Status status = check_range(request.from, request.to); !status) return status;
  FirstEvents first(request, is_cancelled);
  first.add_open(windows, open_until);
  if (const base::Status status = first.read(windows); !status) return status;
  return first.finish();
}

}  // namespace gpufl::index
