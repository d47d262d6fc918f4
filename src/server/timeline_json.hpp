// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "index/names.hpp"
#include "index/queries.hpp"
#include "index/series_tile.hpp"
#include "index/session_index.hpp"
#include "index/tile.hpp"

// Answers of the index as JSON, and the names by which addresses call tracks, series and events.
// Long lists are columns: a member for each, with as many numbers as there are entries. Pure
// functions; any thread.
namespace gpufl::server {

// "kernels:0:1:7", "scopes:4711".
std::string track_id(const index::TrackKey& key);
std::optional<index::TrackKey> parse_track(std::string_view id);
// "device_metric:0:0:12".
std::string series_id(const index::SeriesKey& key);
std::optional<index::SeriesKey> parse_series(std::string_view id);
// "device.3.120.77": channel, window, line, row.
std::string event_id(const index::EventPlace& place);
std::optional<index::EventPlace> parse_event(std::string_view id);
// With its id, track, row, times and label.
base::Json event_json(const index::TrackKey& key, uint32_t row, const index::TileEvent& event,
                      const index::Names& names);
std::string metric_name(const index::SeriesKey& key, const index::Names& names);

std::string tracks_json(const index::IndexedSession& session, const index::Names& names);
std::string tile_json(const index::IndexedSession& session, const index::Names& names,
                      const index::Tile& tile);
std::string series_json(const index::IndexedSession& session, const index::Names& names,
                        const std::vector<index::SeriesPicture>& pictures);
std::string sums_json(const index::IndexedSession& session, const index::Names& names,
                      const std::vector<index::TrackSum>& sums, size_t most_names);
std::string search_json(const index::IndexedSession& session, const index::Names& names,
                        const index::SearchOutcome& outcome);
// Launches of kernels as columns; those of a track say which by its place in `tracks`.
std::string launches_json(const index::IndexedSession& session, uint64_t count,
                          const index::EventPage& page);
std::string events_json(const index::IndexedSession& session, const index::Names& names,
                        const index::EventPage& page);
}  // namespace gpufl::server
