// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/code_finder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "backend/nvidia/code/code_fixture.hpp"
#include "backend/nvidia/code/cubin_functions.hpp"

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;
using code_fixture::checksum;
using code_fixture::kAddAll;
using code_fixture::kDoubleAll;

// As the loader maps a library.
class Mapping {
 public:
  explicit Mapping(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    pages_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
  }
  ~Mapping() { ::munmap(pages_, kBytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

 private:
  static constexpr size_t kBytes = 4096;
  void* pages_;
};

class CodeFinderTest : public testing::Test {
 protected:
  CodeFinderTest() { begin(); }

  void begin(std::vector<uint32_t> architectures = {90}, bool is_new = true) {
    finder_.begin({checksum, std::move(architectures), {cache_.path().string()}}, is_new);
  }
  static base::PageString paged(std::string_view text) { return base::PageString(text); }
  // Another image with the same functions.
  static std::string changed_cubin(char value) {
    std::string image = code_fixture::cubin();
    image.back() = value;
    return image;
  }
  void keep_in_cache(const std::string& folder, const std::string& name, std::string_view image) {
    fs::create_directories(cache_.path() / folder);
    std::ofstream(cache_.path() / folder / (name + ".cubin"), std::ios::binary) << image;
  }
  int64_t now() { return ++now_; }

  const code_fixture::TempDir cache_;
  std::vector<FoundCode> found_;
  std::atomic<bool> stop_{false};
  CodeFinder finder_{[this](FoundCode found) { found_.push_back(std::move(found)); }, stop_};
  int64_t now_ = INT64_MAX / 2;  // later than any clock
};

TEST_F(CodeFinderTest, KeepsWhatWasLoadedOnceAKernelOfItRan) {
  finder_.add_loaded(paged(code_fixture::cubin()));
  EXPECT_TRUE(found_.empty());
  finder_.want_kernel(kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].id, checksum(code_fixture::cubin()));
  EXPECT_EQ(found_[0].image, paged(code_fixture::cubin()));
  EXPECT_EQ(found_[0].found, "callback");
  EXPECT_EQ(found_[0].functions, 3);
  finder_.want_kernel(kAddAll, now());
  finder_.want_kernel(kDoubleAll, now());
  finder_.want_sampled(checksum(code_fixture::cubin()), kAddAll, now());
  finder_.add_loaded(paged(code_fixture::cubin()));
  EXPECT_EQ(found_.size(), 1u) << "each image once";
}

TEST_F(CodeFinderTest, KeepsEveryImageThatHasTheKernel) {
  finder_.add_loaded(paged(changed_cubin(1)));
  finder_.add_loaded(paged(changed_cubin(2)));
  finder_.want_kernel(kDoubleAll, now());
  EXPECT_EQ(found_.size(), 2u);
  finder_.add_loaded(paged(changed_cubin(3)));
  EXPECT_EQ(found_.size(), 3u) << "loaded later";
}

TEST_F(CodeFinderTest, ASampleNamesAnImage) {
  finder_.add_loaded(paged(changed_cubin(1)));
  finder_.add_loaded(paged(changed_cubin(2)));
  finder_.want_sampled(checksum(changed_cubin(2)), kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].id, checksum(changed_cubin(2)));
}

TEST_F(CodeFinderTest, ANewSessionKeepsItAnew) {
  finder_.want_kernel(kDoubleAll, now());
  finder_.add_loaded(paged(code_fixture::cubin()));
  begin({90}, false);
  finder_.add_loaded(paged(code_fixture::cubin()));
  EXPECT_EQ(found_.size(), 1u) << "the same session goes on";
  begin({90}, true);
  finder_.add_loaded(paged(code_fixture::cubin()));
  finder_.want_kernel(kDoubleAll, now());
  EXPECT_EQ(found_.size(), 2u);
}

TEST_F(CodeFinderTest, WhatIsHeldIsBounded) {
  std::string large = code_fixture::cubin();
  large.resize(CodeFinder::kMaxHeldBytes / 2 + 1);
  for (const char last : {1, 2}) {
    large.back() = last;
    finder_.add_loaded(paged(large));
  }
  finder_.want_kernel(kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].image.back(), 2) << "the oldest went";
}

TEST_F(CodeFinderTest, FindsWhatWasLoadedBeforeInMappedFiles) {
  const Mapping library(code_fixture::fixture_path("two_kernels.elf"));
  finder_.want_kernel(kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].found, "fat_binary");
  EXPECT_EQ(found_[0].path, code_fixture::fixture_path("two_kernels.elf"));
  EXPECT_EQ(found_[0].image, paged(code_fixture::cubin()));
  finder_.want_sampled(checksum(code_fixture::cubin()), kAddAll, now());
  EXPECT_EQ(found_.size(), 1u);
}

TEST_F(CodeFinderTest, TakesTheArchitectureOfTheGpu) {
  const Mapping library(code_fixture::fixture_path("two_kernels.elf"));
  begin({86});
  finder_.want_kernel(kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_NE(found_[0].image, paged(code_fixture::cubin()));
}

TEST_F(CodeFinderTest, OtherGenerationsHaveNoCodeHere) {
  const Mapping library(code_fixture::fixture_path("two_kernels.elf"));
  begin({100});
  finder_.want_kernel(kDoubleAll, now());
  EXPECT_TRUE(found_.empty());
}

TEST_F(CodeFinderTest, FindsAFileThatWasMappedLater) {
  finder_.want_sampled(checksum(code_fixture::cubin()), kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_TRUE(found_[0].image.empty());
  const Mapping library(code_fixture::fixture_path("two_kernels.elf"));
  finder_.want_sampled(checksum(code_fixture::cubin()), kDoubleAll, now());
  ASSERT_EQ(found_.size(), 2u);
  EXPECT_EQ(found_[1].image, paged(code_fixture::cubin()));
}

TEST_F(CodeFinderTest, FindsTheImageOfAnIdInCaches) {
  keep_in_cache("aa", kDoubleAll, changed_cubin(1));
  keep_in_cache("bb/0", kDoubleAll, changed_cubin(2));
  keep_in_cache("cc", kDoubleAll, "no image");
  keep_in_cache("dd", "other", changed_cubin(3));
  finder_.want_sampled(checksum(changed_cubin(2)), kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].found, "cache");
  EXPECT_EQ(found_[0].path, cache_.path() / "bb/0" / (std::string(kDoubleAll) + ".cubin"));
  EXPECT_EQ(found_[0].image, paged(changed_cubin(2)));
}

TEST_F(CodeFinderTest, WhatIsNowhereIsMissing) {
  keep_in_cache("aa", kDoubleAll, changed_cubin(1));
  finder_.want_kernel("_Z7unknownv", now());
  EXPECT_TRUE(found_.empty());
  finder_.want_sampled(4711, kDoubleAll, now());
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].id, 4711u);
  EXPECT_TRUE(found_[0].image.empty());
}

TEST_F(CodeFinderTest, ASearchThatWasStoppedIsMadeAnew) {
  const Mapping library(code_fixture::fixture_path("two_kernels.elf"));
  stop_ = true;
  EXPECT_FALSE(finder_.want_kernel(kDoubleAll, now()));
  EXPECT_FALSE(finder_.want_sampled(checksum(code_fixture::cubin()), kAddAll, now()));
  EXPECT_TRUE(found_.empty());
  stop_ = false;
  EXPECT_TRUE(finder_.want_kernel(kDoubleAll, now()));
  EXPECT_EQ(found_.size(), 1u);
}

TEST(FatIndexTest, GoesOnWhereItWasStopped) {
  const code_fixture::TempDir dir;
  const fs::path path = dir.path() / "library.so";
  fs::copy_file(code_fixture::fixture_path("two_kernels.elf"), path);
  FatIndex index;
  std::atomic<bool> stop{true};
  index.refresh({path.string()}, stop);
  int found = 0;
  const auto count = [&](const FoundImage&) { return ++found > 0; };
  stop = false;
  index.find(function_key(kDoubleAll), stop, count);
  EXPECT_EQ(found, 0);
  index.refresh({path.string()}, stop);
  index.refresh({path.string()}, stop);
  index.find(function_key(kDoubleAll), stop, count);
  EXPECT_EQ(found, 2) << "one for each architecture";
  fs::resize_file(path, 100);
  index.find(function_key(kDoubleAll), stop, count);
  EXPECT_EQ(found, 2) << "it has changed";
}

TEST(CodeCacheFoldersTest, AreThoseOfTheEnvironment) {
  setenv("TRITON_CACHE_DIR", "/t", 1);
  setenv("TORCHINDUCTOR_CACHE_DIR", "/i", 1);
  EXPECT_EQ(code_cache_folders(), (std::vector<std::string>{"/t", "/i"}));
  unsetenv("TRITON_CACHE_DIR");
  unsetenv("TORCHINDUCTOR_CACHE_DIR");
  setenv("HOME", "/h", 1);
  setenv("LOGNAME", "me", 1);
  setenv("TMPDIR", "/tmp", 1);
  EXPECT_EQ(code_cache_folders(),
            (std::vector<std::string>{"/h/.triton/cache", "/tmp/torchinductor_me"}));
}

}  // namespace
}  // namespace gpufl::backend
