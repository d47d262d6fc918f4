// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "index/queries.hpp"
#include "index/series.hpp"
#include "index/tile.hpp"

// Readings as a picture of some width: for each step of time the least, the most and the mean; or,
// where there are few, each of them. Pure functions over constant windows; any thread.
namespace gpufl::index {

struct SeriesRequest {
  int64_t from = 0, to = 0;  // [from, to)
  uint32_t width = 1;
  std::vector<SeriesKey> series;
  Cancelled is_cancelled = nullptr;
};

struct SeriesPicture {
  SeriesKey key;
  unsigned shift = 0;              // of its steps; 0: each is one reading, at a time
  std::vector<ValueBucket> steps;  // by number, without empty ones
};

std::vector<SeriesKey> list_series(const Windows& windows);

// InvalidArgument, Unavailable and Cancelled as make_tile().
base::Result<std::vector<SeriesPicture>> make_series_tile(const Windows& windows,
                                                          const SeriesRequest& request);

}  // namespace gpufl::index
