// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "net/answer.hpp"
#include "net/fields.hpp"
#include "server/event_json.hpp"
#include "server/opened_index.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"
#include "server/timeline_json.hpp"

namespace gpufl::server {
namespace {

using index::TrackKey;
using index::TrackKind;

constexpr int64_t kMostNames = 1000;
constexpr int64_t kMostEvents = 10'000;
constexpr size_t kMostTracks = 1024;
constexpr size_t kLongestIds = 7000;
constexpr int64_t kMaxTime = index::kMaxTime;

// "a,b,c" of a parameter; where it is left out, what `all` gives.
template <typename Key, typename Parse, typename All>
base::Result<std::vector<Key>> keys_of(const Call& call, std::string_view parameter, Parse parse,
                                       All all) {
  const auto text = call.text(parameter);
  if (!text) return all();
  std::vector<Key> keys;
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view id = rest.substr(0, comma);
    const auto key = parse(id);
    if (!key) {
      return base::Status(base::Code::InvalidArgument,
                          fmt::format("'{}' names nothing; take ids from /tracks", id));
    }
    keys.push_back(*key);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return keys;
}

base::Result<std::vector<TrackKey>> tracks_of(const Call& call, const OpenedIndex& opened) {
  return keys_of<TrackKey>(call, "tracks", parse_track, [&] {
    std::vector<TrackKey> keys;
    for (const auto& track :
         index::list_tracks(opened.session->windows, opened.session->open_until())) {
      if (keys.size() < kMostTracks) keys.push_back(track.key);
    }
    return keys;
  });
}

// What a picture waits for: as long as nobody notices for all of it, then for what there is.
constexpr IndexWait kPicture{std::chrono::milliseconds(100), std::chrono::milliseconds(300)};

// Without a range, the whole session.
std::pair<int64_t, int64_t> range_of(const Call& call, const OpenedIndex& opened) {
  const index::TimeSpan& span = opened.session->span;
  const int64_t first = span.empty() ? 0 : std::min(span.first, kMaxTime - 1);
  const int64_t last = span.empty() ? 1 : std::min(span.last, kMaxTime - 1) + 1;
  return {call.integer("from", first), call.integer("to", last)};
}

net::HttpReply too_many_or_problem(const base::Status& status) {
  if (status.code() != base::Code::LimitReached) return problem_of(status);
  return net::problem(422, "Too many events", status.message());
}

net::HttpReply show_tracks(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call, kPicture);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), tracks_json(*opened.session, *opened.open.names));
}

// About what making a tile takes at the most: a step or event in memory, and its numbers as text.
uint64_t memory_for(const OpenedIndex& opened, const index::TileRequest& request) {
  constexpr uint64_t kBytesPerEntry = 70;
  const std::set<TrackKey> wanted(request.tracks.begin(), request.tracks.end());
  const uint64_t of_a_row = std::max<uint64_t>(request.width, request.max_events);
  uint64_t entries = 0;
  for (const auto& track :
       index::list_tracks(opened.session->windows, opened.session->open_until())) {
    if (wanted.contains(track.key)) entries += std::min(track.events, track.rows * of_a_row);
  }
  return std::min<uint64_t>(entries, index::kMaxTileEntries) * kBytesPerEntry;
}

net::HttpReply show_tile(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call, kPicture);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  index::TileRequest request;
  std::tie(request.from, request.to) = range_of(call, opened);
  request.width = static_cast<uint32_t>(call.integer("width", 1600));
  request.max_events = static_cast<size_t>(call.integer("max_events", 2000));
  request.tracks = std::move(*tracks);
  request.is_cancelled = call.request().is_cancelled;
  const auto memory = services.tiles.take(memory_for(opened, request));
  if (!memory) return net::busy_reply("other requests for large parts of timelines are under way");
  const auto tile =
      index::make_tile(opened.session->windows, request, opened.session->open_until());
  if (!tile) return problem_of(tile.status());
  return index_reply(call.request(), tile_json(*opened.session, *opened.open.names, *tile));
}

net::HttpReply show_series(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call, kPicture);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto series = keys_of<index::SeriesKey>(
      call, "series", parse_series, [&] { return index::list_series(opened.session->windows); });
  if (!series) return problem_of(series.status());
  index::SeriesRequest request;
  std::tie(request.from, request.to) = range_of(call, opened);
  request.width = static_cast<uint32_t>(call.integer("width", 1600));
  request.series = std::move(*series);
  request.is_cancelled = call.request().is_cancelled;
  const auto pictures = index::make_series_tile(opened.session->windows, request);
  if (!pictures) return problem_of(pictures.status());
  return index_reply(call.request(), series_json(*opened.session, *opened.open.names, *pictures));
}

net::HttpReply list_events(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  index::EventsRequest request;
  std::tie(request.from, request.to) = range_of(call, opened);
  request.starts_from = call.integer("starts_from", INT64_MIN);
  request.most = static_cast<size_t>(call.integer("limit", 1000));
  request.tracks = std::move(*tracks);
  const auto page = index::list_events(opened.session->windows, request,
                                       opened.session->open_until(), call.request().is_cancelled);
  if (!page) return too_many_or_problem(page.status());
  return index_reply(call.request(), events_json(*opened.session, *opened.open.names, *page));
}

net::HttpReply list_launches(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  const index::IndexedSession& session = *opened.session;
  const std::string kernel = call.text("kernel", "");
  index::EventsRequest request;
  request.labels = opened.open.names->kernels_called(kernel);
  if (request.labels.empty()) {
    if (session.progress.is_complete()) return no_such("kernel", kernel);
    return index_reply(call.request(), launches_json(session, 0, {}));
  }
  for (const auto& track : index::list_tracks(session.windows, session.open_until())) {
    if (track.key.kind == TrackKind::Kernels) request.tracks.push_back(track.key);
  }
  std::tie(request.from, request.to) = range_of(call, opened);
  request.starts_from = call.integer("starts_from", INT64_MIN);
  request.most = static_cast<size_t>(call.integer("limit", 1000));
  const auto page = index::list_events(session.windows, request, session.open_until(),
                                       call.request().is_cancelled);
  if (!page) return too_many_or_problem(page.status());
  uint64_t count = 0;
  for (const auto& [name, configs] :
       opened.open.names->by_kernel(session.durations().names(TrackKind::Kernels))) {
    if (std::find(request.labels.begin(), request.labels.end(), name) == request.labels.end()) {
      continue;
    }
    count += session.durations().of(TrackKind::Kernels, configs).stats.count;
  }
  return index_reply(call.request(), launches_json(session, count, *page));
}

net::HttpReply show_event(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  const auto place = parse_event(call.path("event"));
  if (!place) return no_such("event", call.path("event"));
  const index::IndexedSession& session = *opened.session;
  const auto detail =
      index::read_event(session.windows, *place, session.dir, session.header.session_id,
                        session.open_until(), call.request().is_cancelled);
  if (!detail) return problem_of(detail.status());
  return index_reply(call.request(), event_detail_json(*detail, *opened.open.names));
}

net::HttpReply show_selection(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  const auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  const auto [from, to] = range_of(call, opened);
  const auto sums = index::sum_range(opened.session->windows, *tracks, from, to,
                                     opened.session->open_until(), call.request().is_cancelled);
  if (!sums) return too_many_or_problem(sums.status());
  return index_reply(call.request(), sums_json(*opened.session, *opened.open.names, *sums,
                                               static_cast<size_t>(call.integer("names", 20))));
}

net::HttpReply search(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  index::SearchRequest request;
  request.names = opened.open.names->matching(call.text("q", ""));
  request.kinds = {TrackKind::Kernels, TrackKind::Scopes, TrackKind::Markers, TrackKind::ApiCalls,
                   TrackKind::Warps};
  request.is_backward = call.text("direction", "forward") == "backward";
  request.after = call.integer("after", request.is_backward ? kMaxTime : -kMaxTime);
  const auto outcome = index::search(opened.session->windows, request, opened.session->open_until(),
                                     call.request().is_cancelled);
  if (!outcome) return problem_of(outcome.status());
  return index_reply(call.request(), search_json(*opened.session, *opened.open.names, *outcome));
}

// Ids of tracks or series; as many as the target of a request has room for.
Parameter ids_parameter(std::string name) {
  Parameter parameter =
      text_parameter(std::move(name), "Ids from /tracks, with commas between; left out: all.");
  parameter.longest = kLongestIds;
  return parameter;
}
Parameter tracks_parameter() { return ids_parameter("tracks"); }
Parameter kernel_parameter() {
  Parameter parameter = required_text("kernel", "Its full name, or its label.");
  parameter.longest = kLongestIds;
  return parameter;
}
Parameter width_parameter() {
  return integer("width", 1, 16'384, 1600,
                 "Steps are the longest power of two that is not longer than (to - from) / width.");
}

}  // namespace

void add_timeline_routes(Routes& routes, Services& services) {
  const auto add = [&](const char* path, const char* id, const char* summary,
                       const char* description, const char* schema,
                       const std::vector<Parameter>& parameters, IndexHandler function,
                       bool is_of_names) {
    add_index_route(routes, services,
                    {path, id, summary, description, schema, parameters, function, is_of_names});
  };
  add("/tracks", "list_tracks", "Tracks of the timeline, and series of readings",
      "Tracks with their rows, events and time; series.", "TrackList", {}, show_tracks, true);
  add("/tiles", "show_tile", "A stretch of the timeline as a picture of some width",
      "For each row of each track its events, or, where there are many, how many begin in each "
      "step "
      "and how long they take of it.",
      "Tile",
      range_parameters({width_parameter(),
                        integer("max_events", 0, 100'000, 2000,
                                "A row with more events in the range is shown in steps."),
                        tracks_parameter()}),
      show_tile, true);
  add("/series", "show_series", "Readings over time as a picture of some width",
      "For each series the least, the most, the mean and the last reading of each step.",
      "SeriesTile", range_parameters({width_parameter(), ids_parameter("series")}), show_series,
      true);
  add("/events", "list_events", "Events that are in a range or reach into it",
      "Events in the order of their starts, so those that began before the range come first; "
      "next_from is starts_from of the next page.",
      "EventList",
      range_parameters(
          {moment("starts_from", "Only those that begin then or later, for the next page."),
           integer("limit", 1, kMostEvents, 1000, "Events of a page."), tracks_parameter()}),
      list_events, true);
  add("/launches", "list_launches", "Launches of one kernel",
      "As columns, in the order of their starts: start_ns as differences, `track` as places in "
      "`tracks`. `count`: of the whole session. next_from is starts_from of the next page, which a "
      "page with less than its limit may have, too: it was long to look through.",
      "LaunchList",
      range_parameters(
          {kernel_parameter(),
           moment("starts_from", "Only those that begin then or later, for the next page."),
           integer("limit", 1, kMostEvents, 1000, "Launches of a page.")}),
      list_launches, true);
  add("/events/{event}", "show_event", "One event with everything that the log has of it",
      "The row of the log.", "EventDetail", {}, show_event, false);
  add("/selection", "show_selection", "What a range adds up to",
      "Of each track how many events begin in the range, how many reach into it from before, how "
      "much of it both take, and which names take the most.",
      "Selection",
      range_parameters(
          {integer("names", 0, kMostNames, 20, "Names of a track."), tracks_parameter()}),
      show_selection, true);
  add("/search", "search_events", "Where a name occurs",
      "How many events have a name that contains the text, and the next of them.", "SearchAnswer",
      {required_text("q", "A part of the name; upper and lower case are the same."),
       moment("after", "Where to look from; left out: one of the session's ends."),
       choice("direction", {"forward", "backward"}, "forward", "Which way to look.")},
      search, true);
}

}  // namespace gpufl::server
