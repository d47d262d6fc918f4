// SPDX-License-Identifier: Apache-2.0
#include "index/index_builder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/told_again.hpp"

namespace gpufl::index {
namespace {

using base::Json;
using format::Batch;
using format::Kind;

constexpr uint32_t kEventsPerBucket = 8;
constexpr uint32_t kCallsPerBucket = 16;  // of less interest, and as many as kernels
constexpr uint64_t kRowsPerBucket = 128;  // of all lanes of a kind, at the most
constexpr uint64_t kSparseShare = 256;    // of a kind's rows; a lane with less is sparse
constexpr size_t kMaxBuckets = size_t{2} << 20;
constexpr size_t kMaxKept = size_t{1} << 20;
constexpr size_t kMaxTracks = 16'384;
constexpr size_t kMaxLanes = 65'536;  // and one more for each track, for all the rest
constexpr size_t kMaxOpenScopes = 65'536;
constexpr size_t kMaxEndedRuns = 65'536;
// An event is kept apart where it would make its batch reach further than this beyond its last
// start: half of what the starts span, and at least a millisecond.
constexpr int64_t kMinReachNs = 1'000'000;
constexpr size_t kApartShare = 64;  // of a batch's events at most one in so many
constexpr size_t kMinApart = 8;
constexpr int64_t kOverAfterNs = 10'000'000'000;
constexpr size_t kMaxStates = size_t{4} << 20;
constexpr size_t kMaxBatches = size_t{4} << 20;
constexpr size_t kMaxDictLines = size_t{1} << 20;
constexpr size_t kMaxObjectBytes = size_t{1} << 20;

// A line that an earlier window has, too.
bool is_repeated(Kind kind, std::string_view text) {
  if (kind != Kind::Capability && kind != Kind::Device && kind != Kind::Event) return false;
  const auto line = Json::parse(text, format::kMaxObjectLineBytes);
  return line && format::is_told_again(kind, *line) && (*line)["again"].as_bool();
}

void include_times(TimeSpan& span, std::span<const int64_t> times) {
  TimeSpan all;
  for (const int64_t time : times) all.include(time, time);
  span.include(std::clamp(all.first, -kMaxTime, kMaxTime),
               std::clamp(all.last, -kMaxTime, kMaxTime));
}

}  // namespace

uint64_t CarriedState::digest() const {
  base::Xxh64 hash;
  const auto add = [&](int64_t number) { hash.update(&number, sizeof number); };
  for (const auto& [key, state] : rows) {
    for (const int64_t part : {static_cast<int64_t>(key.kind), key.a, key.b, key.c}) add(part);
    add(state.call_start);
    add(state.call_end);
    for (const int64_t end : state.ends) add(end);
  }
  for (const auto& [id, scope] : open_scopes) {
    for (const int64_t part : {id, scope.start, scope.thread}) add(part);
  }
  return hash.digest();
}

IndexBuilder::IndexBuilder(CarriedState before)
    : batches_(format::kKindCount), ended_scopes_(kMaxEndedRuns) {
  index_.digest_before = before.digest();
  for (auto& [key, rows] : before.rows) {
    if (const auto number = track_number(key)) tracks_[*number].rows = std::move(rows);
  }
  index_.after.open_scopes = std::move(before.open_scopes);
}

IndexBuilder::~IndexBuilder() = default;

void IndexBuilder::add_line(std::string_view line, const format::LinePlace& place) {
  ++index_.lines;
  const format::KindSpec* const kind = format::find_kind(format::line_type(line));
  if (kind == nullptr) return;
  if (kind->kind == Kind::Dict) {
    index_.dict_lines.push_back(place);
    return define_configs(line);
  }
  if (!kind->is_batch()) return add_object(kind->kind, line);
  auto& batch = batches_[static_cast<size_t>(kind->kind)];
  if (batch == nullptr) batch = std::make_unique<Batch>(kind->kind);
  if (!codec_.decode(line, *batch)) {
    ++index_.bad_lines;
    return;
  }
  if (!batch->empty()) add_batch(*batch, place);
}

void IndexBuilder::add_object(Kind kind, std::string_view line) {
  if (format::is_counted(kind) && !is_repeated(kind, line)) ++index_.rows[kind];
  const bool is_last = kind == Kind::Ledger || kind == Kind::End;
  if (!is_last && kind != Kind::Capability && kind != Kind::Device && kind != Kind::Event) return;
  // Of the last ones there is one each, and nothing says more than they do.
  const size_t most = is_last ? 2 * kMaxObjectBytes : kMaxObjectBytes;
  if (object_bytes_ + line.size() > most) {
    ++index_.objects.left_out;
    return;
  }
  object_bytes_ += line.size();
  index_.objects.texts.emplace_back(line);
}

void IndexBuilder::define_configs(std::string_view line) {
  const auto dict = Json::parse(line, format::kMaxObjectLineBytes);
  if (!dict || (*dict)["dict"].as_string() != "config") return;
  const auto& ids = (*dict)["ids"].items();
  const auto& values = (*dict)["values"].items();
  for (size_t i = 0; i < std::min(ids.size(), values.size()); ++i) {
    const auto id = static_cast<uint64_t>(ids[i].as_integer());
    if (id >= format::kMaxDictionaryEntries + 2) continue;
    if (id >= index_.name_of_config.size()) index_.name_of_config.resize(id + 1);
    index_.name_of_config[id] = static_cast<uint32_t>(values[i]["name"].as_integer());
  }
}

void IndexBuilder::add_batch(const Batch& batch, const format::LinePlace& place) {
  index_.rows[batch.kind()] += batch.rows();
  rows_seen_ += batch.rows();
  const size_t time = format::first_time(batch.kind_spec());
  if (time != format::kNoColumn && batch.has(time)) {
    TimeSpan times;
    include_times(times, batch.column(time));
    index_.span.include(times.first, times.last);
    index_.last_row_ns = std::max(index_.last_row_ns, times.last);
  }
  IndexedBatch entry;
  entry.kind = batch.kind();
  entry.line = static_cast<uint32_t>(index_.lines);
  entry.rows = static_cast<uint32_t>(batch.rows());
  entry.place = place;
  if (has_events(batch.kind())) {
    for (const TrackEvents& track : rows_.read(batch)) add_events(track, entry);
    add_sizes(batch);
  }
  if (is_series(batch.kind())) {
    index_.series.add(batch);
    include_times(entry.work, batch.column(time));
  }
  follow_scopes(batch);
  index_.batches.push_back(std::move(entry));
  bound_memory();
}

void IndexBuilder::add_events(const TrackEvents& track, IndexedBatch& entry) {
  std::span<const Event> events = track.events();
  const auto number = track_number(track.key);
  if (!number) {
    index_.events_left_out += events.size();
    return;
  }
  const bool is_of_calls = is_call(track.key.kind);
  const int64_t first = events.front().start;
  const int64_t last = events.back().start;
  TrackRows& rows = tracks_[*number].rows;
  if (!rows.is_over(first)) {
    entry.before.push_back({*number, rows});
    states_ += rows.ends.size() + 1;
  }
  if (is_of_calls) events = rows.begin_calls(events);
  if (events.empty()) return;
  // The longest ones are kept apart, so that the others can be found by when they begin.
  int64_t reach = last + std::max((last - first) / 2, kMinReachNs);
  late_ends_.clear();
  for (const Event& event : events) {
    if (event.end > reach) late_ends_.push_back(event.end);
  }
  const size_t most_apart = kept_ > kMaxKept ? 0 : std::max(kMinApart, events.size() / kApartShare);
  if (late_ends_.size() > most_apart) {
    const auto nth = late_ends_.begin() + static_cast<std::ptrdiff_t>(most_apart);
    std::nth_element(late_ends_.begin(), nth, late_ends_.end(), std::greater<>());
    reach = *nth;
  }
  TimeSpan& span = is_of_calls ? entry.calls : entry.work;
  const Lane::Widest widest = widest_of(track.key.kind, first, last);
  Lane* lane = nullptr;  // of `row`
  uint32_t row = 0;
  int64_t last_end = INT64_MIN;
  for (const Event& event : events) {
    const uint32_t placed = rows.place(event);
    if (lane == nullptr || placed != row) lane = &lane_of(*number, placed);
    row = placed;
    const bool is_apart = event.end > reach;
    if (!is_apart) span.include(event.start, event.end);
    const Lane::Keep keep = is_apart            ? Lane::Keep::Always
                            : kept_ <= kMaxKept ? Lane::Keep::IfLong
                                                : Lane::Keep::Never;
    const size_t kept_before = lane->kept().size();
    lane->add(event, index_.label_of(track.key.kind, event.name), entry.line, keep, widest);
    kept_ = kept_ + lane->kept().size() - kept_before;
    last_end = std::max(last_end, event.end);
  }
  index_.span.include(first, last_end);
  if (!is_of_calls || track.key.kind == TrackKind::MemoryCalls) {
    index_.last_row_ns = std::max(index_.last_row_ns, last_end);
  }
  // Apart from the loop above: each of them waits for memory, and many can wait at a time.
  for (const Event& event : events) {
    index_.durations.add(track.key.kind, is_of_calls ? 0 : event.name, event.end - event.start);
  }
}

void IndexBuilder::add_sizes(const Batch& batch) {
  namespace copy = format::memcpy_column;
  namespace fill = format::memset_column;
  const bool is_copy = batch.kind() == Kind::Memcpy;
  if (!is_copy && batch.kind() != Kind::Memset) return;
  const size_t bytes_column = is_copy ? size_t{copy::kBytes} : size_t{fill::kBytes};
  const TrackKind track = is_copy ? TrackKind::Copies : TrackKind::Fills;
  for (const TrackEvents& events : rows_.events()) {
    if (events.key.kind != track) continue;
    for (const Event& event : events.events()) {
      const int64_t bytes = batch.at(bytes_column, event.row);
      if (bytes <= 0) continue;
      index_.sizes[{track, event.name}].add(
          {1, static_cast<uint64_t>(bytes), static_cast<uint64_t>(event.end - event.start)});
    }
  }
}

// A lane that is much sparser than the others of its kind must not be the reason to read a lot of
// them: it is kept as it is, or has buckets that few of their rows fit into.
Lane::Widest IndexBuilder::widest_of(TrackKind kind, int64_t first, int64_t last) {
  TimeSpan& span = spans_[static_cast<size_t>(kind)];
  span.include(first, last);
  const uint64_t rows = std::max<uint64_t>(index_.rows[source_of(kind)], 1);
  const uint64_t per_row = static_cast<uint64_t>(span.last - span.first) / rows;
  Lane::Widest widest;
  widest.shift = static_cast<unsigned>(std::bit_width(per_row * kRowsPerBucket));
  widest.events_as_they_are = kept_ > kMaxKept / 2 ? 0 : rows / kSparseShare;
  return widest;
}

// Where the log ends, they are all that is known of what was going on.
void IndexBuilder::follow_scopes(const Batch& batch) {
  auto& open = index_.after.open_scopes;
  if (batch.kind() == Kind::Scope) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const int64_t id = batch.at(format::scope_column::kId, row);
      if (!open.empty()) open.erase(id);
      ended_scopes_.add(id);
    }
  }
  if (batch.kind() != Kind::ScopeOpen) return;
  namespace column = format::scope_open_column;
  for (size_t row = 0; row < batch.rows() && open.size() < kMaxOpenScopes; ++row) {
    // In a sealed window the end of a scope may come first.
    const int64_t id = batch.at(column::kId, row);
    if (ended_scopes_.contains(id)) continue;
    OpenScope& scope = open[id];
    scope.start = batch.at(column::kStart, row);
    scope.thread = batch.at(column::kThread, row);
    scope.name = static_cast<uint32_t>(batch.at(column::kName, row));
    scope.tag = static_cast<uint32_t>(batch.at(column::kTag, row));
    scope.depth =
        static_cast<uint32_t>(std::clamp<int64_t>(batch.at(column::kDepth, row), 0, kMaxRows));
  }
}

std::optional<uint32_t> IndexBuilder::track_number(const TrackKey& key) {
  const auto found = track_numbers_.find(key);
  if (found != track_numbers_.end()) return found->second;
  if (tracks_.size() >= kMaxTracks) return {};
  const auto number = static_cast<uint32_t>(tracks_.size());
  track_numbers_[key] = number;
  tracks_.emplace_back();
  index_.tracks.push_back(key);
  return number;
}

Lane& IndexBuilder::lane_of(uint32_t track, uint32_t row) {
  std::vector<uint32_t>& lanes = tracks_[track].lanes;
  const bool is_known = row < lanes.size() && lanes[row] != 0;
  if (!is_known && lanes_.size() >= kMaxLanes) row = kMaxRows;
  if (row >= lanes.size()) lanes.resize(row + 1);
  if (lanes[row] == 0) {
    const bool is_of_calls = is_call(index_.tracks[track].kind);
    const uint32_t events = (is_of_calls ? kCallsPerBucket : kEventsPerBucket) * density_;
    lanes_.push_back({track, row, std::make_unique<Lane>(events)});
    lanes[row] = static_cast<uint32_t>(lanes_.size());
  }
  return *lanes_[lanes[row] - 1].lane;
}

void IndexBuilder::bound_memory() {
  size_t buckets = 0;
  for (const LaneOfTrack& lane : lanes_) buckets += lane.lane->bucket_count();
  if (buckets <= kMaxBuckets) return;
  density_ *= 2;
  for (LaneOfTrack& lane : lanes_) lane.lane->halve();
}

bool IndexBuilder::is_full() const {
  return states_ > kMaxStates || index_.batches.size() > kMaxBatches ||
         index_.dict_lines.size() > kMaxDictLines || index_.durations.is_full();
}

WindowIndex IndexBuilder::snapshot() const {
  WindowIndex index = index_;
  for (const LaneOfTrack& lane : lanes_) {
    IndexedLane& entry = index.lanes.emplace_back();
    entry.track = lane.track;
    entry.row = lane.row;
    entry.has_buckets = lane.lane->has_buckets();
    entry.shift = lane.lane->shift();
    entry.events = lane.lane->events();
    entry.busy = lane.lane->busy();
    entry.span = {lane.lane->first(), lane.lane->last()};
    entry.kept = lane.lane->kept();
  }
  // Tracks on which nothing has happened for long are over: kernels of which the inside was
  // recorded leave hundreds of them.
  for (size_t i = 0; i < tracks_.size(); ++i) {
    const TimeSpan& starts = spans_[static_cast<size_t>(index.tracks[i].kind)];
    if (!starts.empty() && tracks_[i].rows.is_over(starts.last - kOverAfterNs)) continue;
    index.after.rows[index.tracks[i]] = tracks_[i].rows;
  }
  return index;
}

}  // namespace gpufl::index
