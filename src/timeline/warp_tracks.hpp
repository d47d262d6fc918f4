// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

// What warp groups did inside of profiled kernels, as tracks of a timeline: one for each group of
// each thread block, on its multiprocessor, below the kernel. Slices' rows are of the batch
// `warp_span` of Tables::others. One thread.
namespace gpufl::timeline {

struct WarpTrack {
  int64_t device = -1;
  std::string kernel;  // "inside gemm": captures of kernels of one name share tracks
  int64_t sm = -1, block = 0, group = 0;
  std::string name;  // "block 3, tma"
  std::vector<SliceRow> rows;

  std::string sm_name() const;  // "SM 12"
};
// By device, kernel, multiprocessor, block and group. Empty where nothing was profiled.
std::vector<WarpTrack> warp_tracks(const SessionTexts& texts);

}  // namespace gpufl::timeline
