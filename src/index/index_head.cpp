// SPDX-License-Identifier: Apache-2.0
#include "index/index_head.hpp"

#include <algorithm>

#include "index/bucket_block.hpp"
#include "index/bytes.hpp"

namespace gpufl::index {
namespace {

void put_span(const TimeSpan& span, ByteWriter& out) {
  out.put(span.empty() ? 0 : 1);
  if (span.empty()) return;
  out.put_signed(span.first);
  out.put(static_cast<uint64_t>(span.last) - static_cast<uint64_t>(span.first));
}

TimeSpan get_span(ByteReader& in) {
  TimeSpan span;
  if (in.get() == 0) return span;
  span.first = in.get_signed();
  span.last = static_cast<int64_t>(static_cast<uint64_t>(span.first) + in.get());
  return span;
}

void put_key(const TrackKey& key, ByteWriter& out) {
  out.put_byte(static_cast<uint8_t>(key.kind));
  for (const int64_t part : {key.a, key.b, key.c}) out.put_signed(part);
}

TrackKey get_key(ByteReader& in) {
  const uint8_t kind = in.get_byte();
  if (kind >= kTrackKinds) in.fail();
  TrackKey key{static_cast<TrackKind>(in.failed() ? 0 : kind)};
  key.a = in.get_signed();
  key.b = in.get_signed();
  key.c = in.get_signed();
  return key;
}

void put_rows(const TrackRows& rows, ByteWriter& out) {
  out.put_signed(rows.call_start);
  out.put_signed(rows.call_end);
  out.put(rows.ends.size());
  for (const int64_t end : rows.ends) out.put_signed(end);
}

TrackRows get_rows(ByteReader& in) {
  TrackRows rows;
  rows.call_start = in.get_signed();
  rows.call_end = in.get_signed();
  rows.ends.resize(in.get_count(kMaxRows));
  for (int64_t& end : rows.ends) end = in.get_signed();
  return rows;
}

void put_place(const format::LinePlace& place, ByteWriter& out) {
  out.put(place.frame);
  out.put(place.skip);
}

format::LinePlace get_place(ByteReader& in) {
  const uint64_t frame = in.get();
  return {frame, in.get()};
}

void put_batch(const IndexedBatch& batch, ByteWriter& out) {
  out.put_byte(static_cast<uint8_t>(batch.kind));
  out.put(batch.line);
  out.put(batch.rows);
  put_place(batch.place, out);
  put_span(batch.work, out);
  put_span(batch.calls, out);
  out.put(batch.before.size());
  for (const RowsBefore& before : batch.before) {
    out.put(before.track);
    put_rows(before.rows, out);
  }
}

IndexedBatch get_batch(ByteReader& in, size_t tracks) {
  IndexedBatch batch;
  const uint8_t kind = in.get_byte();
  if (kind >= format::kKindCount) in.fail();
  batch.kind = static_cast<format::Kind>(in.failed() ? 0 : kind);
  batch.line = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  batch.rows = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  batch.place = get_place(in);
  batch.work = get_span(in);
  batch.calls = get_span(in);
  batch.before.resize(in.get_count_of(4));
  for (RowsBefore& before : batch.before) {
    before.track = static_cast<uint32_t>(in.get());
    if (before.track >= tracks) in.fail();
    before.rows = get_rows(in);
  }
  return batch;
}

void put_lane(const IndexedLane& lane, ByteWriter& out) {
  out.put(lane.track);
  out.put(lane.row);
  out.put(lane.has_buckets ? 1 : 0);
  out.put(lane.shift);
  out.put(lane.events);
  out.put(lane.busy);
  put_span(lane.span, out);
  out.put(lane.kept.size());
  int64_t before = 0;
  for (const KeptEvent& event : lane.kept) {
    out.put_signed(event.start - before);
    out.put(static_cast<uint64_t>(event.end - event.start));
    out.put(event.name);
    out.put(event.line);
    out.put(event.row);
    before = event.start;
  }
  out.put(lane.levels.size());
  for (const auto& level : lane.levels) {
    out.put(level.size());
    for (const BucketBlock& block : level) {
      out.put(block.offset);
      out.put(block.bytes);
      out.put(block.buckets);
      out.put_signed(block.first);
      out.put(static_cast<uint64_t>(block.last - block.first));
    }
  }
}

KeptEvent get_kept(ByteReader& in, int64_t before) {
  KeptEvent event;
  event.start = std::clamp(
      static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(in.get_signed())),
      -kMaxTime, kMaxTime);
  const auto length = static_cast<int64_t>(std::min<uint64_t>(in.get(), kMaxTime));
  event.end = event.start + length;
  event.name = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  event.line = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  event.row = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  return event;
}

BucketBlock get_block(ByteReader& in, uint64_t blocks_at, uint64_t file_bytes) {
  BucketBlock block;
  const uint64_t offset = in.get();
  block.bytes = static_cast<uint32_t>(in.get_count(UINT32_MAX));
  block.buckets = static_cast<uint32_t>(in.get_count(kBucketsPerBlock));
  block.first = in.get_signed();
  block.last = static_cast<int64_t>(static_cast<uint64_t>(block.first) + in.get());
  if (offset > file_bytes || blocks_at + offset + block.bytes > file_bytes) in.fail();
  block.offset = blocks_at + offset;
  return block;
}

IndexedLane get_lane(ByteReader& in, size_t tracks, uint64_t blocks_at, uint64_t file_bytes) {
  IndexedLane lane;
  lane.track = static_cast<uint32_t>(in.get());
  if (lane.track >= tracks) in.fail();
  lane.row = static_cast<uint32_t>(in.get_count(kMaxRows));
  lane.has_buckets = in.get() != 0;
  lane.shift = static_cast<unsigned>(in.get_count(60));
  lane.events = in.get();
  lane.busy = in.get();
  lane.span = get_span(in);
  lane.kept.resize(in.get_count_of(5));
  int64_t before = 0;
  for (KeptEvent& event : lane.kept) {
    event = get_kept(in, before);
    before = event.start;
  }
  lane.levels.resize(in.get_count(64));
  for (auto& level : lane.levels) {
    level.resize(in.get_count_of(5));
    for (BucketBlock& block : level) block = get_block(in, blocks_at, file_bytes);
  }
  return lane;
}

void put_state(const CarriedState& state, ByteWriter& out) {
  out.put(state.rows.size());
  for (const auto& [key, rows] : state.rows) {
    put_key(key, out);
    put_rows(rows, out);
  }
  out.put(state.open_scopes.size());
  for (const auto& [id, scope] : state.open_scopes) {
    out.put_signed(id);
    out.put_signed(scope.start);
    out.put_signed(scope.thread);
    for (const uint32_t part : {scope.name, scope.tag, scope.depth}) out.put(part);
  }
}

CarriedState get_state(ByteReader& in) {
  CarriedState state;
  for (uint64_t left = in.get_count_of(2); left != 0 && !in.failed(); --left) {
    const TrackKey key = get_key(in);
    state.rows[key] = get_rows(in);
  }
  for (uint64_t left = in.get_count_of(2); left != 0 && !in.failed(); --left) {
    OpenScope& scope = state.open_scopes[in.get_signed()];
    scope.start = in.get_signed();
    scope.thread = in.get_signed();
    scope.name = static_cast<uint32_t>(in.get_count(UINT32_MAX));
    scope.tag = static_cast<uint32_t>(in.get_count(UINT32_MAX));
    scope.depth = static_cast<uint32_t>(in.get_count(kMaxRows));
  }
  return state;
}

void put_sizes(const WindowIndex& index, ByteWriter& out) {
  out.put(index.sizes.size());
  for (const auto& [of, sum] : index.sizes) {
    out.put_byte(static_cast<uint8_t>(of.first));
    for (const uint64_t part : {uint64_t{of.second}, sum.count, sum.bytes, sum.busy_ns}) {
      out.put(part);
    }
  }
}

void get_sizes(ByteReader& in, WindowIndex& index) {
  for (uint64_t left = in.get_count_of(5); left != 0 && !in.failed(); --left) {
    const uint8_t kind = in.get_byte();
    if (kind >= kTrackKinds) in.fail();
    const auto name = static_cast<uint32_t>(in.get_count(UINT32_MAX));
    if (in.failed()) return;
    SizeSum& sum = index.sizes[{static_cast<TrackKind>(kind), name}];
    sum.count = in.get();
    sum.bytes = in.get();
    sum.busy_ns = in.get();
  }
}

void put_objects(const ObjectLines& objects, ByteWriter& out) {
  out.put(objects.left_out);
  out.put(objects.texts.size());
  for (const std::string& text : objects.texts) out.put_text(text);
}

ObjectLines get_objects(ByteReader& in) {
  ObjectLines objects;
  objects.left_out = in.get();
  objects.texts.resize(in.get_count_of(1));
  for (std::string& text : objects.texts) text = in.get_text();
  return objects;
}

}  // namespace

std::string encode_head(const WindowIdentity& identity, const WindowIndex& index) {
  ByteWriter out;
  out.put_text(identity.session_id);
  out.put_text(identity.channel);
  out.put(identity.number);
  out.put(identity.bytes);
  out.put_signed(identity.modified_ns);
  out.put_text(identity.hash);

  out.put(index.lines);
  out.put(index.bad_lines);
  out.put(index.events_left_out);
  put_span(index.span, out);
  out.put_signed(index.last_row_ns);
  out.put(index.rows.size());
  for (const auto& [kind, rows] : index.rows) {
    out.put_byte(static_cast<uint8_t>(kind));
    out.put(rows);
  }
  out.put(index.tracks.size());
  for (const TrackKey& key : index.tracks) put_key(key, out);
  out.put(index.batches.size());
  for (const IndexedBatch& batch : index.batches) put_batch(batch, out);
  out.put(index.dict_lines.size());
  for (const format::LinePlace& place : index.dict_lines) put_place(place, out);
  out.put(index.name_of_config.size());
  for (const uint32_t name : index.name_of_config) out.put(name);
  out.put(index.lanes.size());
  for (const IndexedLane& lane : index.lanes) put_lane(lane, out);
  index.durations.write(out);
  put_sizes(index, out);
  index.series.write(out);
  put_objects(index.objects, out);
  out.put_text(index.problem);
  out.put(index.digest_before);
  put_state(index.after, out);
  return out.take();
}

base::Status decode_head(std::string_view bytes, const WindowIdentity& identity, uint64_t blocks_at,
                         uint64_t file_bytes, WindowIndex& index) {
  ByteReader in(bytes);
  WindowIdentity stored;
  stored.session_id = in.get_text();
  stored.channel = in.get_text();
  stored.number = in.get();
  stored.bytes = in.get();
  stored.modified_ns = in.get_signed();
  stored.hash = in.get_text();
  if (in.failed() || stored != identity) return {base::Code::Corrupt, "it is of another window"};

  index.lines = in.get();
  index.bad_lines = in.get();
  index.events_left_out = in.get();
  index.span = get_span(in);
  index.last_row_ns = in.get_signed();
  for (uint64_t left = in.get_count_of(2); left != 0 && !in.failed(); --left) {
    const uint8_t kind = in.get_byte();
    if (kind >= format::kKindCount) in.fail();
    if (!in.failed()) index.rows[static_cast<format::Kind>(kind)] = in.get();
  }
  index.tracks.resize(in.get_count_of(4));
  for (TrackKey& key : index.tracks) key = get_key(in);
  index.batches.resize(in.get_count_of(8));
  for (IndexedBatch& batch : index.batches) batch = get_batch(in, index.tracks.size());
  index.dict_lines.resize(in.get_count_of(2));
  for (format::LinePlace& place : index.dict_lines) place = get_place(in);
  index.name_of_config.resize(in.get_count_of(1));
  for (uint32_t& name : index.name_of_config) name = static_cast<uint32_t>(in.get());
  index.lanes.resize(in.get_count_of(8));
  for (IndexedLane& lane : index.lanes) {
    lane = get_lane(in, index.tracks.size(), blocks_at, file_bytes);
  }
  index.durations = Durations::read(in);
  get_sizes(in, index);
  index.series = SeriesTable::read(in);
  index.objects = get_objects(in);
  index.problem = in.get_text();
  index.digest_before = in.get();
  index.after = get_state(in);
  if (in.failed() || in.left() != 0) return {base::Code::Corrupt, "its head is damaged"};
  return {};
}

}  // namespace gpufl::index
