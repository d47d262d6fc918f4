// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/session/analysis_options.hpp"
#include "timeline/session_texts.hpp"
#include "timeline/warp_tracks.hpp"

// What a picture shows of the inside of profiled kernels: of each kernel some whole thread blocks,
// so that groups that wait for each other stand together. Bounded whatever was recorded. One
// thread.
namespace gpufl::report {

struct WarpLanes {
  std::string kernel;  // its short name
  std::string title;   // "inside gemm: 8 of 132 blocks"
  std::vector<timeline::WarpTrack> tracks;
};

inline constexpr size_t kMaxWarpKernels = 8;
inline constexpr size_t kMaxWarpBlocks = 8;   // thread blocks of one kernel
inline constexpr size_t kMaxWarpTracks = 32;  // lanes of one kernel
inline constexpr size_t kMaxWarpRows = 8;     // of one lane

// Of launches that the options choose, by device and kernel: the first thread blocks and, as the
// last, the one that took longest.
std::vector<WarpLanes> warp_lanes(const timeline::SessionTexts& texts,
                                  const analysis::AnalysisOptions& options);

}  // namespace gpufl::report
