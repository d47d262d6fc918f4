// SPDX-License-Identifier: Apache-2.0
#include "capture/session_symbols.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"
#include "symbols/libdw_api.hpp"
#include "symbols/symbol_file.hpp"

namespace gpufl::capture {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::Dict;
using format::Kind;
using format::testing::TempDir;

// Its own address, in the program that runs this test.
void record_session(const fs::path& dir) {
  auto log = format::testing::make_writer(format::testing::test_options(dir));
  const std::string module = fs::read_symlink("/proc/self/exe").string();
  const int64_t text = log->intern(Dict::Text, module);
  const int64_t frame =
      log->intern(Dict::Frame, R"({"module":)" + std::to_string(text) + R"(,"offset":4096})");
  const int64_t stack = log->intern(Dict::Stack, R"({"frames":[)" + std::to_string(frame) + "]}");
  Batch waits(Kind::Sync);
  waits.push_row({1, 1, 0, 1, 7, 1, 100, 0, 0, stack, 3, -1, 1, 1});
  log->write(waits);
  ASSERT_TRUE(log->close(1000, format::Ledger()));
}

class SessionSymbolsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!symbols::opened_libdw()) GTEST_SKIP() << "no libdw on this machine";
    record_session(session_);
  }
  TempDir dir_;
  fs::path session_ = dir_.path() / "session";
};

TEST_F(SessionSymbolsTest, WritesWhatItFindsOut) {
  EXPECT_FALSE(symbols_note().has_value());
  ASSERT_TRUE(write_symbols(session_, {}));
  const auto file = symbols::SymbolFile::read(session_, format::testing::test_header().session_id);
  ASSERT_TRUE(file.is_ok()) << file.status().text();
  EXPECT_EQ(file->binaries.size(), 1u);
  EXPECT_EQ(file->incomplete, "");
}

TEST_F(SessionSymbolsTest, StopsInTimeAndSaysSo) {
  SymbolLimits limits;
  limits.time = std::chrono::milliseconds(0);
  ASSERT_TRUE(write_symbols(session_, limits));
  const auto file = symbols::SymbolFile::read(session_, format::testing::test_header().session_id);
  ASSERT_TRUE(file.is_ok());
  EXPECT_EQ(file->incomplete, "time_limit");
}

TEST_F(SessionSymbolsTest, ALargeLogIsForLater) {
  SymbolLimits limits;
  limits.log_bytes = 10;
  EXPECT_EQ(write_symbols(session_, limits).code(), base::Code::LimitReached);
  EXPECT_FALSE(fs::exists(session_ / symbols::kSymbolFileName));
  EXPECT_FALSE(write_symbols(dir_.path() / "none", {}));
}

}  // namespace
}  // namespace gpufl::capture
