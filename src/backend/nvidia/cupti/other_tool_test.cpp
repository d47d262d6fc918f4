// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/other_tool.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

TEST(OtherToolTest, IsNamedByWhatIsInjectedOrLoaded) {
  EXPECT_EQ(name_other_tool("", {"", "/lib/libc.so.6"}), "");
  EXPECT_EQ(name_other_tool("", {"/lib/libc.so.6", "/site-packages/torch/lib/libtorch_cpu.so"}),
            "torch.profiler (libtorch_cpu.so)");
  // What is there only to profile is the likelier one.
  EXPECT_EQ(name_other_tool("", {"/t/libtorch_cpu.so", "/opt/nsys/libToolsInjection64.so"}),
            "Nsight Systems (libToolsInjection64.so)");
  EXPECT_EQ(name_other_tool("/opt/nsys/libToolsInjection64.so", {"/t/libtorch_cpu.so"}),
            "Nsight Systems (libToolsInjection64.so)");
  EXPECT_EQ(name_other_tool("/opt/x/libmine.so", {}),
            "the tool of CUDA_INJECTION64_PATH (libmine.so)");
}

}  // namespace
}  // namespace gpufl::backend
