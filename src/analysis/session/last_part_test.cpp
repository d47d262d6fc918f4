// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/last_part.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "format/batch_codec.hpp"
#include "format/test_session.hpp"

namespace gpufl::analysis {
namespace {

using format::WindowFile;

WindowFile window(uint64_t number, uint64_t rows, int64_t first_ns, int64_t last_ns) {
  WindowFile file = {};
  file.channel = format::Channel::Device;
  file.number = number;
  file.state = WindowFile::State::Sealed;
  file.in_manifest = true;
  file.rows = rows;
  file.first_ns = first_ns;
  file.last_ns = last_ns;
  return file;
}

TEST(LastPart, IsNothingWhereAllFits) {
  EXPECT_FALSE(last_part({}, 10));
  EXPECT_FALSE(last_part({window(1, 100, 0, 1000)}, 100));
}

TEST(LastPart, IsTheEndThatFits) {
  const std::vector<WindowFile> windows = {window(1, 100, 0, 1000), window(2, 100, 1000, 2000),
                                           window(3, 100, 2000, 3000)};
  EXPECT_EQ(last_part(windows, 100)->start, 2000);
  EXPECT_NEAR(static_cast<double>(last_part(windows, 150)->start), 1500, 1);
  EXPECT_NEAR(static_cast<double>(last_part(windows, 10)->start), 2900, 1);
  EXPECT_GT(last_part(windows, 0)->start, 2999);
  EXPECT_GT(last_part(windows, 100)->end, 3000);
}

TEST(LastPart, CountsWindowsThatLieBesideEachOther) {
  const std::vector<WindowFile> windows = {window(1, 100, 0, 1000), window(1, 300, 0, 1000)};
  EXPECT_NEAR(static_cast<double>(last_part(windows, 200)->start), 500, 1);
}

TEST(LastPart, CountsWhatIsStillWritten) {
  const format::testing::TempDir temp;
  WindowFile live = window(2, 0, 0, 0);
  live.in_manifest = false;
  live.state = WindowFile::State::Live;
  live.path = temp.path() / "device.log";
  std::ofstream(live.path) << std::string(2500, 'x');  // about 100 rows
  const std::vector<WindowFile> windows = {window(1, 100, 0, 1000), live};
  EXPECT_FALSE(last_part(windows, 200));
  EXPECT_NEAR(static_cast<double>(last_part(windows, 150)->start), 500, 1);
}

TEST(LastPart, KnowsWhenAFileThatIsStillWrittenBeginsAndEnds) {
  const format::testing::TempDir temp;
  WindowFile live = window(1, 0, 0, 0);
  live.in_manifest = false;
  live.state = WindowFile::State::Live;
  live.path = temp.path() / "device.log";
  format::BatchCodec codec;
  std::string text = "{\"type\":\"session\"}\n";
  for (int64_t start = 0; start < 1'000'000; start += 100) {
    format::Batch batch(format::Kind::Memset);
    for (size_t i = 0; i < format::memset_column::kCount; ++i) batch.mutable_column(i).assign(1, 0);
    batch.mutable_column(format::memset_column::kStart).assign(1, start);
    batch.set_rows(1);
    codec.encode(batch, text);
  }
  std::ofstream(live.path) << text << "{\"type\":\"memset\",\"n\":";  // torn
  const auto all_rows = static_cast<uint64_t>(static_cast<double>(text.size()) / 25);
  EXPECT_FALSE(last_part({live}, all_rows + 1));
  const auto part = last_part({live}, all_rows / 4);
  ASSERT_TRUE(part);
  EXPECT_NEAR(static_cast<double>(part->start), 750'000, 1000);
}

TEST(LastPart, LeavesOutWhatIsNotThere) {
  WindowFile gone = window(1, 1'000'000, 0, 1000);
  gone.state = WindowFile::State::Deleted;
  EXPECT_FALSE(last_part({gone, window(2, 100, 1000, 2000)}, 100));
}

}  // namespace
}  // namespace gpufl::analysis
