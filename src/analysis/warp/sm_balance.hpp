// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/warp/warp_capture.hpp"

// How evenly the blocks of a launch use the multiprocessors, and in which waves they ran there: n
// log n in the blocks.
namespace gpufl::analysis {

// Blocks that ran at the same time, on all multiprocessors: the first `resident` of each are the
// first wave.
struct BlockWave {
  uint64_t blocks = 0;
  Interval extent;
};

struct SmBalance {
  uint64_t sms = 0;                 // that ran a block
  uint64_t resident = 0;            // most blocks at the same time on one of them
  Stats blocks_per_sm, covered_ns;  // of each: blocks, and time with at least one
  int64_t last_sm = 0;              // that was covered longest
  Stats block_ns;                   // blocks, from first record to last
  int64_t longest_block = 0;
  std::vector<BlockWave> waves;

  // Of the time that all would have been covered if each were as long as the longest, what was not.
  double imbalance() const {
    return covered_ns.max == 0 ? 0 : 1 - covered_ns.mean / static_cast<double>(covered_ns.max);
  }
};
Figure<SmBalance> sm_balance(const WarpCapture& capture);

}  // namespace gpufl::analysis
