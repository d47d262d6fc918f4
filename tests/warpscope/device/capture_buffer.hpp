// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/wire.cuh>

#include <cstdint>
#include <vector>

// A capture in the host's memory, laid out by hand as docs/reference/warpscope-format.md has it,
// and the argument for a kernel that writes into it.
namespace ws_test {

struct Shape {
  uint32_t num_blocks = 1, num_groups = 1;
  uint32_t max_records = 8;
  uint32_t placement = ws::kPlacedStrided;
  uint32_t policy = ws::kKeepFirst;
  bool has_extensions = false;
  ws::Window window = {};
  uint32_t name_words = 0;  // odd: extension words do not begin at 16 bytes
};

class CaptureBuffer {
 public:
  explicit CaptureBuffer(const Shape& shape) : shape_(shape) {
    const uint64_t lanes = uint64_t{shape.num_blocks} * shape.num_groups;
    const bool strided = shape.placement == ws::kPlacedStrided;
    slots_ = (strided ? 1 : 2) + lanes * shape.max_records;
    side_words_ = 16 + 8 * lanes + shape.name_words;
    words_.resize(slots_ + side_words_ + (shape.has_extensions ? slots_ : 0));
    uint64_t* side = words_.data() + slots_;
    side[0] = 0x3250435350524157;
    side[1] = pair(1, 16);
    side[2] = pair(shape.placement, 7);  // the kernel knows its clock, and says so
    side[3] = pair(shape.num_blocks, shape.num_groups);
    side[4] = pair(strided ? static_cast<uint32_t>(lanes) : 0, shape.max_records);
    side[5] = slots_;
    side[7] = pair(shape.policy, shape.has_extensions ? 1 : 0);
    side[8] = pair(shape.window.first_block, shape.window.end_block);
    side[9] = pair(shape.window.every_block, shape.window.every_tile);
    side[10] = pair(shape.window.first_tile, shape.window.end_tile);
    side[11] = pair(16, 8);
    side[13] = pair(static_cast<uint32_t>(side_words_), 0);
  }

  ws::Capture argument() { return ws::capture_at(words_.data(), words_.data() + slots_); }

  uint64_t header() const { return words_[0]; }
  uint64_t clock() const { return words_[slots_ + 2] >> 32; }
  // Word of slot `slot` of a lane, as the document computes it.
  uint64_t place(uint32_t lane, uint32_t slot) const {
    const uint64_t lanes = uint64_t{shape_.num_blocks} * shape_.num_groups;
    return shape_.placement == ws::kPlacedStrided ? 1 + lane + slot * lanes
                                                  : 2 + uint64_t{lane} * shape_.max_records + slot;
  }
  uint64_t record(uint32_t lane, uint32_t slot) const { return words_[place(lane, slot)]; }
  uint64_t extension(uint32_t lane, uint32_t slot) const {
    return words_[slots_ + side_words_ + place(lane, slot)];
  }
  uint64_t side(uint32_t lane, uint32_t word) const {
    return words_[slots_ + 16 + 8 * uint64_t{lane} + word];
  }
  static uint64_t pair(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

 private:
  const Shape shape_;
  uint64_t slots_ = 0, side_words_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace ws_test
