// SPDX-License-Identifier: Apache-2.0
#include "import/warpscope_dump.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <warpscope_host.hpp>

#include "base/shadow_memory.hpp"
#include "format/session_reader.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"
#include "format/warp_launch.hpp"
#include "import/import_files.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;

uint64_t record(uint32_t time_ns, uint32_t lane, uint32_t event, uint32_t type) {
  return (uint64_t{time_ns} << 32) | (lane << 12) | (event << 2) | type;
}

// One block of two groups: the first waits and loads, the second has an instant and an open range.
std::vector<uint64_t> small_capture() {
  ws::CaptureLayout layout;
  layout.num_blocks = 1;
  layout.num_groups = 2;
  layout.max_records = 8;
  ws::Names names;
  names.kernel = "gemm";
  names.events = {{0, "wait"}, {1, "load"}};
  names.groups = {{0, "tma"}, {1, "math"}};
  names.waits = {0};
  std::vector<uint64_t> words = ws::make_capture(layout, names);
  words[0] = (uint64_t{2} << 32) | 1;
  const uint64_t lanes[2][5] = {
      {record(1'000, 0, 0, 0), record(1'064, 0, 0, 1), record(1'064, 0, 1, 0),
       record(1'320, 0, 1, 1), record(1'352, 0, 0, 3)},
      {record(1'032, 1, 1, 2), record(1'128, 1, 1, 0), record(1'384, 1, 0, 3), 0, 0}};
  for (size_t lane = 0; lane < 2; ++lane) {
    for (size_t k = 0; k < 5; ++k) words[1 + lane + k * 2] = lanes[lane][k];
  }
  return words;
}

struct Seen : format::Visitor {
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::WarpLaunch) launches.push_back(format::read_warp_launch(line));
  }
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    namespace column = format::warp_span_column;
    for (size_t row = 0; row < batch.rows(); ++row) {
      starts.push_back(batch.at(column::kStart, row));
      durations.push_back(batch.at(column::kDuration, row));
      endings.push_back(batch.at(column::kEnding, row));
    }
  }
  std::vector<format::WarpLaunch> launches;
  std::vector<int64_t> starts, durations, endings;
};

class WarpscopeDumpTest : public ::testing::Test {
 protected:
  ImportOutcome import(const fs::path& file, const std::string& source = "") {
    ImportOptions options;
    options.files = {file};
    options.output = temp_.path() / "logs";
    options.source = source;
    return import_files(options);
  }
  Seen read(const fs::path& dir) {
    Seen seen;
    auto reader = format::SessionReader::open(dir);
    EXPECT_TRUE(reader.is_ok());
    if (reader) reader->read(seen);
    return seen;
  }
  format::testing::TempDir temp_;
};

TEST_F(WarpscopeDumpTest, IsKnownByItsEnding) {
  const fs::path file = temp_.path() / "gemm.bin";
  const std::vector<uint64_t> words = small_capture();
  ASSERT_TRUE(ws::write_dump(words.data(), words.size(), file.string()));
  ASSERT_TRUE(is_warpscope_dump(file));
  const ImportOutcome outcome = import(file);
  ASSERT_EQ(outcome.sessions.size(), 1u) << (outcome.errors.empty() ? "" : outcome.errors[0]);
  EXPECT_EQ(outcome.sessions[0].source, "warpscope");
  EXPECT_EQ(outcome.sessions[0].rows.at("warp_span"), 4u);
  const Seen seen = read(outcome.sessions[0].dir);
  ASSERT_EQ(seen.launches.size(), 1u);
  EXPECT_EQ(seen.launches[0].kernel, "gemm");
  EXPECT_EQ(seen.launches[0].blocks, 1);
  EXPECT_EQ(seen.launches[0].waits, std::vector<std::string>{"wait"});
  EXPECT_FALSE(seen.launches[0].error_ns.has_value());
  EXPECT_EQ(seen.starts, (std::vector<int64_t>{0, 64, 32, 128}));
  EXPECT_EQ(seen.durations, (std::vector<int64_t>{64, 256, 0, 0}));
  EXPECT_EQ(seen.endings, (std::vector<int64_t>{0, 0, 1, 2}));
}

TEST_F(WarpscopeDumpTest, LostRecordsAreLossesOfTheSession) {
  std::vector<uint64_t> words = small_capture();
  constexpr size_t kEntry = (1 + 2 * 8) + 16;  // the first lane's, behind the region and the header
  words[kEntry] = 900;                         // when it began, ended, and what it was offered
  words[kEntry + 2] = 1'400;
  words[kEntry + 4] = 9;
  words[kEntry + 6] = (uint64_t{1} << 48) | (uint64_t{1} << 49);
  for (const uint64_t dropped : {0, 5}) {
    words[kEntry + 5] = dropped;
    const fs::path file = temp_.path() / ("lost" + std::to_string(dropped) + ".bin");
    ASSERT_TRUE(ws::write_dump(words.data(), words.size(), file.string()));
    const ImportOutcome outcome = import(file);
    ASSERT_EQ(outcome.sessions.size(), 1u);
    const format::VerifyResult result = format::verify_session(outcome.sessions[0].dir);
    ASSERT_TRUE(result.ledger.has_value());
    EXPECT_EQ(result.ledger->warp_records_dropped, dropped);
    EXPECT_EQ(result.verdict == format::Verdict::Losses, dropped > 0);
  }
}

TEST_F(WarpscopeDumpTest, AV1RegionAloneIsReadWhenToldSo) {
  const fs::path file = temp_.path() / "v1.bin";
  const std::vector<uint64_t> words = small_capture();
  const std::string bytes(reinterpret_cast<const char*>(words.data()), (1 + 2 * 8) * 8);
  format::testing::write_text(file, bytes);
  EXPECT_FALSE(is_warpscope_dump(file));
  EXPECT_EQ(import(file).errors.size(), 1u);
  const ImportOutcome outcome = import(file, "warpscope");
  ASSERT_EQ(outcome.sessions.size(), 1u);
  EXPECT_EQ(outcome.sessions[0].rows.at("warp_span"), 4u);
}

TEST_F(WarpscopeDumpTest, NothingRecordedIsRefused) {
  const fs::path file = temp_.path() / "empty.bin";
  format::testing::write_text(file, std::string(64, '\0'));
  const ImportOutcome outcome = import(file, "warpscope");
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_NE(outcome.errors[0].find("holds no record"), std::string::npos);
  EXPECT_EQ(import(temp_.path() / "missing.bin", "warpscope").errors.size(), 1u);
}

TEST_F(WarpscopeDumpTest, TooLargeAFileIsRefused) {
  const fs::path file = temp_.path() / "large.bin";
  format::testing::write_text(file, "");
  fs::resize_file(file, ws::kMaxDumpBytes + 8);  // sparse
  const ImportOutcome outcome = import(file, "warpscope");
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_NE(outcome.errors[0].find("larger than 4 GiB"), std::string::npos) << outcome.errors[0];
}

TEST_F(WarpscopeDumpTest, ALackOfMemoryIsTold) {
#ifdef GPUFL_HAS_SHADOW_MEMORY
  GTEST_SKIP() << "a sanitizer needs the address space";
#else
  const fs::path file = temp_.path() / "zeros.bin";
  format::testing::write_text(file, "");
  fs::resize_file(file, uint64_t{3} << 30);  // sparse
  const auto import_in_one_gigabyte = [&] {
    const rlimit limit = {rlim_t{1} << 30, rlim_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
    const ImportOutcome outcome = import(file, "warpscope");
    for (const std::string& error : outcome.errors) std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(outcome.sessions.empty() ? 0 : 1);
  };
  EXPECT_EXIT(import_in_one_gigabyte(), testing::ExitedWithCode(0), "not enough memory");
#endif
}

TEST_F(WarpscopeDumpTest, Sources) {
  const std::vector<std::string> sources = warpscope_sources();
  EXPECT_EQ(sources.front(), "warpscope");
  EXPECT_EQ(sources.back(), "mirage-persistent");
}

}  // namespace
}  // namespace gpufl::importing
