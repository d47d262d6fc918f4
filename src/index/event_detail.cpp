// SPDX-License-Identifier: Apache-2.0
#include "index/event_detail.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "base/json.hpp"
#include "format/dictionaries.hpp"
#include "format/flat_row.hpp"
#include "format/limits.hpp"
#include "index/row_events.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

namespace gpufl::index {
namespace {

using base::Json;
using format::Batch;

constexpr size_t kMostWork = 256;     // among which those of a graph are looked for
constexpr size_t kMostEvents = 4096;  // of a row at one moment: only the one that counts has many

size_t column_of(const format::KindSpec& kind, std::string_view name) {
  const auto found = std::find_if(kind.columns.begin(), kind.columns.end(),
                                  [&](const auto& column) { return column.name == name; });
  return found == kind.columns.end() ? format::kNoColumn
                                     : static_cast<size_t>(found - kind.columns.begin());
}

// 0: the row has none.
int64_t value_of(const Batch& batch, size_t row, std::string_view name) {
  const size_t column = column_of(batch.kind_spec(), name);
  return column == format::kNoColumn || !batch.has(column) ? 0 : batch.column(column)[row];
}

struct PlacedBatch {
  const WindowSource* window = nullptr;
  size_t number = 0;  // in the window's index
};

base::Result<PlacedBatch> find_batch(const Windows& windows, const EventPlace& place) {
  for (const auto& window : windows) {
    if (window->file().channel != place.channel || window->file().number != place.window) continue;
    const std::vector<IndexedBatch>& batches = window->index().batches;
    const auto batch = std::find_if(batches.begin(), batches.end(), [&](const IndexedBatch& entry) {
      return entry.line == place.line;
    });
    if (batch == batches.end() || place.row >= batch->rows) break;
    return PlacedBatch{window.get(), static_cast<size_t>(batch - batches.begin())};
  }
  return base::Status(base::Code::NotFound, "the session has no such event");
}

template <typename Visit>
base::Status visit_batch(const PlacedBatch& at, Visit visit) {
  return at.window->read(std::span(&at.number, 1), [&](const IndexedBatch&, const Batch& rows) {
    visit(rows);
    return false;
  });
}

// As value_of(), of the row that an event is.
base::Result<int64_t> read_value(const Windows& windows, const EventPlace& place,
                                 std::string_view name) {
  const auto at = find_batch(windows, place);
  if (!at) return at.status();
  int64_t value = 0;
  const base::Status status =
      visit_batch(*at, [&](const Batch& rows) { value = value_of(rows, place.row, name); });
  if (!status) return status;
  return value;
}

// Events of the tracks that cover a moment, by start.
base::Result<std::vector<FoundEvent>> events_at(const Windows& windows,
                                                std::vector<TrackKey> tracks, int64_t moment,
                                                int64_t open_until) {
  std::vector<FoundEvent> events;
  if (tracks.empty()) return events;
  const auto tile =
      make_tile(windows, {moment, moment + 1, 1, std::move(tracks), kMostEvents}, open_until);
  if (!tile) return tile.status();
  for (const TileTrack& track : tile->tracks) {
    for (const TileRow& row : track.rows) {
      for (const TileEvent& event : row.events) {
        if (event.start <= moment) events.push_back({track.key, row.row, event});
      }
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const FoundEvent& a, const FoundEvent& b) {
    return std::pair(a.event.start, b.event.end) < std::pair(b.event.start, a.event.end);
  });
  return events;
}

bool is_at(const EventPlace& a, const EventPlace& b) {
  return a.channel == b.channel && a.window == b.window && a.line == b.line && a.row == b.row;
}

// What a window's dictionaries say; of stacks, the one that is asked for.
struct Words {
  format::Dictionaries dictionaries;
  symbols::SessionFrames frames;
};

base::Status read_words(const WindowSource& window, int64_t stack, const Cancelled& is_cancelled,
                        Words& words) {
  const auto add_line = [&](std::string_view text) {
    const auto line = Json::parse(text, format::kMaxObjectLineBytes);
    if (!line) return true;
    (void)words.dictionaries.define(*line);
    if ((*line)["dict"].as_string() != "stack") {
      words.frames.add(*line);
      return true;
    }
    const auto& ids = (*line)["ids"].items();
    const auto& values = (*line)["values"].items();
    for (size_t i = 0; i < std::min(ids.size(), values.size()); ++i) {
      if (ids[i].as_integer() != stack) continue;
      Json one_id = Json::array(), its_frames = Json::array();
      one_id.push(ids[i]);
      its_frames.push(values[i]);
      Json one = Json::object();
      one.set("dict", "stack").set("ids", std::move(one_id)).set("values", std::move(its_frames));
      words.frames.add(one);
    }
    return true;
  };
  return window.read_dictionaries(add_line, is_cancelled);
}

std::string flat_row(const Batch& rows, size_t row, const format::Dictionaries& dictionaries) {
  Batch one(rows.kind());
  for (size_t i = 0; i < rows.kind_spec().columns.size(); ++i) {
    if (rows.has(i)) one.mutable_column(i).assign(1, rows.column(i)[row]);
  }
  one.set_rows(1);
  std::string text;
  format::FlatRows().append(one, dictionaries, text);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The events that a row of a batch is: work and the call behind it, or one of them.
struct RowParts {
  std::optional<std::pair<TrackKey, Event>> own, call;
};

RowParts parts_of(const Batch& batch, uint32_t row) {
  RowParts parts;
  RowEvents events;
  for (const TrackEvents& track : events.read(batch)) {
    if (is_call(track.key.kind)) continue;
    for (const Event& event : track.events()) {
      if (event.row == row) parts.own = {track.key, event};
    }
  }
  const int64_t start = value_of(batch, row, "api_start");
  const int64_t end = analysis::saturating_add(start, value_of(batch, row, "api_dur"));
  for (const TrackEvents& track : events.events()) {
    if (!is_call(track.key.kind)) continue;
    // One call may have brought several rows, of which the first stands for it.
    for (const Event& event : track.events()) {
      const bool is_it = parts.own ? event.start == start && event.end == end : event.row == row;
      if (is_it && track.key.a == value_of(batch, row, "thread")) parts.call = {track.key, event};
    }
  }
  return parts;
}

FoundEvent found_event(const Windows& windows, const std::pair<TrackKey, Event>& part,
                       const EventPlace& place, int64_t open_until) {
  const auto& [key, event] = part;
  FoundEvent found{key, 0, {event.start, event.end, event.name, false, place}};
  const auto there = events_at(windows, {key}, event.start, open_until);
  if (!there) return found;
  for (const FoundEvent& other : *there) {
    const bool is_it = is_call(key.kind)
                           ? other.event.start == event.start && other.event.end == event.end
                           : is_at(other.event.place, place);
    if (is_it) return other;
  }
  return found;
}

// Kernels, copies and fills of the same launch, while the graph runs.
base::Result<std::vector<FoundEvent>> work_of(const Windows& windows, const FoundEvent& graph,
                                              int64_t correlation, int64_t open_until,
                                              const Cancelled& is_cancelled) {
  EventsRequest request;
  request.from = graph.event.start;
  request.to = std::max(graph.event.end, graph.event.start + 1);
  request.most = kMostWork;
  for (const TrackInfo& track : list_tracks(windows, open_until)) {
    const TrackKind kind = track.key.kind;
    if (kind == TrackKind::Kernels || kind == TrackKind::Copies || kind == TrackKind::Fills) {
      request.tracks.push_back(track.key);
    }
  }
  std::vector<FoundEvent> work;
  if (request.tracks.empty()) return work;
  const auto page = list_events(windows, request, open_until, is_cancelled);
  if (page.status().code() == base::Code::LimitReached) return work;
  if (!page) return page.status();
  // Each batch is read once, whatever it has of them.
  std::map<std::tuple<format::Channel, uint64_t, uint32_t>, std::vector<const FoundEvent*>> batches;
  for (const FoundEvent& one : page->events) {
    const EventPlace& place = one.event.place;
    batches[{place.channel, place.window, place.line}].push_back(&one);
  }
  for (const auto& batch : batches) {
    const std::vector<const FoundEvent*>& events = batch.second;
    const auto at = find_batch(windows, events.front()->event.place);
    if (!at) return at.status();
    const base::Status status = visit_batch(*at, [&](const Batch& rows) {
      for (const FoundEvent* one : events) {
        if (value_of(rows, one->event.place.row, "correlation") == correlation) {
          work.push_back(*one);
        }
      }
    });
    if (!status) return status;
  }
  std::sort(work.begin(), work.end(),
            [](const FoundEvent& a, const FoundEvent& b) { return a.event.start < b.event.start; });
  return work;
}

// Where the program tells what it does: scopes and markers of a thread.
std::vector<TrackKey> named_tracks(const Windows& windows, int64_t thread, int64_t open_until) {
  std::vector<TrackKey> tracks;
  for (const TrackInfo& track : list_tracks(windows, open_until)) {
    const TrackKind kind = track.key.kind;
    const bool is_named = kind == TrackKind::Scopes || kind == TrackKind::Markers;
    if (is_named && track.key.a == thread) tracks.push_back(track.key);
  }
  return tracks;
}

// The scopes of the track on which the one with this id is open.
base::Result<std::vector<FoundEvent>> scopes_around(const Windows& windows, int64_t id,
                                                    int64_t moment, int64_t open_until) {
  std::vector<TrackKey> tracks;
  for (const TrackInfo& track : list_tracks(windows, open_until)) {
    if (track.key.kind == TrackKind::Scopes) tracks.push_back(track.key);
  }
  auto open = events_at(windows, std::move(tracks), moment, open_until);
  if (!open) return open;
  for (const FoundEvent& scope : *open) {
    if (scope.event.is_open) continue;
    const auto its_id = read_value(windows, scope.event.place, "id");
    if (!its_id) return its_id.status();
    if (*its_id != id) continue;
    std::vector<FoundEvent> path;
    std::copy_if(open->begin(), open->end(), std::back_inserter(path), [&](const FoundEvent& one) {
      return one.key == scope.key && one.row <= scope.row;
    });
    return path;
  }
  return std::vector<FoundEvent>();
}

}  // namespace

base::Result<EventDetail> read_event(const Windows& windows, const EventPlace& place,
                                     const std::filesystem::path& dir,
                                     const std::string& session_id, int64_t open_until,
                                     const Cancelled& is_cancelled) {
  const auto at = find_batch(windows, place);
  if (!at) return at.status();
  EventDetail detail;
  RowParts parts;
  std::optional<Batch> batch;
  base::Status status = visit_batch(*at, [&](const Batch& rows) { batch = rows; });
  if (!status) return status;
  if (!batch) return base::Status(base::Code::Unavailable, "the window has changed meanwhile");
  parts = parts_of(*batch, place.row);
  detail.stack = analysis::stack_id(value_of(*batch, place.row, "stack"));
  Words words;
  status = read_words(*at->window, detail.stack, is_cancelled, words);
  if (!status) return status;
  detail.row = flat_row(*batch, place.row, words.dictionaries);
  if (detail.stack != analysis::kNoStack) {
    const auto symbols = symbols::SymbolFile::read(dir, session_id);
    detail.code = {words.frames, symbols ? *symbols : symbols::SymbolFile()};
  }
  if (!parts.own && !parts.call) return detail;
  detail.event = found_event(windows, parts.own ? *parts.own : *parts.call, place, open_until);
  if (parts.own && parts.call) {
    detail.call = found_event(windows, *parts.call, place, open_until);
  }
  const int64_t correlation = value_of(*batch, place.row, "correlation");
  if (detail.event->key.kind == TrackKind::Graphs && correlation != 0) {
    auto work = work_of(windows, *detail.event, correlation, open_until, is_cancelled);
    if (!work) return work.status();
    detail.work = std::move(*work);
  }

  const int64_t moment = detail.call ? detail.call->event.start : detail.event->event.start;
  const int64_t thread = value_of(*batch, place.row, "thread");
  const auto around =
      events_at(windows, named_tracks(windows, thread, open_until), moment, open_until);
  if (!around) return around.status();
  for (const FoundEvent& one : *around) {
    if (!one.event.is_open && is_at(one.event.place, place)) continue;  // the event itself
    if (one.key.kind == TrackKind::Scopes) {
      detail.scopes.push_back(one);
      continue;
    }
    detail.markers.push_back({one, one.key.b});
  }
  const int64_t scope = value_of(*batch, place.row, "scope");
  if (detail.scopes.empty() && scope != 0) {
    auto inherited = scopes_around(windows, scope, moment, open_until);
    if (!inherited) return inherited.status();
    detail.scopes = std::move(*inherited);
  }
  return detail;
}

}  // namespace gpufl::index
