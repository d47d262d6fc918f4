// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_passes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpufl::cli {
namespace {

using Names = std::vector<std::string>;

TEST(TracePasses, AreNamedWithCommasOrPlusSigns) {
  EXPECT_EQ(*parse_passes("Trace,PcSampling,SassMetrics"),
            (Names{"Trace", "PcSampling", "SassMetrics"}));
  EXPECT_EQ(*parse_passes(" pcsampling + trace"), (Names{"PcSampling", "Trace"}));
  EXPECT_EQ(*parse_passes("Trace"), Names{"Trace"});
}

TEST(TracePasses, AreRefusedWithWhatIsWrong) {
  const std::string unknown = parse_passes("Trace,PcSampler").status().message();
  EXPECT_NE(unknown.find("'PcSampler' is not one of Monitor, Trace, "), std::string::npos)
      << unknown;
  EXPECT_NE(unknown.find("did you mean 'PcSampling'?"), std::string::npos) << unknown;
  EXPECT_EQ(parse_passes("Trace,trace").status().message(),
            "'Trace' is named twice; each engine is one pass");
  EXPECT_EQ(parse_passes(" ,").status().message(),
            "no engine is named; write, for example, Trace,PcSampling");
}

}  // namespace
}  // namespace gpufl::cli
