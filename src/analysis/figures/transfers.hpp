// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Copies and fills: how much, how fast, and whether kernels ran meanwhile. Pure functions, linear
// in the rows.
namespace gpufl::analysis {

using format::CopyDirection;
using format::MemoryKind;
std::string_view to_string(CopyDirection direction);  // "host to device"
std::string_view to_string(MemoryKind kind);          // "pageable"

struct TransferGroup {
  std::string label;  // "host to device"; "host to device, pageable to device"; "64 KiB to 1 MiB"
  // What the group has in common; of groups by size only the bounds: [min_bytes, max_bytes).
  CopyDirection direction = CopyDirection::Unknown;
  MemoryKind source = MemoryKind::Unknown, target = MemoryKind::Unknown;
  int64_t min_bytes = 0, max_bytes = 0;
  Stats duration_ns;
  Stats bytes;                  // of those that tell their size; none of them is 0
  double bytes_per_second = 0;  // of those, over the time that they took; 0: not known
  double share = 0;             // of the time of all copies (of all fills)
  int64_t overlapped_ns = 0;    // of its time while a kernel ran on the same device
  uint64_t asynchronous = 0;
};

struct Transfers {
  TransferGroup all;
  std::vector<TransferGroup> by_direction;  // most time first
  std::vector<TransferGroup> by_memory;     // direction and kinds of memory; most time first
  // Smallest first, empty classes left out; at last those that tell no size: [0, 0).
  std::vector<TransferGroup> by_size;
};

struct TransferFigures {
  Figure<Transfers> copies;
  Figure<TransferGroup> fills;
};
TransferFigures transfers(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
