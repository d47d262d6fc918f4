// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How to get from a frame to its caller: what the compiler's unwind tables say for one address,
// reduced to eight bytes. The numbers are those of x86-64, where a caller's frame begins (CFA) at
// rsp, rbp or, in a few hand-written functions, rbx plus an offset, and the return address lies
// just below. Another machine brings its own registers and its own step: aarch64 would have x29 and
// sp as bases, the rule for x30 in place of "just below", and strip pointer authentication.
namespace gpufl::symbols {

enum class StepKind : uint8_t {
  None,      // not evaluated; never the result of an evaluation
  Cfi,       // CFA = base + offset
  CfiDeref,  // CFA = *(base + offset): functions that realign their stack
  Signal,    // the kernel's signal frame: all registers lie at rsp
  FramePtr,  // no table covers the address: rbp, where it looks like a chain of frames
  End,       // the outermost frame
};
enum class StepBase : uint8_t { Rsp, Rbp, Rbx };
enum class SavedAt : uint8_t {
  Nowhere,  // the caller's value is still in the register
  Cfa,      // at CFA + offset
  Rbp,      // at rbp + offset
  Lost,     // somewhere that a step cannot say
};

struct SavedRegister {
  SavedAt at = SavedAt::Nowhere;
  int32_t offset = 0;
};

struct UnwindStep {
  StepKind kind = StepKind::None;
  StepBase base = StepBase::Rsp;
  int32_t cfa_offset = 0;
  SavedRegister rbp{}, rbx{};

  // Offsets are multiples of 8 and mostly small. A saved register too far away is lost; a CFA too
  // far away leaves nothing to go by but rbp.
  uint64_t pack() const {
    if (!fits(cfa_offset, kCfaBits)) return UnwindStep{.kind = StepKind::FramePtr}.pack();
    return static_cast<uint64_t>(kind) | static_cast<uint64_t>(base) << 3 |
           field(cfa_offset, kCfaBits, kCfaShift) | saved(rbp, 5, kRbpShift) |
           saved(rbx, 7, kRbxShift);
  }

  static UnwindStep unpack(uint64_t bits) {
    return {static_cast<StepKind>(bits & 7),
            static_cast<StepBase>(bits >> 3 & 3),
            offset(bits, kCfaBits, kCfaShift),
            {static_cast<SavedAt>(bits >> 5 & 3), offset(bits, kSavedBits, kRbpShift)},
            {static_cast<SavedAt>(bits >> 7 & 3), offset(bits, kSavedBits, kRbxShift)}};
  }

 private:
  static constexpr int kCfaBits = 25, kSavedBits = 15;
  static constexpr int kCfaShift = 9, kRbpShift = 34, kRbxShift = 49;

  static constexpr uint64_t saved(SavedRegister where, int at_shift, int offset_shift) {
    if (!fits(where.offset, kSavedBits)) where = {SavedAt::Lost, 0};
    return static_cast<uint64_t>(where.at) << at_shift |
           field(where.offset, kSavedBits, offset_shift);
  }
  static constexpr bool fits(int32_t value, int bits) {
    const int32_t limit = int32_t{1} << (bits - 1);
    return value % 8 == 0 && value / 8 >= -limit && value / 8 < limit;
  }
  static constexpr uint64_t field(int32_t value, int bits, int shift) {
    return (static_cast<uint64_t>(int64_t{value / 8}) & ((uint64_t{1} << bits) - 1)) << shift;
  }
  static constexpr int32_t offset(uint64_t packed, int bits, int shift) {
    return static_cast<int32_t>(static_cast<int64_t>(packed << (64 - bits - shift)) >>
                                (64 - bits)) *
           8;
  }
};

}  // namespace gpufl::symbols
