// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "net/fields.hpp"
#include "server/opened_index.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"
#include "server/timeline_json.hpp"

namespace gpufl::server {
namespace {

using base::Json;
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
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), tracks_json(*opened.session, *opened.open.names));
}

net::HttpReply show_tile(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  index::TileRequest request;
  std::tie(request.from, request.to) = range_of(call, opened);
  request.width = static_cast<uint32_t>(call.integer("width", 1600));
  request.max_events = static_cast<size_t>(call.integer("max_events", 2000));
  request.tracks = std::move(*tracks);
  request.is_cancelled = call.request().is_cancelled;
  const auto tile =
      index::make_tile(opened.session->windows, request, opened.session->open_until());
  if (!tile) return problem_of(tile.status());
  return index_reply(call.request(), tile_json(*opened.session, *opened.open.names, *tile));
}

net::HttpReply show_series(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
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
  const auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  const auto [from, to] = range_of(call, opened);
  const auto page = index::list_events(opened.session->windows, *tracks, from, to,
                                       static_cast<size_t>(call.integer("limit", 1000)),
                                       call.request().is_cancelled);
  if (!page) return too_many_or_problem(page.status());
  return index_reply(call.request(), events_json(*opened.session, *opened.open.names, *page));
}

net::HttpReply show_event(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  const auto place = parse_event(call.path("event"));
  if (!place) return no_such("event", call.path("event"));
  auto row = index::read_row(opened.session->windows, *place);
  if (!row) return problem_of(row.status());
  return index_reply(call.request(), std::move(*row) + "\n");
}

net::HttpReply show_selection(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  const auto tracks = tracks_of(call, opened);
  if (!tracks) return problem_of(tracks.status());
  const auto [from, to] = range_of(call, opened);
  const auto sums =
      index::sum_range(opened.session->windows, *tracks, from, to, call.request().is_cancelled);
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
  const auto outcome = index::search(opened.session->windows, request, call.request().is_cancelled);
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
Parameter width_parameter() {
  return integer("width", 1, 16'384, 1600,
                 "Steps are the longest power of two that is not longer than (to - from) / width.");
}

}  // namespace

void add_timeline_routes(Routes& routes, Services& services) {
  const auto add = [&](const char* path, const char* id, const char* summary,
                       const char* description, const std::vector<Parameter>& parameters,
                       IndexHandler function, const char* schema = kIndexSchema) {
    add_index_route(routes, services,
                    {path, id, summary, description, schema, parameters, function});
  };
  add("/tracks", "list_tracks", "Tracks of the timeline, and series of readings",
      "Tracks with their rows, events and time; series.", {}, show_tracks);
  add("/tiles", "show_tile", "A stretch of the timeline as a picture of some width",
      "For each row of each track its events, or, where there are many, how many begin in each "
      "step "
      "and how long they take of it.",
      range_parameters({width_parameter(),
                        integer("max_events", 0, 100'000, 2000,
                                "A row with more events in the range is shown in steps."),
                        tracks_parameter()}),
      show_tile);
  add("/series", "show_series", "Readings over time as a picture of some width",
      "For each series the least, the most, the mean and the last reading of each step.",
      range_parameters({width_parameter(), ids_parameter("series")}), show_series);
  add("/events", "list_events", "Events that begin in a range",
      "Events in the order of their starts; next_from is where the next page begins.",
      range_parameters(
          {integer("limit", 1, kMostEvents, 1000, "Events of a page."), tracks_parameter()}),
      list_events);
  add("/events/{event}", "show_event", "One event with everything that the log has of it",
      "The row of the log.", {}, show_event, R"({"type":"object"})");
  add("/selection", "show_selection", "What a range adds up to",
      "Of each track how many events begin in the range, how much of it they take, and which names "
      "take the most.",
      range_parameters(
          {integer("names", 0, kMostNames, 20, "Names of a track."), tracks_parameter()}),
      show_selection);
  add("/search", "search_events", "Where a name occurs",
      "How many events have a name that contains the text, and the next of them.",
      {required_text("q", "A part of the name; upper and lower case are the same."),
       moment("after", "Where to look from; left out: one of the session's ends."),
       choice("direction", {"forward", "backward"}, "forward", "Which way to look.")},
      search);
}

}  // namespace gpufl::server
