// SPDX-License-Identifier: Apache-2.0
#include "index/track.hpp"

#include <array>

namespace gpufl::index {
namespace {

constexpr std::array<std::string_view, kTrackKinds> kNames = {
    "kernels",    "copies",     "fills",       "graphs",       "kernel_calls",
    "copy_calls", "fill_calls", "graph_calls", "memory_calls", "api_calls",
    "waits",      "scopes",     "markers",     "warps",        "coverage"};

}  // namespace

std::string_view to_string(TrackKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<TrackKind> find_track_kind(std::string_view name) {
  for (size_t i = 0; i < kTrackKinds; ++i) {
    if (kNames[i] == name) return static_cast<TrackKind>(i);
  }
  return {};
}

}  // namespace gpufl::index
