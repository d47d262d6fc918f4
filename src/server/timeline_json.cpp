// SPDX-License-Identifier: Apache-2.0
#include "server/timeline_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "format/session_files.hpp"
#include "server/index_answer.hpp"

namespace gpufl::server {
namespace {

using base::Json;
using index::IndexedSession;
using index::Names;
using index::TrackKey;
using index::TrackKind;

// The parts of "a:b:c".
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Up to there, every whole number is a double.
constexpr double kExactWhole = 9'007'199'254'740'992;  // 2^53

template <typename Number>
char* write_number(char* begin, char* end, Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::trunc(number) == number && std::abs(number) <= kExactWhole) {
      return write_number(begin, end, static_cast<int64_t>(number));
    }
  }
  return std::to_chars(begin, end, number).ptr;
}

// A member with a number of each item.
template <typename Items, typename NumberOf>
void append_column(std::string& out, std::string_view name, const Items& items,
                   NumberOf number_of) {
  out += out.back() == '{' ? "\"" : ",\"";
  out.append(name).append("\":[");
  char digits[24];
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) out += ',';
    is_first = false;
    out.append(digits, write_number(digits, digits + sizeof digits, number_of(item)));
  }
  out += ']';
}

// Numbers that rise, each as the difference to the one before.
template <typename Items, typename NumberOf>
void append_deltas(std::string& out, std::string_view name, const Items& items,
                   NumberOf number_of) {
  int64_t before = 0;
  append_column(out, name, items, [&](const auto& item) {
    const int64_t number = number_of(item);
    return number - std::exchange(before, number);
  });
}

// Every label that an answer uses, by kind of track.
class UsedLabels {
 public:
  void add(TrackKind kind, uint32_t label) { labels_[kind].insert(label); }

  void append(std::string& out, const Names& names) const {
    Json all = Json::object();
    for (const auto& [kind, labels] : labels_) {
      Json of_kind = Json::object();
      for (const uint32_t label : labels) {
        const index::NameEntry entry = names.label(kind, label);
        Json name = Json::object();
        name.set("label", entry.short_text);
        if (entry.text != entry.short_text) name.set("name", entry.text);
        if (kind == TrackKind::Kernels || kind == TrackKind::KernelCalls) {
          name.set("class", analysis::to_string(entry.kernel_class));
        }
        of_kind.set(std::to_string(label), std::move(name));
      }
      all.set(index::to_string(kind), std::move(of_kind));
    }
    append_member(out, "names", all);
  }

 private:
  std::map<TrackKind, std::set<uint32_t>> labels_;
};

using ThreadNames = std::map<int64_t, std::string>;

// What the program calls its threads; the last name counts.
ThreadNames thread_names(const IndexedSession& session) {
  ThreadNames names;
  for (const auto& window : session.windows) {
    for (const std::string& text : window->index().objects.texts) {
      if (text.find("\"thread_name\"") == std::string::npos) continue;
      const auto line = Json::parse(text);
      if (!line || (*line)["name"].as_string() != "thread_name") continue;
      names[(*line)["thread"].as_integer()] = (*line)["text"].as_string();
    }
  }
  return names;
}

// How many numbers an id has after its kind.
size_t parts_of(TrackKind kind) {
  if (kind <= TrackKind::Graphs || kind == TrackKind::Warps) return 3;
  return kind == TrackKind::Markers ? 2 : 1;
}

// What the numbers of a track's key are.
void set_parts(Json& json, const TrackKey& key, const Names& names, const ThreadNames& threads) {
  if (key.kind <= TrackKind::Graphs) {
    json.set("device", key.a).set("context", key.b).set("stream", key.c);
  } else if (key.kind == TrackKind::Warps) {
    json.set("launch", key.a).set("block", key.b).set("group", key.c);
  } else if (key.kind == TrackKind::Coverage) {
    json.set("engine", names.text(format::Dict::Name, key.a));
  } else {
    json.set("thread", key.a);
    const auto name = threads.find(key.a);
    if (name != threads.end()) json.set("thread_name", name->second);
    const bool has_domain = key.kind == TrackKind::Markers && key.b != 0;
    if (has_domain) json.set("domain", names.text(format::Dict::Name, key.b));
  }
}

void append_row(std::string& out, TrackKind kind, const index::TileRow& row, UsedLabels& labels) {
  out += '{';
  append_member(out, "row", uint64_t{row.row});
  append_member(out, "is_exact", row.is_exact);
  if (row.is_exact) {
    append_deltas(out, "start_ns", row.events, [](const auto& event) { return event.start; });
    append_column(out, "duration_ns", row.events,
                  [](const auto& event) { return event.end - event.start; });
    append_column(out, "name", row.events, [](const auto& event) { return event.name; });
    Json ids = Json::array();
    Json open = Json::array();
    for (size_t i = 0; i < row.events.size(); ++i) {
      ids.push(row.events[i].is_open ? Json() : Json(event_id(row.events[i].place)));
      if (row.events[i].is_open) open.push(static_cast<uint64_t>(i));
      labels.add(kind, row.events[i].name);
    }
    append_member(out, "event", ids);
    if (!open.items().empty()) append_member(out, "open", open);
  } else {
    append_member(out, "step_ns", int64_t{1} << row.shift);
    append_deltas(out, "step", row.steps, [](const auto& step) { return step.at; });
    append_column(out, "count", row.steps, [](const auto& step) { return step.count; });
    append_column(out, "busy_ns", row.steps, [](const auto& step) { return step.busy; });
    append_column(out, "name", row.steps, [](const auto& step) { return step.top; });
    for (const index::Bucket& step : row.steps) labels.add(kind, step.top);
  }
  out += '}';
}

}  // namespace

std::string track_id(const TrackKey& key) {
  std::string id(index::to_string(key.kind));
  const std::array numbers = {key.a, key.b, key.c};
  for (size_t i = 0; i < parts_of(key.kind); ++i) {
    id.append(":").append(std::to_string(numbers[i]));
  }
  return id;
}

std::optional<TrackKey> parse_track(std::string_view id) {
  const auto parts = split(id, ':');
  const auto kind = index::find_track_kind(parts[0]);
  if (!kind) return {};
  TrackKey key{*kind};
  if (parts.size() != 1 + parts_of(*kind)) return {};
  const std::array numbers = {&key.a, &key.b, &key.c};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!parse(parts[i], *numbers[i - 1])) return {};
  }
  return key;
}

std::string series_id(const index::SeriesKey& key) {
  return std::string(format::spec(key.kind).name) + ":" + std::to_string(key.device) + ":" +
         std::to_string(key.index) + ":" + std::to_string(key.metric);
}

std::optional<index::SeriesKey> parse_series(std::string_view id) {
  const auto parts = split(id, ':');
  const format::KindSpec* const kind = format::find_kind(parts[0]);
  if (parts.size() != 4 || kind == nullptr || !index::is_series(kind->kind)) return {};
  index::SeriesKey key{kind->kind};
  if (!parse(parts[1], key.device) || !parse(parts[2], key.index) || !parse(parts[3], key.metric)) {
    return {};
  }
  return key;
}

std::string event_id(const index::EventPlace& place) {
  return std::string(format::to_string(place.channel)) + "." + std::to_string(place.window) + "." +
         std::to_string(place.line) + "." + std::to_string(place.row);
}

std::optional<index::EventPlace> parse_event(std::string_view id) {
  const auto parts = split(id, '.');
  if (parts.size() != 4) return {};
  const auto channel = format::find_channel(parts[0]);
  index::EventPlace place;
  if (!channel || !parse(parts[1], place.window) || !parse(parts[2], place.line) ||
      !parse(parts[3], place.row)) {
    return {};
  }
  place.channel = *channel;
  return place;
}

Json event_json(const TrackKey& key, uint32_t row, const index::TileEvent& event,
                const Names& names) {
  const index::NameEntry label = names.label(key.kind, event.name);
  Json json = Json::object();
  json.set("event", event.is_open ? Json() : Json(event_id(event.place)));
  json.set("track", track_id(key)).set("row", uint64_t{row});
  json.set("start_ns", event.start).set("duration_ns", event.end - event.start);
  json.set("label", label.short_text);
  if (label.text != label.short_text) json.set("name", label.text);
  return json;
}

std::string metric_name(const index::SeriesKey& key, const Names& names) {
  const bool is_counter = key.kind == format::Kind::Counter;
  return names.text(is_counter ? format::Dict::Name : format::Dict::Metric, key.metric);
}

std::string tracks_json(const IndexedSession& session, const Names& names) {
  const ThreadNames threads = thread_names(session);
  Json tracks = Json::array();
  for (const index::TrackInfo& track : index::list_tracks(session.windows, session.open_until())) {
    Json json = Json::object();
    json.set("id", track_id(track.key)).set("kind", index::to_string(track.key.kind));
    set_parts(json, track.key, names, threads);
    json.set("rows", uint64_t{track.rows}).set("events", track.events);
    json.set("busy_ns", track.busy_ns).set("span", span_json(track.span));
    tracks.push(std::move(json));
  }
  Json series = Json::array();
  for (const index::SeriesKey& key : index::list_series(session.windows)) {
    Json json = Json::object();
    json.set("id", series_id(key)).set("kind", format::spec(key.kind).name);
    if (key.device >= 0) json.set("device", key.device);
    json.set("index", key.index).set("metric", metric_name(key, names));
    series.push(std::move(json));
  }
  Json problems = Json::array();
  for (const std::string& problem : session.problems) problems.push(problem);
  std::string out = begin_answer(session);
  append_member(out, "tracks", tracks);
  append_member(out, "series", series);
  append_member(out, "problems", problems);
  return end_answer(std::move(out));
}

std::string tile_json(const IndexedSession& session, const Names& names, const index::Tile& tile) {
  UsedLabels labels;
  std::string out = begin_answer(session);
  append_member(out, "step_ns", int64_t{1} << tile.shift);
  out += ",\"tracks\":[";
  for (size_t i = 0; i < tile.tracks.size(); ++i) {
    const index::TileTrack& track = tile.tracks[i];
    if (i != 0) out += ',';
    out += '{';
    append_member(out, "id", track_id(track.key));
    out += ",\"rows\":[";
    for (size_t row = 0; row < track.rows.size(); ++row) {
      if (row != 0) out += ',';
      append_row(out, track.key.kind, track.rows[row], labels);
    }
    out += "]}";
  }
  out += ']';
  labels.append(out, names);
  return end_answer(std::move(out));
}

std::string series_json(const IndexedSession& session, const Names& names,
                        const std::vector<index::SeriesPicture>& pictures) {
  std::string out = begin_answer(session);
  out += ",\"series\":[";
  for (size_t i = 0; i < pictures.size(); ++i) {
    const index::SeriesPicture& picture = pictures[i];
    if (i != 0) out += ',';
    out += '{';
    append_member(out, "id", series_id(picture.key));
    append_member(out, "metric", metric_name(picture.key, names));
    append_member(out, "step_ns", int64_t{1} << picture.shift);
    append_deltas(out, "step", picture.steps, [](const auto& step) { return step.at; });
    append_column(out, "count", picture.steps, [](const auto& step) { return step.count; });
    append_column(out, "min", picture.steps, [](const auto& step) { return step.min; });
    append_column(out, "max", picture.steps, [](const auto& step) { return step.max; });
    append_column(out, "last", picture.steps, [](const auto& step) { return step.last; });
    append_column(out, "mean", picture.steps,
                  [](const auto& step) { return step.sum / static_cast<double>(step.count); });
    out += '}';
  }
  out += ']';
  return end_answer(std::move(out));
}

std::string sums_json(const IndexedSession& session, const Names& names,
                      const std::vector<index::TrackSum>& sums, size_t most_names) {
  Json tracks = Json::array();
  for (const index::TrackSum& sum : sums) {
    Json top = Json::array();
    for (size_t i = 0; i < std::min(most_names, sum.names.size()); ++i) {
      const index::NameEntry label = names.label(sum.key.kind, sum.names[i].name);
      Json name = Json::object();
      name.set("label", label.short_text);
      if (label.text != label.short_text) name.set("name", label.text);
      name.set("count", sum.names[i].count).set("reaching", sum.names[i].reaching);
      name.set("busy_ns", sum.names[i].busy_ns);
      top.push(std::move(name));
    }
    Json track = Json::object();
    track.set("id", track_id(sum.key)).set("count", sum.count);
    track.set("reaching", sum.reaching).set("busy_ns", sum.busy_ns);
    track.set("has_all_names", sum.has_all_names);
    track.set("name_count", static_cast<uint64_t>(sum.names.size()));
    tracks.push(track.set("names", std::move(top)));
  }
  std::string out = begin_answer(session);
  append_member(out, "tracks", tracks);
  return end_answer(std::move(out));
}

std::string search_json(const IndexedSession& session, const Names& names,
                        const index::SearchOutcome& outcome) {
  std::string out = begin_answer(session);
  append_member(out, "matches", outcome.count);
  append_member(out, "found",
                outcome.found ? event_json(outcome.found->key, outcome.found->row,
                                           outcome.found->event, names)
                              : Json());
  return end_answer(std::move(out));
}

std::string launches_json(const IndexedSession& session, uint64_t count,
                          const index::EventPage& page) {
  std::map<TrackKey, uint64_t> places;
  for (const index::FoundEvent& found : page.events) places.try_emplace(found.key, 0);
  Json tracks = Json::array();
  for (auto& [key, place] : places) {
    place = tracks.items().size();
    tracks.push(track_id(key));
  }
  std::string out = begin_answer(session);
  append_member(out, "count", count);
  append_member(out, "tracks", tracks);
  append_deltas(out, "start_ns", page.events, [](const auto& found) { return found.event.start; });
  append_column(out, "duration_ns", page.events,
                [](const auto& found) { return found.event.end - found.event.start; });
  append_column(out, "track", page.events, [&](const auto& found) { return places.at(found.key); });
  Json events = Json::array();
  for (const index::FoundEvent& found : page.events) events.push(event_id(found.event.place));
  append_member(out, "event", events);
  append_member(out, "next_from", page.next ? Json(*page.next) : Json());
  return end_answer(std::move(out));
}

std::string events_json(const IndexedSession& session, const Names& names,
                        const index::EventPage& page) {
  Json events = Json::array();
  for (const index::FoundEvent& found : page.events) {
    events.push(event_json(found.key, found.row, found.event, names));
  }
  std::string out = begin_answer(session);
  append_member(out, "events", events);
  append_member(out, "next_from", page.next ? Json(*page.next) : Json());
  return end_answer(std::move(out));
}

}  // namespace gpufl::server
