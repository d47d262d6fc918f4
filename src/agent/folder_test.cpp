// SPDX-License-Identifier: Apache-2.0
#include "agent/folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "base/temp_dir.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;

class FolderTest : public ::testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  base::TempDir dir_;
  const fs::path inside_ = dir_.path() / "inside";
};

TEST_F(FolderTest, ReadsRegularFiles) {
  write(inside_ / "a.log", "hello");
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder) << folder.status().text();
  const auto file = folder->open_file("a.log");
  ASSERT_TRUE(file) << file.status().text();
  EXPECT_EQ(file->size(), 5u);
  std::array<char, 3> into{};
  ASSERT_TRUE(file->read(2, into));
  EXPECT_EQ(std::string(into.begin(), into.end()), "llo");
  EXPECT_EQ(file->read(3, into).code(), base::Code::Corrupt) << "it is not that long";
  EXPECT_EQ(*file->sha256(5), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
}

TEST_F(FolderTest, FollowsNoLink) {
  write(dir_.path() / "secret", "secret");
  write(inside_ / "b", "");
  fs::create_symlink("../secret", inside_ / "link");
  fs::create_symlink("b", inside_ / "near");
  fs::create_directory_symlink(dir_.path(), inside_ / "modules");
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder);
  for (const char* name : {"link", "near"}) {
    EXPECT_EQ(folder->open_file(name).status().code(), base::Code::PermissionDenied) << name;
  }
  EXPECT_EQ(folder->open_folder("modules").status().code(), base::Code::PermissionDenied);
}

TEST_F(FolderTest, LeavesItsFolderByNoName) {
  write(dir_.path() / "secret", "secret");
  write(inside_ / "b", "");
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder);
  for (const char* name : {"../secret", "..", ".", "", "/etc/passwd", "./b"}) {
    EXPECT_EQ(folder->open_file(name).status().code(), base::Code::PermissionDenied) << name;
    EXPECT_FALSE(folder->open_folder(name)) << name;
  }
}

TEST_F(FolderTest, TakesNothingButRegularFiles) {
  fs::create_directories(inside_ / "folder");
  ASSERT_EQ(::mkfifo((inside_ / "pipe").c_str(), 0600), 0);
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder);
  for (const char* name : {"folder", "pipe"}) {
    EXPECT_EQ(folder->open_file(name).status().code(), base::Code::PermissionDenied) << name;
  }
  EXPECT_EQ(folder->open_file("absent").status().code(), base::Code::NotFound);
  EXPECT_FALSE(Folder::open(inside_ / "pipe"));
}

TEST_F(FolderTest, KnowsTheNamesInIt) {
  write(inside_ / "b", "");
  write(inside_ / "a", "");
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder);
  EXPECT_EQ(*folder->names(), (std::vector<std::string>{"a", "b"}));
  write(inside_ / "c", "");
  EXPECT_EQ(folder->names()->size(), 3u) << "each time anew";
}

TEST_F(FolderTest, AnOpenFileStaysWhatItIs) {
  write(inside_ / "a.log", "first");
  const auto folder = Folder::open(inside_);
  ASSERT_TRUE(folder);
  const auto file = folder->open_file("a.log");
  ASSERT_TRUE(file);
  fs::rename(inside_ / "a.log", inside_ / "a.1.log");
  write(inside_ / "a.log", "second one");
  EXPECT_EQ(file->size(), 5u);
  std::string text;
  std::ifstream(file->path()) >> text;
  EXPECT_EQ(text, "first");
}

}  // namespace
}  // namespace gpufl::agent
