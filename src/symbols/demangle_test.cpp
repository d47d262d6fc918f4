// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gpufl::symbols {
namespace {

TEST(DemangleTest, NamesAreWhole) {
  EXPECT_EQ(demangle("_ZN2at6native4copyIfEEvPT_i"), "void at::native::copy<float>(float*, int)");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi"),
            "std::vector<int, std::allocator<int> >::push_back(int&&)");
  EXPECT_EQ(demangle("_ZZ4mainENKUlvE_clEv"), "main::{lambda()#1}::operator()() const");
}

TEST(DemangleTest, WhatIsNotMangledStays) {
  for (const char* name : {"", "main", "cudaLaunchKernel", "_start", "_Z", "_R", "_Zbroken!",
                           "ampere_sgemm_128x64_nn", "void f(int)"}) {
    EXPECT_EQ(demangle(name), name);
  }
  EXPECT_EQ(demangle(std::string_view("_Z1fv\0x", 7)), std::string_view("_Z1fv\0x", 7));
}

TEST(DemangleTest, RustNamesAreReadable) {
  EXPECT_EQ(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt");
  EXPECT_EQ(demangle("_RNvCskwGfYPst2Cb_3foo16example_function"), "foo::example_function");
}

std::string many_arguments(int count, const char* mangled) {
  std::string name = "_Z6kernelIJ";
  for (int i = 0; i < count; ++i) name += mangled;
  return name + "EEvv";
}

TEST(DemangleTest, ALongNameIsWholeToo) {
  const std::string name = many_arguments(1000, "4TileILi3EE");
  ASSERT_GT(name.size(), 10'000u);
  const std::string text = demangle(name);
  EXPECT_TRUE(text.starts_with("void kernel<Tile<3>, Tile<3>")) << text.substr(0, 80);
  EXPECT_TRUE(text.ends_with("Tile<3> >()")) << text.substr(text.size() - 80);
}

// Each parameter is a pair of the one before it: 2^30 names.
TEST(DemangleTest, ANameWithoutAnEndIsGivenUp) {
  std::string name = "_Z1f1aIiiE";
  for (const char digit : std::string("0123456789ABCDEFGHIJKLMNOPQRST")) {
    const std::string last = std::string("S") + digit + "_";
    name += "S_I" + last + last + "E";
  }
  EXPECT_EQ(demangle(name), name);
}

TEST(DemangleTest, DeepNestingDoesNotEndTheProcess) {
  for (const char* part : {"P", "K", "N", "I", "X", "F", "A1_", "DpT", "L_Z", "cl"}) {
    std::string name = "_Z1f";
    while (name.size() + 8 < 65'536) name += part;
    name += "i";
    EXPECT_LE(demangle(name).size(), kMaxDemangledBytes) << part;
  }
}

TEST(DemangleTest, AnyThreadMayAsk) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        const std::string digits = std::to_string(i);
        const std::string name = "f" + digits;
        EXPECT_EQ(demangle("_Z" + std::to_string(name.size()) + name + "v"), name + "()");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpufl::symbols
