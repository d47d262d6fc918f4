// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/sm_balance.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

namespace gpufl::analysis {
namespace {

struct Block {
  int64_t sm = -1, number = 0;
  Interval extent;
};

std::vector<Block> blocks_of(const WarpCapture& capture) {
  std::vector<Block> blocks;
  capture.for_each_block([&](size_t first, size_t last) {
    Block block{capture.lanes[first].sm, capture.lanes[first].block, capture.lanes[first].extent};
    for (size_t lane = first + 1; lane < last; ++lane) {
      const Interval& extent = capture.lanes[lane].extent;
      block.extent.start = std::min(block.extent.start, extent.start);
      block.extent.end = std::max(block.extent.end, extent.end);
    }
    blocks.push_back(block);
  });
  return blocks;
}

// Most of these at the same time; they are in order of their start.
size_t most_at_once(const std::vector<Block>& blocks) {
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends;
  size_t most = 0;
  for (const Block& block : blocks) {
    while (!ends.empty() && ends.top() <= block.extent.start) ends.pop();
    ends.push(block.extent.end);
    most = std::max(most, ends.size());
  }
  return most;
}

void add_to_wave(const Block& block, size_t number, std::vector<BlockWave>& waves) {
  if (number >= waves.size()) waves.resize(number + 1);
  BlockWave& wave = waves[number];
  if (wave.blocks == 0) wave.extent = block.extent;
  wave.blocks += 1;
  wave.extent.start = std::min(wave.extent.start, block.extent.start);
  wave.extent.end = std::max(wave.extent.end, block.extent.end);
}

}  // namespace

Figure<SmBalance> sm_balance(const WarpCapture& capture) {
  std::map<int64_t, std::vector<Block>> by_sm;
  SmBalance balance;
  std::vector<int64_t> block_ns, blocks_per_sm, covered_ns;
  int64_t longest = -1;
  for (const Block& block : blocks_of(capture)) {
    if (block.sm < 0) {
      return Unknown{"the capture does not record which multiprocessor its blocks ran on",
                     "record with a side block"};
    }
    by_sm[block.sm].push_back(block);
    block_ns.push_back(block.extent.length());
    if (block_ns.back() > longest) {
      longest = block_ns.back();
      balance.longest_block = block.number;
    }
  }
  if (by_sm.empty()) return Unknown{"the capture has no records", ""};
  int64_t longest_covered = -1;
  for (auto& [sm, blocks] : by_sm) {
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
      return std::tie(a.extent.start, a.number) < std::tie(b.extent.start, b.number);
    });
    Intervals covered;
    for (const Block& block : blocks) add_in_order(covered, block.extent.start, block.extent.end);
    blocks_per_sm.push_back(static_cast<int64_t>(blocks.size()));
    covered_ns.push_back(total_length(covered));
    if (covered_ns.back() > longest_covered) {
      longest_covered = covered_ns.back();
      balance.last_sm = sm;
    }
    balance.resident = std::max<uint64_t>(balance.resident, most_at_once(blocks));
  }
  for (const auto& [sm, blocks] : by_sm) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      add_to_wave(blocks[i], i / std::max<size_t>(1, balance.resident), balance.waves);
    }
  }
  balance.sms = by_sm.size();
  balance.blocks_per_sm = stats_of(blocks_per_sm);
  balance.covered_ns = stats_of(covered_ns);
  balance.block_ns = stats_of(block_ns);
  return balance;
}

}  // namespace gpufl::analysis
