// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/api_names.hpp"
#include "import/python_stacks.hpp"

namespace gpufl::importing {
namespace {

TEST(ApiNames, LoseTheAbiTheyWereCalledBy) {
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaStreamSynchronize_ptsz_v7000"), "cudaStreamSynchronize");
  EXPECT_EQ(plain_api_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(plain_api_name("cudaMalloc"), "cudaMalloc");
  EXPECT_EQ(plain_api_name("my_v"), "my_v");
  EXPECT_EQ(plain_api_name(""), "");
}

TEST(ApiNames, TellWhatWaits) {
  EXPECT_EQ(wait_of("cudaEventSynchronize"), 1);
  EXPECT_EQ(wait_of("cuStreamSynchronize"), 3);
  EXPECT_EQ(wait_of("cudaDeviceSynchronize"), 4);
  EXPECT_EQ(wait_of("cudaStreamWaitEvent"), 2);
  EXPECT_EQ(wait_of("cuStreamWaitEvent"), 2);
  EXPECT_EQ(wait_of("cudaMemcpy"), -1);
}

TEST(ApiNames, NumberWordsAsTheVendorDoes) {
  EXPECT_EQ(copy_direction_of("PtoP"), 10);
  EXPECT_EQ(copy_direction_of(""), -1);
  EXPECT_EQ(memory_kind_of("Managed Static"), 7);
  EXPECT_EQ(memory_kind_of("Unknown"), 0);
  EXPECT_EQ(memory_kind_of("Paper"), -1);
}

TEST(PythonNames, AreFileLineAndFunction) {
  const PythonPlace place = parse_python_name("a (b)/train.py(12): main");
  EXPECT_EQ(place.file, "a (b)/train.py");
  EXPECT_EQ(place.line, 12);
  EXPECT_EQ(place.function, "main");
}

TEST(PythonNames, MayBeAFunctionAlone) {
  for (const char* name :
       {"<built-in method mm>", "nn.Module: Linear_0", "f(x): y", "a(0): b", ""}) {
    const PythonPlace place = parse_python_name(name);
    EXPECT_EQ(place.function, name);
    EXPECT_EQ(place.line, 0);
  }
}

}  // namespace
}  // namespace gpufl::importing
