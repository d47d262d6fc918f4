// SPDX-License-Identifier: Apache-2.0
#include "text/cut_names.hpp"

#include <gtest/gtest.h>

#include "text/display.hpp"

namespace gpufl::text {
namespace {

using Names = std::vector<std::string>;

TEST(FitEndsTest, CutsInTheMiddleByColumns) {
  EXPECT_EQ(fit_ends("forward_pass", 12), "forward_pass");
  EXPECT_EQ(fit_ends("forward_pass", 11), "forw...pass");
  EXPECT_EQ(fit_ends("forward_pass", 4), "f...");
  // Two columns each; where one does not fit, its place is left.
  EXPECT_EQ(fit_ends("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97", 7),
            "\xe6\xbc\xa2...\xe5\xad\x97");
  EXPECT_EQ(fit_ends("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97", 6), "\xe6\xbc\xa2...");
}

TEST(CutNamesTest, KeepTheBeginningWhereThatTellsThemApart) {
  EXPECT_EQ(cut_names(Names{"kernel_of_float_add_one", "kernel_of_float_multiply", "other"}, 20),
            (Names{"kernel_of_float_a...", "kernel_of_float_m...", "other"}));
}

TEST(CutNamesTest, KeepTheWordThatTellsThemApart) {
  EXPECT_EQ(
      cut_names(Names{"kernel_of_float_add_one", "kernel_of_float_multiply", "other_kernel",
                      "another_rather_long_one"},
                18),
      (Names{"kernel_...add_one", "kernel_...multiply", "other_kernel", "another_rather_..."}));
}

// The end is the same in all, and so is the beginning.
TEST(CutNamesTest, KeepWhatDiffersInTheMiddle) {
  const std::string end = " in step > update, grid 128x1x1, block 256x1x1";
  const Names cut = cut_names(Names{"vectorized_elementwise_kernel<lerp_scalar>" + end,
                                    "vectorized_elementwise_kernel<addcdiv_cuda>" + end},
                              32);
  EXPECT_EQ(cut[0], "vectorize...lerp_scalar> in s...");
  EXPECT_EQ(cut[1], "vectorize...addcdiv_cuda> in ...");
}

TEST(CutNamesTest, KeepTheEndTooWhereSomeDifferOnlyThere) {
  const std::string name = "vectorized_elementwise_kernel<";
  const Names cut = cut_names(Names{name + "lerp_scalar_cuda> in step > update, grid 64",
                                    name + "lerp_scalar_cuda> in step > update, grid 128",
                                    name + "addcdiv_cuda> in step > update, grid 64",
                                    name + "addcdiv_cuda> in step > update, grid 128"},
                              32);
  EXPECT_EQ(cut[0], "vectori...lerp_scala..., grid 64");
  EXPECT_EQ(cut[1], "vectori...lerp_scala... grid 128");
  EXPECT_EQ(cut[2], "vectori...addcdiv_cu..., grid 64");
  EXPECT_EQ(cut[3], "vectori...addcdiv_cu... grid 128");
}

TEST(CutNamesTest, PutNoEllipsisBesideAnother) {
  const Names cut = cut_names(Names{"cutlass_gemm<......>(float const*, int) of_one",
                                    "cutlass_gemm<......>(float const*, int) of_two"},
                              24);
  EXPECT_EQ(cut[0], "cutlass_gemm<...one");
  EXPECT_EQ(cut[1], "cutlass_gemm<...two");
}

TEST(CutNamesTest, AreNeverWiderThanAskedForNorCutACharacter) {
  const std::string wide = "\xe6\xbc\xa2\xe5\xad\x97";
  Names names;
  for (const char* last : {"\xe6\xbc\xa3", "\xe6\xbc\xa4", "a", ""}) {
    names.push_back(wide + wide + wide + wide + wide + wide + last + wide + wide);
  }
  for (size_t width = 1; width < 40; ++width) {
    for (const std::string& cut : cut_names(names, width)) {
      EXPECT_LE(display_width(cut), width) << cut;
      EXPECT_EQ(make_harmless(cut), cut);
    }
  }
}

TEST(CutNamesTest, OfTheSameNameAreTheSame) {
  EXPECT_EQ(cut_names(Names{"the_same_long_name", "the_same_long_name"}, 10),
            (Names{"the_sam...", "the_sam..."}));
  EXPECT_TRUE(cut_names({}, 10).empty());
}

}  // namespace
}  // namespace gpufl::text
