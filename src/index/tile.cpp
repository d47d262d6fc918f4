// SPDX-License-Identifier: Apache-2.0
#include "index/tile.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "index/event_reader.hpp"

namespace gpufl::index {
namespace {

constexpr uint32_t kMaxWidth = 16'384;
constexpr size_t kMaxTracks = 1024;
constexpr size_t kMaxEvents = 100'000;
// Beyond that many rows a row is shown in wider steps than asked for, which its index has.
constexpr uint64_t kMaxRowsRead = 4'000'000;
constexpr size_t kLanesBetweenLooks = 64;

int64_t reach(const TileEvent& event) { return reach_of(event.start, event.end); }

// One row of a track while it is put together: events, until there are too many of them.
class RowPicture {
 public:
  RowPicture(const TileRequest& request, unsigned shift, bool may_list)
      : request_(request), shift_(shift), may_list_(may_list) {}

  // Steps from now on, and of at least this width.
  size_t size() const { return steps_.size() + events_.size(); }

  void sum_up(unsigned at_least_shift) {
    if (!is_summed_) {
      is_summed_ = true;
      shift_ = std::max(shift_, at_least_shift);
      steps_.resize(static_cast<size_t>(last_step() - first_step() + 1));
      for (const TileEvent& event : events_) add_steps(event);
      events_.clear();
    } else if (at_least_shift > shift_) {
      widen(at_least_shift);
    }
  }
  void add(const TileEvent& event) {
    if (event.start >= request_.to || reach(event) <= request_.from) return;
    if (!is_summed_ && may_list_ && events_.size() < request_.max_events) {
      events_.push_back(event);
      return;
    }
    sum_up(shift_);
    add_steps(event);
  }
  // One of its steps, which sum_up() has made.
  void add(const Bucket& step) { steps_[static_cast<size_t>(step.at - first_step())].merge(step); }

  unsigned shift() const { return shift_; }
  int64_t first_step() const { return request_.from >> shift_; }
  int64_t last_step() const { return (request_.to - 1) >> shift_; }

  TileRow finish(uint32_t row) {
    TileRow result;
    result.row = row;
    result.is_exact = !is_summed_;
    result.shift = shift_;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].count == 0 && steps_[i].busy == 0) continue;
      result.steps.push_back(steps_[i]);
      result.steps.back().at = first_step() + static_cast<int64_t>(i);
    }
    result.events = std::move(events_);
    std::sort(result.events.begin(), result.events.end(),
              [](const TileEvent& a, const TileEvent& b) {
                return std::tie(a.start, a.end) < std::tie(b.start, b.end);
              });
    return result;
  }

 private:
  void widen(unsigned shift) {
    const std::vector<Bucket> narrow = std::move(steps_);
    const int64_t first = first_step();
    const unsigned by = shift - shift_;
    shift_ = shift;
    steps_.assign(static_cast<size_t>(last_step() - first_step() + 1), {});
    for (size_t i = 0; i < narrow.size(); ++i) {
      const int64_t at = (first + static_cast<int64_t>(i)) >> by;
      steps_[static_cast<size_t>(at - first_step())].merge(narrow[i]);
    }
  }
  void add_steps(const TileEvent& event) {
    const int64_t last = std::min((reach(event) - 1) >> shift_, last_step());
    for (int64_t at = std::max(event.start >> shift_, first_step()); at <= last; ++at) {
      const int64_t begin = std::max(event.start, at << shift_);
      const int64_t end = std::min(event.end, (at + 1) << shift_);
      const auto busy = static_cast<uint64_t>(std::max<int64_t>(end - begin, 0));
      const uint64_t count = event.start >> shift_ == at ? 1 : 0;
      add(Bucket{at, count, busy, event.name, busy});
    }
  }

  const TileRequest& request_;
  unsigned shift_;
  bool may_list_;
  bool is_summed_ = false;
  std::vector<TileEvent> events_;
  std::vector<Bucket> steps_;  // every one of the range, once there are steps
};

class TileMaker {
 public:
  // `request`: of whole steps; what is listed is of the `shown` part only.
  TileMaker(const TileRequest& request, unsigned shift, TimeSpan shown)
      : request_(request), shift_(shift), shown_(shown) {
    for (size_t i = 0; i < request.tracks.size(); ++i) places_.emplace(request.tracks[i], i);
    pictures_.resize(request.tracks.size());
  }

  base::Status add(const WindowSource& window);
  void add_open(const Windows& windows, int64_t until);

  Tile finish() {
    Tile tile;
    tile.shift = shift_;
    tile.rows_read = rows_read_;
    for (size_t i = 0; i < request_.tracks.size(); ++i) {
      TileTrack& track = tile.tracks.emplace_back();
      track.key = request_.tracks[i];
      for (auto& [row, picture] : pictures_[i]) {
        track.rows.push_back(picture.finish(row));
        std::erase_if(track.rows.back().events, [&](const TileEvent& event) {
          return event.start >= shown_.last || reach(event) <= shown_.first;
        });
      }
    }
    return tile;
  }

 private:
  // Of all rows, which are what a request takes in memory.
  size_t size() const {
    size_t entries = 0;
    for (const auto& rows : pictures_) {
      for (const auto& [row, picture] : rows) entries += picture.size();
    }
    return entries;
  }
  static base::Status too_much() {
    return {base::Code::InvalidArgument,
            "the answer would be too large; ask for fewer tracks, a smaller width or fewer events"};
  }
  RowPicture& picture(size_t track, uint32_t row) {
    return pictures_[track].try_emplace(row, request_, shift_, row != kMaxRows).first->second;
  }
  base::Status add_lane(const WindowSource& window, size_t number, size_t track);
  base::Status add_read(const WindowSource& window, const WantedTracks& wanted,
                        const std::vector<size_t>& lanes);

  const TileRequest& request_;
  const unsigned shift_;
  const TimeSpan shown_;
  std::unordered_map<TrackKey, size_t, TrackKeyHash> places_;  // in the request
  std::vector<std::map<uint32_t, RowPicture>> pictures_;       // by track, by row
  uint64_t rows_read_ = 0;
};

base::Status TileMaker::add(const WindowSource& window) {
  const WindowIndex& index = window.index();
  if (!index.span.reaches(request_.from, request_.to)) return {};
  if (size() > kMaxTileEntries) return too_much();
  WantedTracks wanted{std::vector<bool>(index.tracks.size()), request_.from, request_.to};
  std::vector<size_t> to_read;  // lanes whose buckets are wider than a step
  for (size_t i = 0; i < index.lanes.size(); ++i) {
    const IndexedLane& lane = index.lanes[i];
    const auto place = places_.find(index.tracks[lane.track]);
    if (place == places_.end() || !lane.span.reaches(request_.from, request_.to)) continue;
    if (lane.has_buckets && lane.shift > shift_) {
      to_read.push_back(i);
      wanted.is_wanted[lane.track] = true;
    } else if (base::Status status = add_lane(window, i, place->second); !status) {
      return status;
    } else if (i % kLanesBetweenLooks == 0 && size() > kMaxTileEntries) {
      return too_much();
    }
  }
  if (to_read.empty()) return {};
  if (rows_read_ + rows_to_read(index, wanted) > kMaxRowsRead) {
    for (const size_t i : to_read) {
      const size_t track = places_.at(index.tracks[index.lanes[i].track]);
      if (const base::Status status = add_lane(window, i, track); !status) return status;
    }
    return {};
  }
  return add_read(window, wanted, to_read);
}

base::Status TileMaker::add_lane(const WindowSource& window, size_t number, size_t track) {
  const IndexedLane& lane = window.index().lanes[number];
  RowPicture& row = picture(track, lane.row);
  for (const KeptEvent& kept : lane.kept) row.add(shown_event(window, kept));
  if (!lane.has_buckets) return {};
  row.sum_up(lane.shift);
  return window.visit(number, row.shift(), row.first_step(), row.last_step(),
                      [&](const Bucket& bucket) { row.add(bucket); });
}

base::Status TileMaker::add_read(const WindowSource& window, const WantedTracks& wanted,
                                 const std::vector<size_t>& lanes) {
  const WindowIndex& index = window.index();
  std::map<std::pair<uint32_t, uint32_t>, RowPicture*> rows;
  for (const size_t i : lanes) {
    const IndexedLane& lane = index.lanes[i];
    rows[{lane.track, lane.row}] = &picture(places_.at(index.tracks[lane.track]), lane.row);
  }
  std::vector<uint32_t> lines;
  uint32_t line = 0;
  bool is_cancelled = false;
  const auto visit = [&](const IndexedBatch& batch, uint32_t track, uint32_t row,
                         const Event& event) {
    if (batch.line != line) {
      line = batch.line;
      rows_read_ += batch.rows;
      is_cancelled = request_.is_cancelled && request_.is_cancelled();
    }
    if (event.start >= request_.to || event.end < request_.from) return !is_cancelled;
    const auto found = rows.find({track, row});
    if (found == rows.end()) return !is_cancelled;
    found->second->add(shown_event(window, batch, track, event));
    return !is_cancelled;
  };
  if (const base::Status status = read_events(window, wanted, visit, &lines); !status) {
    return status;
  }
  if (is_cancelled) return {base::Code::Cancelled, "the request was cancelled"};
  // What begins elsewhere and reaches into the range.
  for (const size_t i : lanes) {
    const IndexedLane& lane = index.lanes[i];
    for (const KeptEvent& kept : lane.kept) {
      if (std::binary_search(lines.begin(), lines.end(), kept.line)) continue;
      rows[{lane.track, lane.row}]->add(shown_event(window, kept));
    }
  }
  return {};
}

void TileMaker::add_open(const Windows& windows, int64_t until) {
  for (const auto& [key, event] : open_scopes(windows, until)) {
    const auto place = places_.find(key);
    if (place != places_.end()) picture(place->second, event.depth).add(event.event);
  }
}

base::Status invalid(std::string why) { return {base::Code::InvalidArgument, std::move(why)}; }

base::Status check(const TileRequest& request) {
  if (base::Status status = check_range(request.from, request.to); !status) return status;
  if (request.width == 0 || request.width > kMaxWidth) {
    return invalid("the width has to be from 1 to " + std::to_string(kMaxWidth));
  }
  if (request.tracks.size() > kMaxTracks) {
    return invalid("at most " + std::to_string(kMaxTracks) + " tracks at a time");
  }
  if (request.max_events > kMaxEvents) {
    return invalid("at most " + std::to_string(kMaxEvents) + " events of a row");
  }
  return {};
}

}  // namespace

TileEvent shown_event(const WindowSource& window, const KeptEvent& kept) {
  return {kept.start,
          kept.end,
          kept.name,
          false,
          {window.file().channel, window.file().number, kept.line, kept.row}};
}

TileEvent shown_event(const WindowSource& window, const IndexedBatch& batch, uint32_t track,
                      const Event& event) {
  const WindowIndex& index = window.index();
  const uint32_t name = index.label_of(index.tracks[track].kind, event.name);
  return shown_event(window, {event.start, event.end, name, batch.line, event.row});
}

base::Status check_range(int64_t from, int64_t to) {
  if (from < to && from >= -kMaxTime && to <= kMaxTime) return {};
  return invalid("the range has to end after it begins");
}

unsigned step_shift(int64_t from, int64_t to, uint32_t width) {
  const uint64_t step = (static_cast<uint64_t>(to) - static_cast<uint64_t>(from)) / width;
  return step == 0 ? 0 : static_cast<unsigned>(std::bit_width(step)) - 1;
}

std::vector<std::pair<TrackKey, OpenEvent>> open_scopes(const Windows& windows, int64_t until) {
  const WindowSource* last = nullptr;
  for (const auto& window : windows) {
    if (window->file().channel == format::Channel::Scope) last = window.get();
  }
  std::vector<std::pair<TrackKey, OpenEvent>> events;
  if (last == nullptr) return events;
  for (const auto& [id, scope] : last->index().after.open_scopes) {
    OpenEvent open;
    open.depth = scope.depth;
    open.event.start = std::clamp(scope.start, -kMaxTime, kMaxTime);
    open.event.end = std::max(open.event.start, std::min(until, kMaxTime));
    open.event.name = scope.name;
    open.event.is_open = true;
    open.event.place.channel = format::Channel::Scope;
    events.emplace_back(TrackKey{TrackKind::Scopes, scope.thread}, open);
  }
  return events;
}

std::vector<TrackKey> each_once(std::span<const TrackKey> tracks) {
  std::vector<TrackKey> once;
  std::unordered_set<TrackKey, TrackKeyHash> seen;
  for (const TrackKey& track : tracks) {
    if (seen.insert(track).second) once.push_back(track);
  }
  return once;
}

base::Result<Tile> make_tile(const Windows& windows, const TileRequest& request,
                             int64_t open_until) {
  if (base::Status status = check(request); !status) return status;
  const unsigned shift = step_shift(request.from, request.to, request.width);
  // So that what a step adds up to does not depend on where the range begins and ends.
  TileRequest whole = request;
  whole.tracks = each_once(request.tracks);
  whole.from = (request.from >> shift) << shift;
  whole.to = (((request.to - 1) >> shift) + 1) << shift;
  TileMaker maker(whole, shift, {request.from, request.to});
  for (const auto& window : windows) {
    if (base::Status status = maker.add(*window); !status) return status;
  }
  maker.add_open(windows, open_until);
  return maker.finish();
}

}  // namespace gpufl::index
