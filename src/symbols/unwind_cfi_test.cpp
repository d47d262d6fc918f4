// SPDX-License-Identifier: Apache-2.0
#include "symbols/unwind_cfi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "symbols/modules.hpp"
#include "symbols/unwind_cache.hpp"

// Tables written byte by byte: what compilers write often is tested against real code in
// unwinder_test; here is what they write seldom, and what nobody should write.
namespace gpufl::symbols {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kDefCfaExpression = 0x0f, kExpression = 0x10, kUndefined = 0x07;
constexpr uint8_t kRbp = 6, kReturnAddress = 16;

// A module in memory: header, table of one function, its CIE and FDE.
class MadeModule {
 public:
  static constexpr size_t kHeader = 0, kCie = 64, kFde = 128, kCode = 512, kSize = 1024;

  explicit MadeModule(const Bytes& instructions, const std::string& augmentation = "zR")
      : memory_(kSize) {
    put(kHeader, {1, 0x1b, 0x03, 0x3b});
    put32(kHeader + 4, static_cast<int32_t>(kCie - (kHeader + 4)));
    put32(kHeader + 8, 1);
    put32(kHeader + 12, kCode - kHeader);
    put32(kHeader + 16, kFde - kHeader);

    Bytes cie = {1};
    cie.insert(cie.end(), augmentation.begin(), augmentation.end());
    // The string's end; code and data alignment; the return address; the encoding of pointers; then
    // CFA = rsp + 8 and the return address just below.
    for (const uint8_t byte : {0x00, 0x01, 0x78, 0x10, 0x01, 0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01}) {
      cie.push_back(byte);
    }
    put32(kCie, 60);
    put32(kCie + 4, 0);
    put(kCie + 8, cie);

    put32(kFde, 252);
    put32(kFde + 4, kFde + 4 - kCie);
    put32(kFde + 8, static_cast<int32_t>(kCode - (kFde + 8)));
    put32(kFde + 12, 256);
    put(kFde + 16, {0});
    put(kFde + 17, instructions);
  }

  CodeModule module() const {
    const auto begin = reinterpret_cast<uintptr_t>(memory_.data());
    return {begin, begin + memory_.size(), begin + kHeader};
  }
  uintptr_t code(size_t offset) const { return module().begin + kCode + offset; }
  UnwindStep at(size_t offset) const { return evaluate_cfi(module(), code(offset)); }
  Bytes& memory() { return memory_; }

 private:
  void put(size_t place, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<ptrdiff_t>(place));
  }
  void put32(size_t place, int32_t value) {
    std::memcpy(memory_.data() + place, &value, sizeof(value));
  }

  Bytes memory_;
};

TEST(UnwindCfiTest, FollowsTheRowsOfAFunction) {
  // push %rbp at 0, mov at 1; a remembered row at 20, restored at 24.
  const MadeModule made({0x41, 0x0e, 16, 0x86, 2,       // after 1: CFA rsp+16, rbp at CFA-16
                         0x43, 0x0d, kRbp,              // after 4: CFA rbp+16
                         0x50, 0x0a, 0x0c, 7, 8, 0xc6,  // after 20: remember; CFA rsp+8, rbp back
                         0x44, 0x0b});                  // after 24: as before
  EXPECT_EQ(made.at(0).cfa_offset, 8);
  EXPECT_EQ(made.at(0).rbp.at, SavedAt::Nowhere);
  EXPECT_EQ(made.at(1).cfa_offset, 16);
  EXPECT_EQ(made.at(1).rbp.at, SavedAt::Cfa);
  EXPECT_EQ(made.at(1).rbp.offset, -16);
  EXPECT_EQ(made.at(3).base, StepBase::Rsp);
  EXPECT_EQ(made.at(4).base, StepBase::Rbp);
  EXPECT_EQ(made.at(20).base, StepBase::Rsp);
  EXPECT_EQ(made.at(20).cfa_offset, 8);
  EXPECT_EQ(made.at(20).rbp.at, SavedAt::Nowhere);
  EXPECT_EQ(made.at(24).base, StepBase::Rbp);
  EXPECT_EQ(made.at(255).base, StepBase::Rbp);
  EXPECT_EQ(made.at(256).kind, StepKind::None);  // behind the function
  EXPECT_EQ(evaluate_cfi(made.module(), made.code(0) - 1).kind, StepKind::None);
}

TEST(UnwindCfiTest, ReadsTheArithmeticOfPltEntries) {
  // rsp + 8 + ((rip & 15) >= 11) * 8
  const MadeModule made(
      {kDefCfaExpression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  const size_t aligned = (16 - made.code(0) % 16) % 16;
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(made.at(aligned + i).kind, StepKind::Cfi);
    EXPECT_EQ(made.at(aligned + i).base, StepBase::Rsp);
    EXPECT_EQ(made.at(aligned + i).cfa_offset, i % 16 >= 11 ? 16 : 8);
  }
}

TEST(UnwindCfiTest, ReadsFramesThatWereRealigned) {
  // CFA is loaded from rbp-8; rbp is saved at rbp+0.
  const MadeModule made({kDefCfaExpression, 3, 0x76, 0x78, 0x06, kExpression, kRbp, 2, 0x76, 0});
  EXPECT_EQ(made.at(0).kind, StepKind::CfiDeref);
  EXPECT_EQ(made.at(0).base, StepBase::Rbp);
  EXPECT_EQ(made.at(0).cfa_offset, -8);
  EXPECT_EQ(made.at(0).rbp.at, SavedAt::Rbp);
  EXPECT_EQ(made.at(0).rbp.offset, 0);
}

TEST(UnwindCfiTest, KnowsEndsSignalsAndWhatItCannotSay) {
  EXPECT_EQ(MadeModule({kUndefined, kReturnAddress}).at(0).kind, StepKind::End);
  EXPECT_EQ(MadeModule({}, "zRS").at(0).kind, StepKind::Signal);
  EXPECT_EQ(MadeModule({0x0c, 12, 8}).at(0).kind, StepKind::None);              // CFA on r12
  EXPECT_EQ(MadeModule({0x09, kReturnAddress, 1}).at(0).kind, StepKind::None);  // in a register
  EXPECT_EQ(MadeModule({0x3e}).at(0).kind, StepKind::None);  // no such instruction
  EXPECT_EQ(MadeModule({0x0b}).at(0).kind, StepKind::None);  // nothing remembered
  EXPECT_EQ(MadeModule({0x09, kRbp, 1}).at(0).rbp.at, SavedAt::Lost);
  EXPECT_EQ(MadeModule({}, "zRx").at(0).kind, StepKind::None);
}

TEST(UnwindCfiTest, SurvivesDamagedTables) {
  const MadeModule good({0x41, 0x0e, 16,   0x86, 2,           0x43, 0x0d, kRbp, kDefCfaExpression,
                         3,    0x76, 0x78, 0x06, kExpression, kRbp, 2,    0x76, 0,
                         0x0a, 0x0b});
  ASSERT_EQ(good.at(10).kind, StepKind::CfiDeref);
  std::mt19937 random(3);
  for (int i = 0; i < 200'000; ++i) {
    MadeModule made = good;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      made.memory()[random() % 200] = static_cast<uint8_t>(random());
    }
    made.at(random() % 300);  // the sanitizers watch
  }
}

// Of this program, of libc and of none: both ways to find a module say the same.
TEST(ModulesTest, FindsCodeWithAndWithoutTheLoadersLock) {
  const auto program = reinterpret_cast<uintptr_t>(&evaluate_cfi);
  const auto libc = reinterpret_cast<uintptr_t>(&qsort);
  for (const uintptr_t address : {program, libc}) {
    const CodeModule quick = find_code_module(address), slow = find_code_module_by_loader(address);
    EXPECT_TRUE(quick.contains(address));
    EXPECT_TRUE(slow.contains(address));
    EXPECT_NE(slow.eh_frame_hdr, 0u);
    EXPECT_EQ(quick.eh_frame_hdr, slow.eh_frame_hdr);
    EXPECT_NE(evaluate_cfi(slow, address).kind, StepKind::None);
  }
  EXPECT_FALSE(find_code_module(4096).contains(4096));
  EXPECT_FALSE(find_code_module_by_loader(4096).contains(4096));
}

TEST(UnwindStepTest, SurvivesPacking) {
  std::mt19937 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const auto small = [&] { return static_cast<int32_t>(random() % 32'000) * 8 - 128'000; };
    const UnwindStep step{static_cast<StepKind>(1 + random() % 5),
                          static_cast<StepBase>(random() % 3),
                          static_cast<int32_t>(random() % 30'000'000) * 8 - 120'000'000,
                          {static_cast<SavedAt>(random() % 4), small()},
                          {static_cast<SavedAt>(random() % 4), small()}};
    const UnwindStep back = UnwindStep::unpack(step.pack());
    ASSERT_EQ(back.kind, step.kind);
    ASSERT_EQ(back.base, step.base);
    ASSERT_EQ(back.cfa_offset, step.cfa_offset);
    ASSERT_EQ(back.rbp.at, step.rbp.at);
    ASSERT_EQ(back.rbp.offset, step.rbp.offset);
    ASSERT_EQ(back.rbx.at, step.rbx.at);
    ASSERT_EQ(back.rbx.offset, step.rbx.offset);
  }
}

TEST(UnwindStepTest, SaysWhatDoesNotFit) {
  const auto packed = [](int32_t cfa, int32_t rbp) {
    return UnwindStep::unpack(
        UnwindStep{StepKind::Cfi, StepBase::Rsp, cfa, {SavedAt::Cfa, rbp}, {}}.pack());
  };
  EXPECT_EQ(packed(1 << 30, -16).kind, StepKind::FramePtr);
  EXPECT_EQ(packed(12, -16).kind, StepKind::FramePtr);
  EXPECT_EQ(packed(16, -4'000'000).kind, StepKind::Cfi);
  EXPECT_EQ(packed(16, -4'000'000).rbp.at, SavedAt::Lost);
}

TEST(UnwindCacheTest, FindsAddressesOfTheirGenerationOnly) {
  UnwindCache cache(4);
  EXPECT_EQ(cache.find(0x1000, 0), 0u);
  cache.insert(0x1000, 0, 7);
  EXPECT_EQ(cache.find(0x1000, 0), 7u);
  EXPECT_EQ(cache.find(0x1000, 1), 0u);
  cache.insert(0x1000, 1, 8);
  EXPECT_EQ(cache.find(0x1000, 1), 8u);
}

TEST(UnwindCacheTest, IsFullWithoutHarmAndMakesRoomInTheNextGeneration) {
  UnwindCache cache(4);
  for (uintptr_t address = 1; address <= 1'000; ++address) {
    cache.insert(address << 12, 0, address);
  }
  size_t known = 0;
  for (uintptr_t address = 1; address <= 1'000; ++address) {
    const uint64_t step = cache.find(address << 12, 0);
    EXPECT_TRUE(step == 0 || step == address);
    known += step != 0 ? 1 : 0;
  }
  EXPECT_EQ(known, 16u);
  cache.insert(5'000 << 12, 1, 9);
  EXPECT_EQ(cache.find(5'000 << 12, 1), 9u);
}

}  // namespace
}  // namespace gpufl::symbols
