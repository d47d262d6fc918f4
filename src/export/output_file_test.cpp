// SPDX-License-Identifier: Apache-2.0
#include "export/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace gpufl::exporting {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    char pattern[] = "/tmp/gpufl_output_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  static base::Status put(const fs::path& path, std::string_view text) {
    auto file = OutputFile::open(path, {.compress = false, .overwrite = true});
    if (!file) return file.status();
    file->write(text);
    return file->commit();
  }
  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, ALinkStaysAndItsFileIsReplaced) {
  const fs::path real = folder_ / "real.txt", link = folder_ / "link", far = folder_ / "far";
  ASSERT_TRUE(put(real, "old"));
  fs::create_symlink("real.txt", link);  // beside the link, wherever the program runs
  fs::create_symlink(link, far);
  ASSERT_TRUE(put(far, "new"));
  EXPECT_EQ(fs::read_symlink(link), "real.txt");
  EXPECT_EQ(fs::read_symlink(far), link);
  EXPECT_EQ(content(real), "new");
  EXPECT_EQ(files(), 3u);
}

TEST_F(OutputFileTest, ALinkToNothingMakesTheFile) {
  const fs::path link = folder_ / "link";
  fs::create_symlink("real.txt", link);
  ASSERT_TRUE(put(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(folder_ / "real.txt"), "new");
}

TEST_F(OutputFileTest, AFileBehindALinkIsNotReplacedUnasked) {
  ASSERT_TRUE(put(folder_ / "real.txt", "old"));
  fs::create_symlink("real.txt", folder_ / "link");
  const auto file = OutputFile::open(folder_ / "link", {.compress = false, .overwrite = false});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.status().message(),
            (folder_ / "link").string() + " already exists; --force replaces it");
}

TEST_F(OutputFileTest, LinksInACircleAreAnError) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_FALSE(put(folder_ / "a", "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
}

TEST_F(OutputFileTest, ANameOfADescriptorIsWrittenTo) {
  const fs::path opened = folder_ / "opened.txt";
  const int fd = ::open(opened.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  fs::create_symlink("/dev/fd/" + std::to_string(fd), folder_ / "link");
  ASSERT_TRUE(put("/dev/fd/" + std::to_string(fd), "one "));
  ASSERT_TRUE(put("/proc/self/fd/" + std::to_string(fd), "two "));
  ASSERT_TRUE(put(folder_ / "link", "three"));
  struct stat facts = {};
  ASSERT_EQ(fstat(fd, &facts), 0);
  EXPECT_EQ(facts.st_nlink, 1u);  // no other file has taken its name
  ::close(fd);
  EXPECT_EQ(content(opened), "one two three");
}

TEST_F(OutputFileTest, ADeviceAndAPipeTakeItDirectly) {
  EXPECT_TRUE(put("/dev/null", "gone"));
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(put(pipe, "through"));
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  ::close(reader);
  EXPECT_STREQ(text, "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

}  // namespace
}  // namespace gpufl::exporting
