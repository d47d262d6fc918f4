// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/multiprocessor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::analysis {
namespace {

std::optional<Multiprocessor> of(const std::string& vendor, const std::string& architecture) {
  base::Json device = base::Json::object();
  device.set("vendor", vendor).set("architecture", architecture);
  return multiprocessor_of(device);
}

// As the CUDA driver answers on an H200 and on a T4.
TEST(Multiprocessor, IsKnownByArchitecture) {
  EXPECT_EQ(of("nvidia", "sm_90"),
            (Multiprocessor{2048, 32, 65'536, 233'472, 1024, 32, 4, 256, 128, 256, 128}));
  EXPECT_EQ(of("nvidia", "sm_90a"), of("nvidia", "sm_90"));
  EXPECT_EQ(of("nvidia", "sm_75"),
            (Multiprocessor{1024, 16, 65'536, 65'536, 0, 32, 4, 256, 256, 128, 4}));
  EXPECT_EQ(of("nvidia", "sm_120")->threads, 1536);
  EXPECT_EQ(of("nvidia", "sm_103")->fp32_per_clock, 256);
  EXPECT_EQ(of("nvidia", "sm_103")->fp64_per_clock, std::nullopt) << "not published, not zero";
}

TEST(Multiprocessor, OfOthersNothingIsGuessed) {
  EXPECT_FALSE(of("nvidia", "sm_999"));
  EXPECT_FALSE(of("nvidia", "sm_9"));
  EXPECT_FALSE(of("nvidia", ""));
  EXPECT_FALSE(of("amd", "gfx942"));
  EXPECT_FALSE(of("amd", "sm_90"));
  EXPECT_FALSE(multiprocessor_of(base::Json::object()));
}

}  // namespace
}  // namespace gpufl::analysis
