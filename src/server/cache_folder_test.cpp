// SPDX-License-Identifier: Apache-2.0
#include "server/cache_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/test_session.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::testing::file_names;
using format::testing::TempDir;
using format::testing::write_text;

unsigned mode_of(const fs::path& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

TEST(CacheFolder, IsForItsUserAlone) {
  const TempDir dir;
  ASSERT_TRUE(CacheFolder::open(dir.path() / "a" / "gpufl"));
  EXPECT_EQ(mode_of(dir.path() / "a" / "gpufl"), 0700U);
  EXPECT_EQ(mode_of(dir.path() / "a" / "gpufl" / "results"), 0700U);
  // One that others can read was not made by us, and is closed.
  fs::create_directory(dir.path() / "open");
  fs::permissions(dir.path() / "open", fs::perms::all);
  ASSERT_TRUE(CacheFolder::open(dir.path() / "open"));
  EXPECT_EQ(mode_of(dir.path() / "open"), 0700U);
}

TEST(CacheFolder, SaysWhyItCannotBeUsed) {
  const TempDir dir;
  write_text(dir.path() / "file", "x");
  EXPECT_EQ(CacheFolder::open(dir.path() / "file").status().code(), base::Code::InvalidArgument);
  EXPECT_FALSE(CacheFolder::open(dir.path() / "file" / "below"));
  EXPECT_FALSE(CacheFolder::open("/proc/no-such"));
}

TEST(CacheFolder, KeepsNotesOfThoseThatAreNamed) {
  const TempDir dir;
  const auto cache = CacheFolder::open(dir.path() / "cache");
  ASSERT_TRUE(cache);
  for (const char* id : {"a", "b"}) ASSERT_TRUE(cache->write_notes(id, Json::object()));
  write_text(cache->path() / "notes" / "mine", "");
  cache->keep_notes_of({"b", "c"});
  EXPECT_TRUE(cache->read_notes("a").is_null());
  EXPECT_TRUE(cache->read_notes("b").is_object());
  EXPECT_EQ(file_names(cache->path() / "notes").size(), 2U) << "what is called otherwise stays";
}

TEST(CacheFolder, NotesOfAnyIdStayInside) {
  const TempDir dir;
  const auto cache = CacheFolder::open(dir.path() / "cache");
  ASSERT_TRUE(cache);
  for (const std::string& id : {std::string("../../escape"), std::string("a/b"),
                                std::string("\0x", 2), std::string(100'000, 'x'), std::string()}) {
    EXPECT_TRUE(cache->read_notes(id).is_null());
    ASSERT_TRUE(cache->write_notes(id, Json::object().set("text", id.substr(0, 3))));
    EXPECT_EQ(cache->read_notes(id)["text"].as_string(), id.substr(0, 3));
  }
  EXPECT_EQ(file_names(dir.path()), std::vector<std::string>{"cache"});
  EXPECT_EQ(file_names(cache->path() / "notes").size(), 5U);
  EXPECT_EQ(file_names(cache->path() / "results").size(), 0U);
  write_text(cache->path() / "notes" / name_hash("broken"), "{");
  EXPECT_TRUE(cache->read_notes("broken").is_null());
}

TEST(CacheFolder, DeletesWhatWasLongestNotAskedFor) {
  const TempDir dir;
  const auto cache = CacheFolder::open(dir.path());
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 4; ++i) {
    const fs::path file = cache->result_file(std::to_string(i));
    write_text(file, std::string(1000, 'x'));
    fs::last_write_time(file, now - std::chrono::hours(i));
  }
  fs::path fresh;
  const auto fd = cache->make_temporary(fresh);
  ASSERT_TRUE(fd);
  ::close(*fd);
  EXPECT_EQ(mode_of(fresh), 0600U);
  const fs::path old = cache->path() / "results" / "new-oldold";
  write_text(old, "x");
  fs::last_write_time(old, now - std::chrono::hours(48));
  const fs::path scratch = cache->subfolder("exports") / "new-abcdef";
  const fs::path foreign = cache->subfolder("exports") / "abcdef";
  const fs::path foreign_result = cache->path() / "results" / "mine.txt";
  write_text(foreign, "x");
  write_text(foreign_result, "x");
  for (const fs::path& one : {foreign, foreign_result}) {
    fs::last_write_time(one, now - std::chrono::hours(48));
  }
  fs::create_directory(scratch);
  write_text(scratch / "kernels.csv", "x");
  fs::last_write_time(scratch, now - std::chrono::hours(48));
  cache->prune(2500);
  cache->sweep();
  EXPECT_TRUE(fs::exists(cache->result_file("0")));
  EXPECT_TRUE(fs::exists(cache->result_file("1")));
  EXPECT_FALSE(fs::exists(cache->result_file("2")));
  EXPECT_FALSE(fs::exists(cache->result_file("3")));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(scratch));
  EXPECT_TRUE(fs::exists(foreign)) << "it is not called as ours are";
  EXPECT_TRUE(fs::exists(foreign_result));
}

class PruneFolders : public ::testing::Test {
 protected:
  // Folders of 64 KiB, the later ones used earlier.
  void SetUp() override {
    for (int i = 0; i < 4; ++i) make(folder(i), i);
  }
  fs::path folder(int i) const { return dir_.path() / name_hash(std::to_string(i)); }
  static void make(const fs::path& folder, int age_h) {
    fs::create_directory(folder);
    write_text(folder / "a.idx", std::string(64 << 10, 'x'));
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(age_h));
  }
  std::string left() const {
    std::string numbers;
    for (int i = 0; i < 4; ++i) numbers += fs::exists(folder(i) / "a.idx") ? std::to_string(i) : "";
    return numbers;
  }

  TempDir dir_;
};

TEST_F(PruneFolders, DeletesWhatWasLongestNotUsed) {
  prune_folders(dir_.path(), 1 << 20);
  EXPECT_EQ(left(), "0123");
  prune_folders(dir_.path(), 150 << 10);
  EXPECT_EQ(left(), "01");
  EXPECT_EQ(file_names(dir_.path()).size(), 2U) << "nothing is left of them";
  prune_folders(dir_.path(), 0);
  EXPECT_EQ(left(), "");
}

TEST_F(PruneFolders, LeavesAloneWhatIsInUse) {
  auto use = FolderUse::take(folder(3));
  ASSERT_TRUE(use);
  auto same = FolderUse::take(folder(3));
  ASSERT_TRUE(same) << "more than one may use it";
  use.reset();
  prune_folders(dir_.path(), 0);
  EXPECT_EQ(left(), "3");
  same.reset();
  // It was used just now, so it goes last.
  make(folder(1), 5);
  prune_folders(dir_.path(), 100 << 10);
  EXPECT_EQ(left(), "3");
  prune_folders(dir_.path(), 0);
  EXPECT_EQ(left(), "");
  EXPECT_FALSE(FolderUse::take(folder(3))) << "it is gone";
}

TEST_F(PruneFolders, DeletesOnlyWhatIsOurs) {
  const std::string names[] = {"notes", std::string(32, 'g'), std::string(31, 'a')};
  for (const std::string& name : names) make(dir_.path() / name, 100);
  fs::create_directory_symlink(dir_.path() / "notes", dir_.path() / std::string(32, 'a'));
  write_text(dir_.path() / std::string(32, 'b'), "a file");
  prune_folders(dir_.path(), 0);
  EXPECT_EQ(left(), "");
  EXPECT_EQ(file_names(dir_.path()).size(), 5U);
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(dir_.path() / name / "a.idx"));
  prune_folders(dir_.path() / "absent", 0);
}

TEST(CacheFolder, SmallFilesAreReadWholeOrNotAtAll) {
  const TempDir dir;
  write_text(dir.path() / "file", "12345");
  EXPECT_EQ(read_small_file(dir.path() / "file", 5), "12345");
  EXPECT_FALSE(read_small_file(dir.path() / "file", 4));
  EXPECT_FALSE(read_small_file(dir.path() / "absent", 5));
  EXPECT_FALSE(read_small_file(dir.path(), 5));
  fs::create_symlink(dir.path() / "file", dir.path() / "link");
  EXPECT_FALSE(read_small_file(dir.path() / "link", 5));
}

}  // namespace
}  // namespace gpufl::server
