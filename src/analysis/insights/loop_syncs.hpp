// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/code/code_site.hpp"
#include "analysis/insights/session_view.hpp"

// Lines of the program that wait for the GPU, and those that do so in a loop with work in it.
namespace gpufl::analysis {

// One line's waits. Waits without a stack are of none. A line that has both waits of the host and
// of streams (cudaStreamWaitEvent) is there twice.
struct SyncLine {
  const CodeSite* site = nullptr;
  std::vector<uint32_t> waits;  // rows, in order of time
  bool holds_stream = false;    // and not the host, which these calls do not block
  int64_t blocked_ns = 0;       // of the host
};
std::vector<SyncLine> sync_lines(const SessionView& view);  // most blocked time first
// "StreamSynchronize"; where several calls wait at one line, that with the most time.
std::string_view wait_name(const Waits& waits, const SyncLine& line);

struct LoopSync {
  SyncLine line;        // of waits of the host
  int64_t device = -1;  // that it waits for
  Interval span;        // from its first wait's start to its last one's end
  double median_launches = 0;
  // Of estimated_loop_syncs() alone:
  int64_t idle_ns = 0;           // of the GPU, that the wait may be to blame for
  double queued_pause_ns = 0;    // what is left of each pause of it, see SessionView
  bool has_other_waits = false;  // of the same thread in that span, that block it, too
  double gain_ns = 0;
};
// Lines with at least in_loop_sync.min_syncs waits and, by their median, in_loop_sync.min_kernels
// launches between two of them.
std::vector<LoopSync> find_loop_syncs(const SessionView& view);
// The same, with what they cost.
std::vector<LoopSync> estimated_loop_syncs(const SessionView& view);

}  // namespace gpufl::analysis
