// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope_host.hpp>

#include <cstdint>
#include <vector>

// A warpscope capture as a kernel would have left it, for tests of what becomes of it. Lanes are
// strided; every record is given with the 64 bits that the GPU's timer showed.
namespace gpufl::capture {

enum class WarpRecord : uint32_t { Begin = 0, End = 1, Instant = 2, Finalize = 3 };

class WarpWords {
 public:
  WarpWords(uint32_t blocks, uint32_t groups, uint32_t max_records, const ws::Names& names = {}) {
    layout_.num_blocks = blocks;
    layout_.num_groups = groups;
    layout_.max_records = max_records;
    layout_.launch_id = 4711;
    layout_.event_cost_ps = 17'700;
    words_ = ws::make_capture(layout_, names);
    words_[0] = blocks | uint64_t{groups} << 32;
    used_.resize(layout_.lanes());
  }

  void add(uint32_t block, uint32_t group, WarpRecord type, uint32_t event, uint64_t stamp) {
    const uint32_t lane = block * layout_.num_groups + group;
    const uint64_t slot = 1 + lane + uint64_t{used_[lane]} * layout_.stride();
    const uint32_t tag = lane << 12 | event << 2 | static_cast<uint32_t>(type);
    words_[slot] = stamp << 32 | tag;
    uint64_t* const side = &words_[layout_.num_slots() + kHeaderWords + lane * kLaneWords];
    if (used_[lane]++ == 0) {
      side[0] = stamp;
      side[6] = block | uint64_t{1} << 48;
    }
    if (type == WarpRecord::Finalize) {
      side[2] = stamp;
      side[4] = used_[lane] - 1;
      side[6] |= uint64_t{1} << 49;
    }
  }
  void span(uint32_t block, uint32_t group, uint32_t event, uint64_t begin, uint64_t end) {
    add(block, group, WarpRecord::Begin, event, begin);
    add(block, group, WarpRecord::End, event, end);
  }

  const std::vector<uint64_t>& capture() const { return words_; }
  // What wire format v1 alone has.
  std::vector<uint64_t> region() const {
    return {words_.begin(), words_.begin() + static_cast<ptrdiff_t>(layout_.num_slots())};
  }

 private:
  static constexpr uint64_t kHeaderWords = 16, kLaneWords = 8;
  ws::CaptureLayout layout_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> used_;  // slots, by lane
};

}  // namespace gpufl::capture
