// SPDX-License-Identifier: Apache-2.0
#include "index/window_source.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "format/batch_codec.hpp"
#include "format/limits.hpp"

namespace gpufl::index {
namespace {

// Of the file: what lies closer to a line is read on the way to the next.
constexpr uint64_t kNearBytes = uint64_t{256} << 10;

base::Status changed(const std::filesystem::path& path) {
  return {base::Code::Unavailable, path.string() + " is not what its index says"};
}

// Calls `visitor` with the buckets within bounds, renumbered.
void visit_within(std::span<const Bucket> buckets, unsigned coarser, int64_t first, int64_t last,
                  const WindowSource::BucketVisitor& visitor) {
  auto at = std::lower_bound(
      buckets.begin(), buckets.end(), first,
      [&](const Bucket& bucket, int64_t number) { return (bucket.at >> coarser) < number; });
  for (; at != buckets.end() && (at->at >> coarser) <= last; ++at) {
    Bucket bucket = *at;
    bucket.at >>= coarser;
    visitor(bucket);
  }
}

}  // namespace

WindowSource::WindowSource(format::WindowFile file, std::shared_ptr<const IndexFile> stored)
    : file_(std::move(file)), stored_(std::move(stored)) {}

WindowSource::WindowSource(format::WindowFile file, WindowIndex index,
                           std::vector<std::vector<Bucket>> buckets,
                           std::shared_ptr<const int> open_file)
    : file_(std::move(file)),
      index_(std::move(index)),
      buckets_(std::move(buckets)),
      open_file_(std::move(open_file)) {}

WindowSource make_source(format::WindowFile file, IndexBuilder& builder,
                         std::shared_ptr<const int> open_file) {
  std::vector<std::vector<Bucket>> buckets;
  buckets.reserve(builder.lane_count());
  for (size_t i = 0; i < builder.lane_count(); ++i) buckets.push_back(builder.lane(i).buckets());
  return {std::move(file), builder.snapshot(), std::move(buckets), std::move(open_file)};
}

std::filesystem::path WindowSource::readable_path() const {
  if (open_file_ == nullptr) return file_.path;
  return "/proc/self/fd/" + std::to_string(*open_file_);
}

base::Status WindowSource::visit(size_t number, unsigned shift, int64_t first, int64_t last,
                                 const BucketVisitor& visitor) const {
  const IndexedLane& lane = index().lanes[number];
  const unsigned coarser = shift - lane.shift;
  if (stored_ == nullptr) {
    visit_within(buckets_[number], coarser, first, last, visitor);
    return {};
  }
  if (lane.levels.empty()) return {};
  const size_t level = std::min<size_t>(coarser / kLevelShift, lane.levels.size() - 1);
  const unsigned rest = coarser - static_cast<unsigned>(level) * kLevelShift;
  for (const BucketBlock& block : lane.levels[level]) {
    if ((block.last >> rest) < first || (block.first >> rest) > last) continue;
    const auto buckets = stored_->read(block);
    if (!buckets) return buckets.status();
    visit_within(*buckets, rest, first, last, visitor);
  }
  return {};
}

base::Status WindowSource::read(std::span<const size_t> batches,
                                const BatchVisitor& visitor) const {
  const std::vector<IndexedBatch>& all = index().batches;
  const std::filesystem::path path = readable_path();
  format::BatchCodec codec;
  std::vector<std::unique_ptr<format::Batch>> memory(format::kKindCount);
  base::Status status;
  bool is_done = false;
  size_t next = 0;
  while (next < batches.size() && !is_done) {
    // One pass reads neighbours; what lies far behind is jumped to.
    uint32_t line = all[batches[next]].line;
    const auto outcome = format::read_placed_lines(
        path, all[batches[next]].place,
        [&](std::string_view text, const format::LinePlace&) {
          const IndexedBatch& wanted = all[batches[next]];
          if (line++ != wanted.line) return true;
          auto& batch = memory[static_cast<size_t>(wanted.kind)];
          if (batch == nullptr) batch = std::make_unique<format::Batch>(wanted.kind);
          if (!codec.decode(text, *batch) || batch->rows() != wanted.rows) {
            status = changed(path);
            is_done = true;
            return false;
          }
          is_done = !visitor(wanted, *batch);
          ++next;
          return !is_done && next < batches.size() && batches[next] == batches[next - 1] + 1;
        },
        format::kMaxLineBytes);
    if (!status) return status;
    if (!outcome.status) return outcome.status;
    if (outcome.lines == 0) return changed(path);
  }
  return status;
}

base::Status WindowSource::read_dictionaries(const std::function<bool(std::string_view)>& visitor,
                                             const std::function<bool()>& is_cancelled,
                                             size_t first) const {
  const std::filesystem::path path = readable_path();
  const std::vector<format::LinePlace>& places = index().dict_lines;
  size_t next = first;
  bool goes_on = true;
  bool was_cancelled = false;
  while (next < places.size() && goes_on) {
    const size_t begun_at = next;
    const auto outcome = format::read_placed_lines(
        path, places[next],
        [&](std::string_view line, const format::LinePlace& place) {
          const format::LinePlace& wanted = places[next];
          if (place.frame != wanted.frame || place.skip != wanted.skip) return true;
          goes_on = visitor(line);
          ++next;
          // No frame is decompressed twice; those far from here, not even once.
          return goes_on && next < places.size() && places[next].frame - place.frame <= kNearBytes;
        },
        format::kMaxLineBytes,
        [&](uint64_t) {
          was_cancelled = is_cancelled && is_cancelled();
          return !was_cancelled;
        });
    if (was_cancelled) return {base::Code::Cancelled, "reading names was cancelled"};
    if (!outcome.status) return outcome.status;
    if (next == begun_at) return changed(path);
  }
  return {};
}

}  // namespace gpufl::index
