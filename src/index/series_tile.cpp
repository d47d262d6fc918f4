// SPDX-License-Identifier: Apache-2.0
#include "index/series_tile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace gpufl::index {
namespace {

// Where so many readings would have to be read, buckets must do, though they are wider.
constexpr uint64_t kMaxRowsRead = 500'000;
constexpr uint32_t kMaxWidth = 16'384;
constexpr size_t kMaxSeries = 4096;

struct Collected {
  unsigned shift = 0;  // the widest of its parts
  std::vector<std::pair<unsigned, ValueBucket>> parts;

  void add(unsigned part_shift, const ValueBucket& bucket) {
    shift = std::max(shift, part_shift);
    parts.emplace_back(part_shift, bucket);
  }
};

std::vector<size_t> batches_in_range(const WindowIndex& index, const SeriesRequest& request,
                                     const std::set<format::Kind>& kinds, uint64_t& rows) {
  std::vector<size_t> batches;
  for (size_t i = 0; i < index.batches.size(); ++i) {
    const IndexedBatch& batch = index.batches[i];
    if (!kinds.contains(batch.kind) || !batch.work.reaches(request.from, request.to)) continue;
    batches.push_back(i);
    rows += batch.rows;
  }
  return batches;
}

class SeriesMaker {
 public:
  SeriesMaker(const SeriesRequest& request, unsigned shift) : request_(request), shift_(shift) {
    for (const SeriesKey& key : request.series) collected_[key];
  }

  base::Status add(const WindowSource& window) {
    const WindowIndex& index = window.index();
    if (!index.span.reaches(request_.from, request_.to)) return {};
    std::set<format::Kind> kinds;  // of series whose buckets are too wide
    for (const auto& [key, parts] : collected_) {
      const auto series = index.series.all().find(key);
      if (series != index.series.all().end() && series->second.shift > shift_) {
        kinds.insert(key.kind);
      }
    }
    uint64_t rows = 0;
    const std::vector<size_t> batches = batches_in_range(index, request_, kinds, rows);
    if (rows > kMaxRowsRead) kinds.clear();
    for (auto& [key, parts] : collected_) {
      const auto series = index.series.all().find(key);
      if (series == index.series.all().end() || kinds.contains(key.kind)) continue;
      for (const ValueBucket& bucket : series->second.buckets) {
        const unsigned shift = series->second.shift;
        if (((bucket.at + 1) << shift) <= request_.from || (bucket.at << shift) >= request_.to) {
          continue;
        }
        parts.add(shift, bucket);
      }
    }
    if (kinds.empty()) return {};
    bool is_cancelled = false;
    base::Status status =
        window.read(batches, [&](const IndexedBatch&, const format::Batch& batch) {
          visit_readings(batch, [&](const SeriesKey& key, int64_t time, double value) {
            const auto parts = collected_.find(key);
            if (parts == collected_.end() || time < request_.from || time >= request_.to) return;
            parts->second.add(0, {time, 1, value, value, value, value});
          });
          is_cancelled = request_.is_cancelled && request_.is_cancelled();
          return !is_cancelled;
        });
    if (is_cancelled) return {base::Code::Cancelled, "the request was cancelled"};
    return status;
  }

  std::vector<SeriesPicture> finish() {
    std::vector<SeriesPicture> pictures;
    for (const SeriesKey& key : request_.series) {
      Collected& collected = collected_.at(key);
      SeriesPicture& picture = pictures.emplace_back();
      picture.key = key;
      const bool is_listed = collected.shift == 0 && collected.parts.size() <= request_.width;
      picture.shift = is_listed ? 0 : std::max(collected.shift, shift_);
      std::map<int64_t, ValueBucket> steps;
      for (const auto& [shift, bucket] : collected.parts) {
        const int64_t at = bucket.at >> (picture.shift - shift);
        ValueBucket& step = steps[at];
        step.at = at;
        step.merge(bucket);
      }
      for (const auto& [at, step] : steps) picture.steps.push_back(step);
    }
    return pictures;
  }

 private:
  const SeriesRequest& request_;
  const unsigned shift_;
  std::map<SeriesKey, Collected> collected_;
};

}  // namespace

std::vector<SeriesKey> list_series(const Windows& windows) {
  std::set<SeriesKey> keys;
  for (const auto& window : windows) {
    for (const auto& [key, series] : window->index().series.all()) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

base::Result<std::vector<SeriesPicture>> make_series_tile(const Windows& windows,
                                                          const SeriesRequest& request) {
  if (request.from >= request.to || request.from < -kMaxTime || request.to > kMaxTime ||
      request.width == 0 || request.width > kMaxWidth || request.series.size() > kMaxSeries) {
    return base::Status(base::Code::InvalidArgument,
                        "the range has to end after it begins, and the width to be from 1 to " +
                            std::to_string(kMaxWidth));
  }
  SeriesMaker maker(request, step_shift(request.from, request.to, request.width));
  for (const auto& window : windows) {
    if (const base::Status status = maker.add(*window); !status) return status;
  }
  return maker.finish();
}

}  // namespace gpufl::index
