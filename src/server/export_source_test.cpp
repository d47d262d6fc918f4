// SPDX-License-Identifier: Apache-2.0
#include "server/export_source.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "base/eventually.hpp"
#include "format/test_session.hpp"
#include "server/tar_stream.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using format::testing::read_text;
using format::testing::TempDir;
using format::testing::write_text;

class ExportSourceTest : public ::testing::Test {
 protected:
  base::Result<std::unique_ptr<ExportSource>> start(const std::string& script,
                                                    bool is_cancelled = false) {
    fs::create_directory(scratch_);
    auto slot = ExportSlot::take(under_way_, 2);
    EXPECT_TRUE(slot);
    return ExportSource::start(
        {{"/bin/sh", "-c", script}, scratch_, std::chrono::minutes(1), std::move(*slot)},
        [is_cancelled] { return is_cancelled; });
  }

  TempDir dir_;
  fs::path scratch_ = dir_.path() / "scratch";
  std::atomic<int> under_way_ = 0;
};

TEST_F(ExportSourceTest, SendsWhatTheChildWrites) {
  auto source = start("head -c 300000 /dev/zero; echo '{\"status\":\"ok\"}' >&3");
  ASSERT_TRUE(source) << source.status().text();
  EXPECT_EQ(under_way_, 1);
  std::string text;
  while ((*source)->next(text)) {
  }
  EXPECT_EQ(text, std::string(300000, '\0'));
  source->reset();
  EXPECT_EQ(under_way_, 0);
  EXPECT_FALSE(fs::exists(scratch_));
}

TEST_F(ExportSourceTest, WhatFailsAtOnceIsAnAnswer) {
  auto source =
      start("echo '{\"status\":\"InvalidArgument\",\"message\":\"no stacks\"}' >&3; exit 1");
  EXPECT_EQ(source.status().message(), "no stacks");
  EXPECT_EQ(start("echo '{\"status\":\"ok\"}' >&3").status().code(), base::Code::NotFound);
  EXPECT_EQ(start("exec sleep 1000", true).status().code(), base::Code::Cancelled);
  EXPECT_EQ(under_way_, 0);
}

TEST_F(ExportSourceTest, WhatFailsLaterCutsTheConnection) {
  auto source = start("echo some; exit 75");
  ASSERT_TRUE(source);
  std::string text;
  EXPECT_THROW(while ((*source)->next(text)){}, std::runtime_error);
}

TEST_F(ExportSourceTest, AClientThatLeavesEndsTheChild) {
  const fs::path pid_file = dir_.path() / "pid";
  auto source = start("echo $$ > " + pid_file.string() + "; echo some; exec sleep 1000");
  ASSERT_TRUE(source);
  const auto pid = static_cast<pid_t>(std::stoi(read_text(pid_file)));
  EXPECT_EQ(::kill(pid, 0), 0);
  // Without output for now it says so, instead of holding a worker.
  std::string text;
  EXPECT_TRUE((*source)->next(text));
  EXPECT_TRUE((*source)->next(text));
  EXPECT_EQ(text, "some\n");
  source->reset();
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(ExportSourceTest, ChildrenInheritNoDescriptorOfOurs) {
  const int open_one = ::dup(0);  // as a socket: not closed by exec
  auto source = start("ls /proc/$$/fd; echo '{\"status\":\"ok\"}' >&3");
  ASSERT_TRUE(source);
  std::string text;
  while ((*source)->next(text)) {
  }
  EXPECT_EQ(text, "0\n1\n2\n3\n");
  ::close(open_one);
}

TEST_F(ExportSourceTest, SlotsAreFew) {
  auto a = ExportSlot::take(under_way_, 2), b = ExportSlot::take(under_way_, 2);
  EXPECT_TRUE(a && b);
  EXPECT_FALSE(ExportSlot::take(under_way_, 2));
  a.reset();
  EXPECT_TRUE(ExportSlot::take(under_way_, 2));
  EXPECT_EQ(under_way_, 1);
}

TEST(TarStream, NamesAreShortAndNeedNoQuotes) {
  EXPECT_EQ(safe_file_name("20261115T224904.846623Z-c3bd", ".json"),
            "20261115T224904.846623Z-c3bd.json");
  EXPECT_EQ(safe_file_name("a/b\\c\"d e\r\nf\xc3\xa9", ""), "a_b_c_d_e__f__");
  EXPECT_EQ(safe_file_name("..", ".x"), "_...x");
  EXPECT_EQ(safe_file_name("-rf", ""), "_-rf");
  EXPECT_EQ(safe_file_name("", ".x"), "_.x");
  const std::string cut = safe_file_name(std::string(5000, 'x'), ".csv.tar");
  EXPECT_EQ(cut.size(), kLongestFileName);
  EXPECT_TRUE(cut.ends_with("x.csv.tar"));
}

TEST(TarStream, HoldsNamesSizesAndBytes) {
  const TempDir dir;
  fs::create_directory(dir.path() / "csv");
  write_text(dir.path() / "csv" / "kernels.csv", std::string(700, 'k'));
  write_text(dir.path() / "csv" / "empty.csv", "");
  const fs::path archive = dir.path() / "a.tar";
  FILE* const file = std::fopen(archive.c_str(), "w");
  ASSERT_TRUE(write_tar(fileno(file), dir.path(),
                        {dir.path() / "csv" / "kernels.csv", dir.path() / "csv" / "empty.csv"}));
  EXPECT_EQ(write_tar(fileno(file), dir.path(), {dir.path() / "absent"}).code(),
            base::Code::NotFound);
  EXPECT_EQ(write_tar(fileno(file), dir.path(), {dir.path() / std::string(120, 'x')}).code(),
            base::Code::LimitReached);
  std::fclose(file);
  const std::string text = read_text(archive);
  ASSERT_EQ(text.size(), 512U * (1 + 2 + 1 + 2));
  EXPECT_STREQ(text.c_str(), "csv/kernels.csv");
  EXPECT_EQ(text.substr(124, 11), "00000001274");  // 700
  EXPECT_EQ(text.substr(257, 5), "ustar");
  EXPECT_EQ(text.substr(512, 700), std::string(700, 'k'));
  EXPECT_STREQ(text.c_str() + 1536, "csv/empty.csv");
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(text[i]);
  }
  EXPECT_EQ(std::stoul(text.substr(148, 6), nullptr, 8), sum);
}

}  // namespace
}  // namespace gpufl::server
