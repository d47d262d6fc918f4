// SPDX-License-Identifier: Apache-2.0
#include "index/queries.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json.hpp"
#include "format/dictionaries.hpp"
#include "format/flat_row.hpp"
#include "format/limits.hpp"
#include "index/event_reader.hpp"

namespace gpufl::index {
namespace {

constexpr uint64_t kMaxRowsRead = 4'000'000;
constexpr uint64_t kMaxRowsOfEdges = 40'000'000;

base::Status cancelled() { return {base::Code::Cancelled, "the request was cancelled"}; }

// Stops reading once the request is cancelled, which it asks once a batch.
class CancelWatch {
 public:
  explicit CancelWatch(const Cancelled& is_cancelled) : is_cancelled_(is_cancelled) {}
  bool goes_on(uint32_t line) {
    if (line == line_) return !is_over_;
    line_ = line;
    is_over_ = is_cancelled_ && is_cancelled_();
    return !is_over_;
  }
  bool is_over() const { return is_over_; }

 private:
  const Cancelled& is_cancelled_;
  uint32_t line_ = 0;
  bool is_over_ = false;
};

using SumsByName = std::unordered_map<uint32_t, NameSum>;

void add_to(SumsByName& sums, uint32_t name, int64_t start, int64_t end, int64_t from, int64_t to) {
  const int64_t busy = std::min(end, to) - std::max(start, from);
  const bool begins = start >= from && start < to;
  if (busy <= 0 && !begins) return;
  NameSum& sum = sums[name];
  sum.name = name;
  if (begins) ++sum.count;
  if (busy > 0) sum.busy_ns += static_cast<uint64_t>(busy);
}

class RangeSums {
 public:
  RangeSums(std::span<const TrackKey> tracks, int64_t from, int64_t to,
            const Cancelled& is_cancelled)
      : tracks_(tracks),
        from_(from),
        to_(to),
        watch_(is_cancelled),
        totals_(tracks.size()),
        sums_(tracks.size()) {
    for (size_t i = 0; i < tracks.size(); ++i) places_.emplace(tracks[i], i);
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
    if (watch_.is_over()) return cancelled();
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

  std::vector<TrackSum> finish() {
    std::vector<TrackSum> result = std::move(totals_);
    for (size_t i = 0; i < tracks_.size(); ++i) {
      TrackSum& sum = result[i];
      sum.key = tracks_[i];
      for (const auto& [id, name] : sums_[i]) {
        sum.count += name.count;
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

  std::span<const TrackKey> tracks_;
  int64_t from_, to_;
  uint64_t rows_read_ = 0;
  CancelWatch watch_;
  std::unordered_map<TrackKey, size_t, TrackKeyHash> places_;
  std::vector<TrackSum> totals_;  // of windows that were not read
  std::vector<SumsByName> sums_;
};

// The first events of a range, of which it never holds many more than are asked for.
class FirstEvents {
 public:
  FirstEvents(std::span<const TrackKey> tracks, int64_t from, int64_t to, size_t most,
              const Cancelled& is_cancelled)
      : from_(from), to_(to), most_(most), watch_(is_cancelled) {
    tracks_.insert(tracks.begin(), tracks.end());
  }

  base::Status add(const WindowSource& window) {
    const WindowIndex& index = window.index();
    if (!index.span.reaches(from_, to_)) return {};
    WantedTracks wanted{std::vector<bool>(index.tracks.size()), from_, to_};
    for (size_t i = 0; i < index.tracks.size(); ++i) {
      wanted.is_wanted[i] = tracks_.contains(index.tracks[i]);
    }
    rows_read_ += rows_to_read(index, wanted);
    if (rows_read_ > kMaxRowsRead) {
      return {base::Code::LimitReached, "the range holds too many events to list; narrow it"};
    }
    std::vector<uint32_t> lines;
    base::Status status = read_events(
        window, wanted,
        [&](const IndexedBatch& batch, uint32_t track, uint32_t row, const Event& event) {
          offer(window, track, row, batch.line, event.row, event.start, event.end,
                index.label_of(index.tracks[track].kind, event.name));
          return watch_.goes_on(batch.line);
        },
        &lines);
    if (watch_.is_over()) return cancelled();
    if (!status) return status;
    for (const IndexedLane& lane : index.lanes) {
      if (!wanted.is_wanted[lane.track]) continue;
      for (const KeptEvent& kept : lane.kept) {
        if (std::binary_search(lines.begin(), lines.end(), kept.line)) continue;
        offer(window, lane.track, lane.row, kept.line, kept.row, kept.start, kept.end, kept.name);
      }
    }
    return {};
  }

  EventPage finish() {
    shorten();
    return {std::move(events_), next_};
  }

 private:
  void offer(const WindowSource& window, uint32_t track, uint32_t row, uint32_t line,
             uint32_t row_of_batch, int64_t start, int64_t end, uint32_t name) {
    if (start < from_ || start >= to_ || (next_ && start >= *next_)) return;
    events_.push_back({window.index().tracks[track],
                       row,
                       {start,
                        end,
                        name,
                        false,
                        {window.file().channel, window.file().number, line, row_of_batch}}});
    if (events_.size() > room_) {
      shorten();
      room_ = std::max(4 * most_ + 1024, 2 * events_.size());
    }
  }
  // To the first of them, and those that begin together with the last of these.
  void shorten() {
    std::sort(events_.begin(), events_.end(), [](const FoundEvent& a, const FoundEvent& b) {
      return std::tie(a.event.start, a.key, a.row) < std::tie(b.event.start, b.key, b.row);
    });
    if (events_.size() <= most_) return;
    size_t end = most_;
    while (end < events_.size() && end > 0 &&
           events_[end].event.start == events_[end - 1].event.start) {
      ++end;
    }
    if (end == events_.size()) return;
    next_ = events_[end].event.start;
    events_.resize(end);
  }

  const int64_t from_, to_;
  const size_t most_;
  CancelWatch watch_;
  std::unordered_set<TrackKey, TrackKeyHash> tracks_;
  std::vector<FoundEvent> events_;
  std::optional<int64_t> next_;
  uint64_t rows_read_ = 0;
  size_t room_ = 4 * most_ + 1024;
};

// The nearest event of some names, window by window.
class NearestEvent {
 public:
  NearestEvent(const SearchRequest& request, const Cancelled& is_cancelled)
      : request_(request), watch_(is_cancelled), names_(request.names) {
    std::sort(names_.begin(), names_.end());
  }

  base::Status look_in(const WindowSource& window) {
    const WindowIndex& index = window.index();
    WantedTracks wanted{std::vector<bool>(index.tracks.size())};
    for (const IndexedLane& lane : index.lanes) {
      const TrackKind kind = index.tracks[lane.track].kind;
      if (!is_wanted(kind) || lane.row == kMaxRows) continue;
      if (lane.has_buckets) wanted.is_wanted[lane.track] = true;
      for (const KeptEvent& kept : lane.kept) {
        offer(window, lane.track, lane.row, kept.line, kept.row, kept.start, kept.end, kept.name);
      }
    }
    // Only what is nearer than what is known already has to be read.
    (request_.is_backward ? wanted.to : wanted.from) = request_.after;
    if (found_ && request_.is_backward) wanted.from = found_->event.start;
    if (found_ && !request_.is_backward) wanted.to = found_->event.start;
    base::Status status = read_events(
        window, wanted,
        [&](const IndexedBatch& batch, uint32_t track, uint32_t row, const Event& event) {
          const uint32_t name = index.label_of(index.tracks[track].kind, event.name);
          // Nothing that comes later in the file is nearer than what is found, but for the few
          // that come late.
          if (!request_.is_backward && found_ && batch.work.first > found_->event.start) {
            return false;
          }
          offer(window, track, row, batch.line, event.row, event.start, event.end, name);
          return watch_.goes_on(batch.line);
        });
    return watch_.is_over() ? cancelled() : status;
  }
  // Whether a window may have something nearer.
  bool may_have(const TimeSpan& span) const {
    if (span.empty()) return false;
    if (request_.is_backward) {
      return span.first < request_.after && (!found_ || span.last >= found_->event.start);
    }
    return span.last >= request_.after && (!found_ || span.first <= found_->event.start);
  }
  const std::optional<FoundEvent>& found() const { return found_; }

 private:
  bool is_wanted(TrackKind kind) const {
    return std::find(request_.kinds.begin(), request_.kinds.end(), kind) != request_.kinds.end();
  }
  void offer(const WindowSource& window, uint32_t track, uint32_t row, uint32_t line,
             uint32_t row_of_batch, int64_t start, int64_t end, uint32_t name) {
    const bool is_ahead = request_.is_backward ? start < request_.after : start >= request_.after;
    if (!is_ahead || !std::binary_search(names_.begin(), names_.end(), name)) return;
    if (found_ &&
        (request_.is_backward ? start <= found_->event.start : start >= found_->event.start)) {
      return;
    }
    FoundEvent& found = found_.emplace();
    found.key = window.index().tracks[track];
    found.row = row;
    found.event = {
        start, end, name, false, {window.file().channel, window.file().number, line, row_of_batch}};
  }

  const SearchRequest& request_;
  CancelWatch watch_;
  std::vector<uint32_t> names_;
  std::optional<FoundEvent> found_;
};

uint64_t count_of(const WindowIndex& index, const SearchRequest& request,
                  const std::vector<uint32_t>& names) {
  uint64_t count = 0;
  for (const auto& [kind, id] : index.durations.names()) {
    if (std::find(request.kinds.begin(), request.kinds.end(), kind) == request.kinds.end()) {
      continue;
    }
    const uint32_t label = index.label_of(kind, id);
    if (!std::binary_search(names.begin(), names.end(), label)) continue;
    count += index.durations.events(kind, id);
  }
  return count;
}

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
                                              int64_t to, const Cancelled& is_cancelled) {
  RangeSums sums(tracks, from, to, is_cancelled);
  for (const auto& window : windows) {
    if (const base::Status status = sums.add(*window); !status) return status;
  }
  return sums.finish();
}

base::Result<EventPage> list_events(const Windows& windows, std::span<const TrackKey> tracks,
                                    int64_t from, int64_t to, size_t most,
                                    const Cancelled& is_cancelled) {
  FirstEvents first(tracks, from, to, std::max<size_t>(most, 1), is_cancelled);
  for (const auto& window : windows) {
    if (const base::Status status = first.add(*window); !status) return status;
  }
  return first.finish();
}

base::Result<SearchOutcome> search(const Windows& windows, const SearchRequest& request,
                                   const Cancelled& is_cancelled) {
  SearchOutcome outcome;
  std::vector<uint32_t> names = request.names;
  std::sort(names.begin(), names.end());
  std::vector<std::pair<const WindowSource*, uint64_t>> candidates;
  for (const auto& window : windows) {
    const uint64_t count = count_of(window->index(), request, names);
    outcome.count += count;
    if (count != 0) candidates.emplace_back(window.get(), count);
  }
  // The nearest window first, so that most of the others need not be read.
  std::sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    const TimeSpan& one = a.first->index().span;
    const TimeSpan& other = b.first->index().span;
    return request.is_backward ? one.last > other.last : one.first < other.first;
  });
  NearestEvent nearest(request, is_cancelled);
  for (const auto& [window, count] : candidates) {
    if (!nearest.may_have(window->index().span)) continue;
    if (const base::Status status = nearest.look_in(*window); !status) return status;
  }
  outcome.found = nearest.found();
  return outcome;
}

base::Result<std::string> read_row(const Windows& windows, const EventPlace& place) {
  for (const auto& window : windows) {
    if (window->file().channel != place.channel || window->file().number != place.window) continue;
    const std::vector<IndexedBatch>& batches = window->index().batches;
    const auto batch = std::find_if(batches.begin(), batches.end(), [&](const IndexedBatch& entry) {
      return entry.line == place.line;
    });
    if (batch == batches.end() || place.row >= batch->rows) break;
    format::Dictionaries dictionaries;
    base::Status status = window->read_dictionaries([&](std::string_view text) {
      const auto line = base::Json::parse(text, format::kMaxObjectLineBytes);
      if (line) (void)dictionaries.define(*line);
      return true;
    });
    if (!status) return status;
    std::string text;
    const size_t number = static_cast<size_t>(batch - batches.begin());
    status =
        window->read(std::span(&number, 1), [&](const IndexedBatch&, const format::Batch& rows) {
          format::Batch one(rows.kind());
          for (size_t i = 0; i < rows.kind_spec().columns.size(); ++i) {
            if (rows.has(i)) {
              one.mutable_column(i).assign(1, rows.column(i)[place.row]);
            }
          }
          one.set_rows(1);
          format::FlatRows().append(one, dictionaries, text);
          return false;
        });
    if (!status) return status;
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  return base::Status(base::Code::NotFound, "the session has no such event");
}

}  // namespace gpufl::index
