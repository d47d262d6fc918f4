// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

namespace gpufl::base {
namespace {

TEST(DynamicLibrary, OpensTheFirstThatIsThere) {
  const auto library = DynamicLibrary::open({"libgpufl-no-such.so.1", "libm.so.6"});
  ASSERT_TRUE(library.is_ok()) << library.status().text();
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_NE(library->path().find("libm.so.6"), std::string::npos);
  double (*square_root)(double) = nullptr;
  ASSERT_TRUE(library->load("sqrt", square_root));
  EXPECT_EQ(square_root(9.0), 3.0);
}

TEST(DynamicLibrary, AMissingSymbolIsNull) {
  const auto library = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(library.is_ok());
  int (*missing)() = nullptr;
  EXPECT_FALSE(library->load("gpufl_no_such_symbol", missing));
  EXPECT_EQ(missing, nullptr);
}

TEST(DynamicLibrary, NamesEveryLibraryThatItDidNotFind) {
  const auto library = DynamicLibrary::open({"libgpufl-a.so", "libgpufl-b.so"});
  ASSERT_FALSE(library.is_ok());
  EXPECT_EQ(library.status().code(), Code::NotFound);
  EXPECT_NE(library.status().message().find("libgpufl-a.so"), std::string::npos);
  EXPECT_NE(library.status().message().find("libgpufl-b.so"), std::string::npos);
}

TEST(DynamicLibrary, AFileThatIsNoLibraryIsNotCalledMissing) {
  char path[] = "/tmp/gpufl-not-a-library-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "no ELF", 6), 6);
  close(fd);
  const auto library = DynamicLibrary::open({path});
  unlink(path);
  ASSERT_FALSE(library.is_ok());
  EXPECT_EQ(library.status().code(), Code::Unavailable);
}

TEST(DynamicLibrary, FindsOnlyWhatIsLoaded) {
  EXPECT_TRUE(DynamicLibrary::find_loaded({"libc.so.6"}).is_ok());
  EXPECT_EQ(DynamicLibrary::find_loaded({"libcupti.so.13"}).status().code(), Code::NotFound);
}

}  // namespace
}  // namespace gpufl::base
