// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_list_command.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;

// One kernel row, and an end where it is wanted.
std::unique_ptr<format::LogWriter> write_some(const fs::path& dir, int64_t start_wall_ns,
                                              bool is_to_end) {
  format::SessionHeader header = format::testing::test_header();
  header.start_wall_ns = start_wall_ns;
  header.app_name = dir.filename();
  auto log = format::LogWriter::create(format::testing::test_options(dir), header);
  if (!log) return nullptr;
  format::Batch kernels(format::Kind::Kernel);
  const int64_t name = (*log)->intern(format::Dict::Name, "gemm");
  const int64_t config =
      (*log)->intern(format::Dict::Config, "{\"name\":" + std::to_string(name) + "}");
  kernels.mutable_column(format::kernel_column::kStart) = {100, 300};
  kernels.mutable_column(format::kernel_column::kDuration) = {50, 60};
  kernels.mutable_column(format::kernel_column::kConfig) = {config, config};
  kernels.set_rows(2);
  (*log)->write(kernels);
  EXPECT_TRUE((*log)->flush(400).is_ok());
  if (is_to_end) {
    EXPECT_TRUE((*log)->close(1000, {}).is_ok());
  }
  return std::move(*log);
}

TEST(SessionsList, TellsNewestFirstWhatEachIs) {
  const TempDir temp;
  write_some(temp.path() / "old", 1'000'000'000, true);
  write_some(temp.path() / "run" / "new", 2'000'000'000, true);
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].header.app_name, "new");
  EXPECT_EQ(sessions[1].header.app_name, "old");
  EXPECT_EQ(sessions[1].state, "complete");
  EXPECT_EQ(sessions[1].duration_ns, 1000);
  EXPECT_EQ(sessions[1].kernels, 2U);
  EXPECT_GT(sessions[1].bytes, 100U);
}

TEST(SessionsList, CountsWhatALiveSessionHasWrittenSoFar) {
  const TempDir temp;
  const auto log = write_some(temp.path() / "live", 1'000'000'000, false);
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "live");
  EXPECT_EQ(sessions[0].kernels, 2U);
  EXPECT_EQ(sessions[0].duration_ns, 360);
}

TEST(SessionsList, SaysThatASessionWithoutAnEndWasKilled) {
  const TempDir temp;
  const auto log = write_some(temp.path() / "dead", 1'000'000'000, false);
  log->abandon();
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "killed");
  EXPECT_EQ(sessions[0].kernels, 2U);
}

TEST(SessionsList, ListsWhatCannotBeReadAndWhy) {
  const TempDir temp;
  fs::create_directories(temp.path() / "broken");
  format::testing::write_text(temp.path() / "broken" / "system.log", "nothing of a log\n");
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "unreadable");
  EXPECT_FALSE(sessions[0].why.empty());
  EXPECT_FALSE(sessions[0].kernels.has_value());
}

}  // namespace
}  // namespace gpufl::cli
