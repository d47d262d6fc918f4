// SPDX-License-Identifier: Apache-2.0
#include "disassembly/listing.hpp"

#include <gtest/gtest.h>

#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

const std::string kListing = format::testing::read_text(testing::kFixture / "scale.sass");

TEST(ListingTest, CodeHasOffsetsLinesAndTargets) {
  const auto sections = parse_listing(kListing);
  ASSERT_EQ(sections.size(), 2u);
  const KernelCode& code = sections[0];
  EXPECT_EQ(code.name, "scale");
  ASSERT_EQ(code.instructions.size(), 6u);
  EXPECT_EQ(code.instructions[0].chain, kNoChain);
  EXPECT_EQ(code.instructions[0].ptx_line, 0u);
  EXPECT_EQ(code.instructions[1].text, "S2R R5, SR_CTAID.X");
  EXPECT_EQ(code.instructions[1].ptx_line, 40u);
  EXPECT_EQ(code.files, (std::vector<std::string>{"/a b/k.cu", "/inc/h.hpp"}));
  EXPECT_EQ(code.chains[code.instructions[1].chain], (InlineChain{{0, 8}}));
  EXPECT_EQ(code.chains[code.instructions[2].chain], (InlineChain{{1, 2}, {0, 14}}));
  EXPECT_EQ(code.instructions[2].text, "@!P0 LDG.E R0, desc[UR6][R2.64]");
  EXPECT_EQ(code.instructions[3].chain, code.instructions[2].chain);
  EXPECT_EQ(code.instructions[3].target, 0x20);
  EXPECT_EQ(code.chains[code.instructions[4].chain], (InlineChain{{0, 14}}));
  EXPECT_EQ(code.instructions[4].target, 0x50);
  EXPECT_EQ(code.instructions[5].target, -1);
  EXPECT_EQ(sections[1].name, "odd,name");
  EXPECT_EQ(listed_target(kListing), "sm_90");
}

TEST(ListingTest, LiveRegistersComeFromTheFirstColumn) {
  auto sections = parse_listing(kListing);
  add_live_registers(format::testing::read_text(testing::kFixture / "scale_registers.sass"),
                     sections);
  EXPECT_EQ(sections[0].instructions[0].live_registers, 1);
  EXPECT_EQ(sections[0].instructions[1].live_registers, 0);
  EXPECT_EQ(sections[0].instructions[2].live_registers, -1);
  EXPECT_EQ(sections[0].instructions[3].live_registers, 12);
}

TEST(ListingTest, WhatMakesNoSenseIsPassedOver) {
  EXPECT_TRUE(parse_listing("").empty());
  EXPECT_TRUE(parse_listing("nonsense\n/*0000*/ NOP;\n").empty());
  const auto sections = parse_listing(
      "\t.section\t.text.k,\"ax\"\n /*zz*/ NOP;\n /*0000 NOP\n //## File \"a\", line x\n"
      " //## File \"a\n /*0010*/ ;\n /*0020*/ NOP;");
  ASSERT_EQ(sections.size(), 1u);
  ASSERT_EQ(sections[0].instructions.size(), 1u);
  EXPECT_EQ(sections[0].instructions[0].offset, 0x20u);
  EXPECT_EQ(sections[0].instructions[0].chain, kNoChain);
}

}  // namespace
}  // namespace gpufl::disassembly
