// SPDX-License-Identifier: Apache-2.0
#include "agent/folder_watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class FolderWatchTest : public ::testing::Test {
 protected:
  base::TempDir dir_;
  const fs::path root_ = dir_.path();
};

TEST_F(FolderWatchTest, TellsOfWhatComesIntoAFolderOfSessions) {
  FolderWatch watch;
  ASSERT_TRUE(watch.add(root_, true));
  EXPECT_FALSE(watch.has_news());
  fs::create_directory(root_ / "run");
  EXPECT_TRUE(watch.has_news());
  EXPECT_FALSE(watch.has_news()) << "once";
  fs::create_directory(root_ / "run" / "session");
  EXPECT_TRUE(watch.has_news()) << "below what came, too";
  std::ofstream(root_ / "run" / "session" / "device.log") << "x";
  EXPECT_TRUE(watch.has_news());
}

TEST_F(FolderWatchTest, FilesOfASessionAreNoNews) {
  FolderWatch watch;
  fs::create_directory(root_ / "session");
  ASSERT_TRUE(watch.add(root_, true));
  ASSERT_TRUE(watch.add(root_ / "session", false));
  std::ofstream(root_ / "session" / "device.1.log.zst") << "x";
  EXPECT_TRUE(watch.wait(60s, [] { return false; })) << "it wakes";
  EXPECT_FALSE(watch.has_news());
}

TEST_F(FolderWatchTest, ForgetsWhatHasGone) {
  FolderWatch watch(3);
  ASSERT_TRUE(watch.add(root_, true));
  for (int i = 0; i < 20; ++i) {
    const fs::path folder = root_ / ("session" + std::to_string(i));
    fs::create_directory(folder);
    EXPECT_TRUE(watch.has_news());
    ASSERT_TRUE(watch.add(folder, false)) << i;
    if (i % 2 == 0) {
      fs::remove_all(folder);
    } else {
      watch.remove(folder);
    }
    watch.has_news();
    EXPECT_EQ(watch.size(), 1u);
  }
}

TEST_F(FolderWatchTest, HasABound) {
  FolderWatch watch(1);
  ASSERT_TRUE(watch.add(root_, true));
  fs::create_directory(root_ / "run");
  EXPECT_FALSE(watch.add(root_ / "run", true));
  EXPECT_FALSE(watch.add(root_ / "absent", true));
}

}  // namespace
}  // namespace gpufl::agent
