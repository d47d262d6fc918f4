// SPDX-License-Identifier: Apache-2.0
#include "workbench/list_sessions.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <utility>

#include "format/manifest.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"

namespace gpufl::workbench {
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

TEST(ListSessionsTest, TellsNewestFirstWhatEachIs) {
  const TempDir temp;
  write_some(temp.path() / "old", 1'000'000'000, true);
  write_some(temp.path() / "run" / "new", 2'000'000'000, true);
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].found.header.app_name, "new");
  EXPECT_EQ(sessions[1].found.header.app_name, "old");
  EXPECT_EQ(sessions[1].state, "complete");
  EXPECT_EQ(sessions[1].duration_ns, 1000);
  EXPECT_EQ(sessions[1].kernels, 2U);
  EXPECT_GT(sessions[1].bytes, 100U);
}

TEST(ListSessionsTest, DoesNotCountKernelsThatNobodyRecorded) {
  const TempDir temp;
  for (const char* engine : {"Monitor", "Trace"}) {
    format::SessionHeader header = format::testing::test_header();
    header.engine = engine;
    auto log =
        format::LogWriter::create(format::testing::test_options(temp.path() / engine), header);
    ASSERT_TRUE(log.is_ok()) << log.status().text();
    format::Ledger ledger;
    ledger.kernel_records = 0;
    ASSERT_TRUE((*log)->close(1000, ledger).is_ok());
  }
  EXPECT_EQ(list_sessions(temp.path() / "Monitor").at(0).kernels, std::nullopt);
  EXPECT_EQ(list_sessions(temp.path() / "Trace").at(0).kernels, 0U);
}

TEST(ListSessionsTest, AQuickLookSaysTheSameOfWhatHasEnded) {
  const TempDir temp;
  write_some(temp.path() / "a", 1'000'000'000, true);
  EXPECT_EQ(look_quickly(temp.path() / "a").to_json().dump(),
            list_sessions(temp.path()).at(0).to_json().dump());
  EXPECT_EQ(look_quickly(temp.path() / "absent").state, "unreadable");
}

TEST(ListSessionsTest, AQuickLookReadsNoWindowOfALiveSession) {
  const TempDir temp;
  const auto log = write_some(temp.path() / "live", 1'000'000'000, false);
  const ListedSession session = look_quickly(temp.path() / "live");
  EXPECT_EQ(session.state, "live");
  EXPECT_FALSE(session.has_end);
  EXPECT_EQ(session.kernels, std::nullopt);
}

TEST(ListSessionsTest, CountsWhatALiveSessionHasWrittenSoFar) {
  const TempDir temp;
  const auto log = write_some(temp.path() / "live", 1'000'000'000, false);
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "live");
  EXPECT_EQ(sessions[0].kernels, 2U);
  EXPECT_EQ(sessions[0].duration_ns, 360);
  EXPECT_TRUE(sessions[0].to_json()["duration_is_lower_bound"].as_bool());
}

TEST(ListSessionsTest, SaysThatASessionWithoutAnEndWasKilled) {
  const TempDir temp;
  const auto log = write_some(temp.path() / "dead", 1'000'000'000, false);
  log->abandon();
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "cut off");
  EXPECT_EQ(sessions[0].kernels, 2U);
  EXPECT_TRUE(sessions[0].to_json()["duration_is_lower_bound"].as_bool());
}

TEST(ListSessionsTest, TellsOfFilesThatAreMissingOrCutOff) {
  const TempDir temp;
  for (const char* name : {"cut", "missing", "whole"}) {
    write_some(temp.path() / name, 1'000'000'000, true);
  }
  const auto device_file = [&](const char* name) {
    return temp.path() / name / "device.1.log.zst";
  };
  fs::resize_file(device_file("cut"), fs::file_size(device_file("cut")) / 2);
  fs::remove(device_file("missing"));
  std::map<std::string, ListedSession> sessions;
  for (ListedSession& session : list_sessions(temp.path())) {
    sessions[session.found.header.app_name] = std::move(session);
  }
  EXPECT_EQ(sessions["cut"].state, "damaged");
  EXPECT_EQ(sessions["cut"].damage, "window 1 of device is damaged");
  EXPECT_EQ(sessions["missing"].state, "damaged");
  EXPECT_EQ(sessions["missing"].damage, "window 1 of device is missing");
  EXPECT_EQ(sessions["whole"].state, "complete");
}

TEST(ListSessionsTest, TellsOfAManifestThatIsMissingOrDamaged) {
  const TempDir temp;
  for (const char* name : {"bad", "empty", "missing"}) {
    write_some(temp.path() / name, 1'000'000'000, true);
  }
  std::ofstream(temp.path() / "bad" / format::kManifestName, std::ios::app) << "no JSON\n";
  fs::resize_file(temp.path() / "empty" / format::kManifestName, 0);
  fs::remove(temp.path() / "missing" / format::kManifestName);
  for (const ListedSession& session : list_sessions(temp.path())) {
    EXPECT_EQ(session.state, "damaged") << session.found.dir;
    EXPECT_FALSE(session.damage.empty()) << session.found.dir;
    EXPECT_EQ(session.kernels, 2U) << "it can be read all the same";
  }
  EXPECT_EQ(list_sessions(temp.path() / "missing").at(0).damage,
            "manifest.ndjson: there is no manifest");
}

TEST(ListSessionsTest, TellsOfALedgerWithLosses) {
  const TempDir temp;
  auto log = write_some(temp.path() / "lossy", 1'000'000'000, false);
  format::Ledger ledger;
  ledger.vendor_dropped = 1;
  ASSERT_TRUE(log->close(1000, ledger).is_ok());
  EXPECT_EQ(list_sessions(temp.path()).at(0).state, "losses");
}

TEST(ListSessionsTest, SaysWhatVerifySays) {
  const TempDir temp;
  auto log = write_some(temp.path() / "uncounted", 1'000'000'000, false);
  format::Ledger ledger;
  ledger.kernel_records = 2;
  ASSERT_TRUE(log->close(1000, ledger).is_ok());
  write_some(temp.path() / "whole", 1'000'000'000, true);
  for (const ListedSession& session : list_sessions(temp.path())) {
    EXPECT_EQ(session.state, to_string(format::verify_session(session.found.dir).verdict))
        << session.found.dir;
  }
  EXPECT_EQ(list_sessions(temp.path() / "uncounted").at(0).state, "not proven");
}

TEST(ListSessionsTest, ListsWhatCannotBeReadAndWhy) {
  const TempDir temp;
  fs::create_directories(temp.path() / "broken");
  format::testing::write_text(temp.path() / "broken" / "system.log", "nothing of a log\n");
  const auto sessions = list_sessions(temp.path());
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].state, "unreadable");
  EXPECT_FALSE(sessions[0].found.status.message().empty());
  EXPECT_FALSE(sessions[0].kernels.has_value());
}

}  // namespace
}  // namespace gpufl::workbench
