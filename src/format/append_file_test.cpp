// SPDX-License-Identifier: Apache-2.0
#include "format/append_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <string>

// A file in a program that does with descriptors what it likes.
namespace gpufl::format {
namespace {

namespace fs = std::filesystem;

class AppendFileTest : public testing::Test {
 protected:
  AppendFileTest() {
    char pattern[] = "/tmp/gpufl_append_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~AppendFileTest() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The descriptor of this process that is open on `path`; -1: none.
  static int descriptor_of(const fs::path& path) {
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      if (fs::read_symlink(entry.path(), error) == path) {
        return std::stoi(entry.path().filename().string());
      }
    }
    return -1;
  }
  // Its own file in the place of the one at `path`, as a program does that closes all descriptors.
  int take_descriptor(const fs::path& path) const {
    const int own = ::open((folder_ / "own").c_str(), O_RDWR | O_CREAT, 0644);
    const int taken = ::dup2(own, descriptor_of(path));
    ::close(own);
    return taken;
  }

  fs::path folder_;
};

TEST_F(AppendFileTest, AProgramThatTakesTheDescriptorGetsNothingAndLosesNothing) {
  const fs::path path = folder_ / "log";
  AppendFile file;
  ASSERT_EQ(file.open_new(path), 0);
  ASSERT_EQ(file.append("one\n"), 0);
  const int taken = take_descriptor(path);
  ASSERT_GE(taken, 0);
  EXPECT_EQ(file.append("two\n"), 0);
  EXPECT_EQ(file.sync(), 0);
  EXPECT_EQ(text_of(path), "one\ntwo\n");
  EXPECT_EQ(file.size(), 8u);
  EXPECT_EQ(text_of(folder_ / "own"), "");
  file.close();
  EXPECT_EQ(::fcntl(taken, F_GETFD), 0) << "the program's own file was closed";
  ::close(taken);
}

TEST_F(AppendFileTest, WithoutTheFileNothingIsWrittenElsewhere) {
  const fs::path path = folder_ / "log";
  AppendFile file;
  ASSERT_EQ(file.open_new(path), 0);
  const int taken = take_descriptor(path);
  fs::remove(path);
  std::ofstream(path) << "another file\n";
  EXPECT_EQ(file.append("two\n"), EBADF);
  EXPECT_EQ(text_of(path), "another file\n");
  EXPECT_EQ(text_of(folder_ / "own"), "");
  file.close();
  EXPECT_EQ(::fcntl(taken, F_GETFD), 0);
  ::close(taken);
}

TEST_F(AppendFileTest, AFileIsNeverStandardOutput) {
  const int kept = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  AppendFile file;
  EXPECT_EQ(file.open_new(folder_ / "log"), 0);
  EXPECT_GT(descriptor_of(folder_ / "log"), STDERR_FILENO);
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  }
}

}  // namespace
}  // namespace gpufl::format
