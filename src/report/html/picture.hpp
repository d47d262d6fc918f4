// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// A run as rows of blocks for a picture of it: bounded in size whatever the run holds. Where there
// are too many slices, neighbours that are short and close become one block that says how many it
// stands for. Linear in the rows, a few times over; 24 bytes for each piece of work while it is
// made; one thread.
namespace gpufl::report {

struct Block {
  int64_t start_ns = 0, end_ns = 0;
  uint32_t text = 0;    // index into Picture::texts; of a merged one what took most of its time
  uint32_t count = 1;   // slices that it stands for
  int64_t busy_ns = 0;  // their durations added up
};
using BlockRow = std::vector<Block>;  // by start; none overlaps another

// In the order in which those of a stream or a thread stand below each other.
enum class PictureKind : uint8_t {
  Graphs,
  Kernels,
  Copies,
  Fills,
  Scopes,
  Markers,
  KernelCalls,
  GraphCalls,
  CopyCalls,
  FillCalls,
  MemoryCalls,
  ApiCalls,
  Waits,
  Warps,
};
inline constexpr size_t kPictureKinds = static_cast<size_t>(PictureKind::Warps) + 1;
std::string_view to_string(
    PictureKind kind);  // "kernel_calls": as web/src/timeline/types.ts has it

struct PictureTrack {
  std::string group;  // "GPU 0: NVIDIA H200", "rank 0: python3 (pid 447)"
  std::string name;   // "stream 7", "thread 447"
  PictureKind kind = PictureKind::Kernels;
  std::string kernel = {};  // what one group of its warps did; empty: another kind of track
  std::string domain = {};  // of markers, who set them: "torch.op"
  std::vector<BlockRow> rows = {};

  bool is_inside() const { return !kernel.empty(); }
};

struct PictureText {
  std::string label;
  std::string whole;  // empty: as the label
  // What sort of work gives it its colour: "matrix product". Of warps "wait" where they wait for
  // each other, and "work" where its name does not tell. Empty: no kernel's and no warp's.
  std::string_view work = {};
};

struct Picture {
  std::vector<PictureTrack> tracks;
  std::vector<PictureText> texts;
  int64_t start_ns = 0, end_ns = 0;  // of the sessions, whatever happened when
  // 0: every slice is a block of its own, unless it has no length and begins with another.
  int64_t merged_below_ns = 0;
  int64_t inside_merged_below_ns = 0;  // the same for what is inside of kernels
  uint64_t slices = 0;
};

// Of what streams ran, that which `options` ask for; threads are whole. What is inside of kernels
// has a quarter of `max_blocks` for itself: it is far shorter than all else, and would be merged
// away with it.
Picture make_picture(const analysis::RunData& run, size_t max_blocks,
                     const analysis::AnalysisOptions& options = {});

// Joins blocks of a row that, with what lies between them, are shorter than `limit_ns`.
BlockRow merge_blocks(const BlockRow& row, int64_t limit_ns);

}  // namespace gpufl::report
