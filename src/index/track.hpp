// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// What a row of a timeline belongs to. Rows of one kind of record share a track only with their
// own kind, because only those come in the order of their times. Plain data.
namespace gpufl::index {

enum class TrackKind : uint8_t {
  Kernels,  // `a`, `b`, `c`: device, context, stream
  Copies,
  Fills,
  Graphs,
  KernelCalls,  // `a`: the thread that called
  CopyCalls,
  FillCalls,
  GraphCalls,
  MemoryCalls,
  ApiCalls,
  Waits,
  Scopes,
  Markers,   // `a`, `b`: thread, domain: an id of the dictionary of names; 0: none
  Warps,     // `a`, `b`, `c`: launch, block, group
  Coverage,  // `a`: the engine, an id of the dictionary of names
};
inline constexpr size_t kTrackKinds = static_cast<size_t>(TrackKind::Coverage) + 1;

// "kernels", "kernel_calls".
std::string_view to_string(TrackKind kind);
std::optional<TrackKind> find_track_kind(std::string_view name);

// Calls behind rows of work, which repeat for every row that a call brought.
constexpr bool is_call(TrackKind kind) {
  return kind >= TrackKind::KernelCalls && kind <= TrackKind::MemoryCalls;
}

struct TrackKey {
  TrackKind kind = TrackKind::Kernels;
  int64_t a = 0, b = 0, c = 0;

  auto operator<=>(const TrackKey&) const = default;
};

struct TrackKeyHash {
  size_t operator()(const TrackKey& key) const {
    uint64_t hash = static_cast<uint64_t>(key.kind);
    for (const int64_t part : {key.a, key.b, key.c}) {
      hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Rows of slices that overlap on a track; what finds no room in them is in one more, which counts.
inline constexpr uint32_t kMaxRows = 128;

}  // namespace gpufl::index
