// SPDX-License-Identifier: Apache-2.0
#include "index/row_events.hpp"

#include <algorithm>
#include <tuple>

#include "format/columns.hpp"

namespace gpufl::index {
namespace {

using format::Batch;
using format::Dict;
using format::Kind;
using format::kNoColumn;

bool is_before(const Event& a, const Event& b) {
  return std::tie(a.start, b.end, a.row) < std::tie(b.start, a.end, b.row);
}

size_t find_column(const Batch& batch, std::string_view name) {
  const auto columns = batch.kind_spec().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return kNoColumn;
}

// A column that a batch may lack, as one that it has.
class Column {
 public:
  Column(const Batch& batch, size_t column, int64_t otherwise)
      : data_(column != kNoColumn && batch.has(column) ? batch.column(column).data() : nullptr),
        otherwise_(otherwise) {}
  Column(const Batch& batch, std::string_view name, int64_t otherwise)
      : Column(batch, find_column(batch, name), otherwise) {}

  int64_t operator[](size_t row) const { return data_ != nullptr ? data_[row] : otherwise_; }
  bool is_there() const { return data_ != nullptr; }

 private:
  const int64_t* data_;
  int64_t otherwise_;
};

Event make_event(int64_t start, int64_t duration, size_t row, int64_t name, int64_t depth = 0) {
  const int64_t from = std::clamp(start, -kMaxTime, kMaxTime);
  const int64_t length = std::clamp<int64_t>(duration, 0, kMaxTime);
  return {from, std::min(from + length, kMaxTime), static_cast<uint32_t>(row),
          static_cast<uint32_t>(std::clamp<int64_t>(name, 0, UINT32_MAX)),
          static_cast<uint32_t>(std::clamp<int64_t>(depth, 0, kMaxRows))};
}

}  // namespace

Dict label_dict(TrackKind kind) {
  switch (kind) {
    case TrackKind::Kernels:
    case TrackKind::KernelCalls: return Dict::Config;
    case TrackKind::ApiCalls:
    case TrackKind::Scopes:
    case TrackKind::Markers:
    case TrackKind::Warps:
    case TrackKind::Coverage: return Dict::Name;
    default: return Dict::None;
  }
}

bool has_events(Kind kind) {
  switch (kind) {
    case Kind::Kernel:
    case Kind::Memcpy:
    case Kind::Memset:
    case Kind::Graph:
    case Kind::Memory:
    case Kind::Api:
    case Kind::Sync:
    case Kind::Scope:
    case Kind::Marker:
    case Kind::WarpSpan:
    case Kind::Coverage: return true;
    default: return false;
  }
}

Kind source_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::Kernels:
    case TrackKind::KernelCalls: return Kind::Kernel;
    case TrackKind::Copies:
    case TrackKind::CopyCalls: return Kind::Memcpy;
    case TrackKind::Fills:
    case TrackKind::FillCalls: return Kind::Memset;
    case TrackKind::Graphs:
    case TrackKind::GraphCalls: return Kind::Graph;
    case TrackKind::MemoryCalls: return Kind::Memory;
    case TrackKind::ApiCalls: return Kind::Api;
    case TrackKind::Waits: return Kind::Sync;
    case TrackKind::Scopes: return Kind::Scope;
    case TrackKind::Markers: return Kind::Marker;
    case TrackKind::Warps: return Kind::WarpSpan;
    case TrackKind::Coverage: return Kind::Coverage;
  }
  return Kind::Kernel;
}

std::span<const TrackEvents> RowEvents::read(const Batch& batch) {
  used_ = 0;
  std::fill(slots_.begin(), slots_.end(), 0);
  switch (batch.kind()) {
    case Kind::Kernel:
      read_work(batch, TrackKind::Kernels, format::kernel_column::kConfig);
      read_calls(batch, TrackKind::KernelCalls);
      break;
    case Kind::Memcpy:
      read_work(batch, TrackKind::Copies, format::memcpy_column::kRoute);
      read_calls(batch, TrackKind::CopyCalls);
      break;
    case Kind::Memset:
      read_work(batch, TrackKind::Fills, format::memset_column::kMemory);
      read_calls(batch, TrackKind::FillCalls);
      break;
    case Kind::Graph:
      read_work(batch, TrackKind::Graphs, format::graph_column::kGraph);
      read_calls(batch, TrackKind::GraphCalls);
      break;
    case Kind::Memory: read_calls(batch, TrackKind::MemoryCalls); break;
    case Kind::Api: read_spans(batch, TrackKind::ApiCalls, format::api_column::kName); break;
    case Kind::Sync: read_spans(batch, TrackKind::Waits, format::sync_column::kWaitKind); break;
    case Kind::Scope: read_spans(batch, TrackKind::Scopes, format::scope_column::kName); break;
    case Kind::Marker: read_spans(batch, TrackKind::Markers, format::marker_column::kName); break;
    case Kind::WarpSpan: read_warps(batch); break;
    case Kind::Coverage:
      for (size_t row = 0; row < batch.rows(); ++row) {
        const int64_t engine = batch.at(format::coverage_column::kEngine, row);
        add({TrackKind::Coverage, engine}, batch.at(format::coverage_column::kStart, row),
            batch.at(format::coverage_column::kDuration, row), row, engine);
      }
      break;
    default: break;
  }
  for (size_t i = 0; i < used_; ++i) tracks_[i].finish();
  return events();
}

void RowEvents::read_work(const Batch& batch, TrackKind track, size_t name_column) {
  const Column start(batch, "start", 0);
  const Column duration(batch, "dur", 0);
  const Column name(batch, name_column, 0);
  const Column device(batch, "device", -1);
  const Column context(batch, "context", -1);
  const Column stream(batch, "stream", -1);
  TrackEvents* events = nullptr;
  TrackKey key{track};
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (events == nullptr || device[row] != key.a || context[row] != key.b ||
        stream[row] != key.c) {
      key = {track, device[row], context[row], stream[row]};
      events = &events_of(key);
    }
    events->add(make_event(start[row], duration[row], row, name[row]));
  }
}

void RowEvents::read_calls(const Batch& batch, TrackKind track) {
  const Column start(batch, "api_start", -1);
  const Column duration(batch, "api_dur", -1);
  if (!start.is_there() || !duration.is_there()) return;
  const size_t config =
      track == TrackKind::KernelCalls ? format::kernel_column::kConfig : kNoColumn;
  const Column name(batch, config, 0);
  const Column thread(batch, "thread", 0);
  TrackEvents* events = nullptr;
  TrackKey key{track};
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (start[row] < 0 || duration[row] < 0) continue;
    if (events == nullptr || thread[row] != key.a) {
      key.a = thread[row];
      events = &events_of(key);
    }
    events->add(make_event(start[row], duration[row], row, name[row]));
  }
}

void RowEvents::read_spans(const Batch& batch, TrackKind track, size_t name_column) {
  const Column start(batch, "start", 0);
  const Column duration(batch, "dur", 0);
  const Column name(batch, name_column, 0);
  const Column thread(batch, "thread", 0);
  const Column depth(batch, track == TrackKind::Scopes ? format::scope_column::kDepth : kNoColumn,
                     0);
  const Column domain(batch,
                      track == TrackKind::Markers ? format::marker_column::kDomain : kNoColumn, 0);
  for (size_t row = 0; row < batch.rows(); ++row) {
    add({track, thread[row], domain[row]}, start[row], duration[row], row, name[row], depth[row]);
  }
}

void RowEvents::read_warps(const Batch& batch) {
  namespace column = format::warp_span_column;
  for (size_t row = 0; row < batch.rows(); ++row) {
    add({TrackKind::Warps, batch.at(column::kLaunch, row), batch.at(column::kBlock, row),
         batch.at(column::kGroup, row)},
        batch.at(column::kStart, row), batch.at(column::kDuration, row), row,
        batch.at(column::kEvent, row));
  }
}

void RowEvents::add(const TrackKey& key, int64_t start, int64_t duration, size_t row, int64_t name,
                    int64_t depth) {
  events_of(key).add(make_event(start, duration, row, name, depth));
}

TrackEvents& RowEvents::events_of(const TrackKey& key) {
  if (2 * (used_ + 1) > slots_.size()) make_room();
  size_t at = TrackKeyHash()(key) & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (tracks_[slots_[at] - 1].key == key) return tracks_[slots_[at] - 1];
  }
  // References to tracks are good until the next one is made.
  if (used_ == tracks_.size()) tracks_.emplace_back();
  slots_[at] = static_cast<uint32_t>(++used_);
  tracks_[used_ - 1].begin(key);
  return tracks_[used_ - 1];
}

void RowEvents::make_room() {
  slots_.assign(std::max<size_t>(256, 2 * slots_.size()), 0);
  for (size_t i = 0; i < used_; ++i) {
    size_t at = TrackKeyHash()(tracks_[i].key) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

void TrackEvents::finish() {
  if (is_in_order_) return;
  const auto begin = events_.begin();
  auto end = begin + static_cast<std::ptrdiff_t>(count_);
  if (!std::is_sorted(begin, end, is_before)) std::sort(begin, end, is_before);
  if (!is_call(key.kind)) return;
  end = std::unique(begin, end, [](const Event& a, const Event& b) {
    return a.start == b.start && a.end == b.end;
  });
  count_ = static_cast<size_t>(end - begin);
}

}  // namespace gpufl::index
