// SPDX-License-Identifier: Apache-2.0
// What programs call (include/gpufl/warpscope.hpp), with the library as they link it and no GPU.

#include <stdlib.h>

#include <filesystem>
#include <gpufl/gpufl.hpp>
#include <vector>

#include <gtest/gtest.h>

#include "capture/warp_words.hpp"
#include "format/session_reader.hpp"
#include "format/warp_launch.hpp"

namespace gpufl {
namespace {

using capture::WarpRecord;
using capture::WarpWords;

struct Launches : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    if (batch.kind() == format::Kind::WarpSpan) rows += batch.rows();
  }
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::WarpLaunch) lines.push_back(format::read_warp_launch(line));
  }
  size_t rows = 0;
  std::vector<format::WarpLaunch> lines;
};

std::vector<uint64_t> one_span() {
  WarpWords words(1, 1, 8);
  words.span(0, 0, 1, 1'000'000, 1'005'000);
  words.add(0, 0, WarpRecord::Finalize, 0, 1'006'000);
  return words.capture();
}

class WarpscopeApi : public testing::Test {
 protected:
  WarpscopeApi() {
    char pattern[] = "/tmp/gpufl_warpscope_api_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~WarpscopeApi() override {
    shutdown();
    std::filesystem::remove_all(folder_);
  }
  void start() {
    InitOptions options;
    options.log_path = folder_.string();
    options.backend = BackendKind::None;
    ASSERT_TRUE(init(options));
  }
  Launches finish() {
    shutdown();
    Launches launches;
    const auto sessions = format::find_sessions(folder_);
    EXPECT_EQ(sessions.size(), 1u);
    for (const auto& session : sessions) {
      const auto reader = format::SessionReader::open(session);
      EXPECT_TRUE(reader);
      if (reader) reader->read(launches);
    }
    return launches;
  }

  std::filesystem::path folder_;
};

TEST_F(WarpscopeApi, WithoutASessionEveryCallSaysSo) {
  const std::vector<uint64_t> words = one_span();
  EXPECT_EQ(recordWarpscope(words.data(), words.size()), WarpscopeStatus::NoSession);
  EXPECT_EQ(recordWarpscope(nullptr, 0), WarpscopeStatus::NoSession);
  EXPECT_EQ(recordWarpscopeDevice(words.data(), words.size()), WarpscopeStatus::NoSession);
  const WarpscopeCapture capture;
  EXPECT_EQ(capture.record(words.data(), words.size()), WarpscopeStatus::NoSession);
  EXPECT_EQ(capture.recordDevice(words.data(), words.size()), WarpscopeStatus::NoSession);
}

TEST_F(WarpscopeApi, WhatCannotBeTakenIsRefused) {
  start();
  const std::vector<uint64_t> words = one_span();
  EXPECT_EQ(recordWarpscope(words.data(), 0), WarpscopeStatus::Empty);
  EXPECT_EQ(recordWarpscope(nullptr, 5), WarpscopeStatus::Empty);
  // Not touched: it is too large to be.
  EXPECT_EQ(recordWarpscope(words.data(), kMaxWarpscopeWords + 1), WarpscopeStatus::TooLarge);
  EXPECT_EQ(recordWarpscope(words.data(), SIZE_MAX), WarpscopeStatus::TooLarge);
  EXPECT_EQ(recordWarpscopeDevice(words.data(), words.size()), WarpscopeStatus::CopyFailed);
  const Launches launches = finish();
  EXPECT_TRUE(launches.lines.empty());
  EXPECT_EQ(recordWarpscope(words.data(), words.size()), WarpscopeStatus::NoSession);
}

TEST_F(WarpscopeApi, CapturesAreInTheLogWithTheirNames) {
  start();
  const std::vector<uint64_t> words = one_span();
  WarpscopeInfo info;
  info.event_names = {{1, "mma"}};
  info.group_names = {{0, "consumer"}};
  info.kernel_name = "gemm";
  EXPECT_EQ(recordWarpscope(words.data(), words.size(), info), WarpscopeStatus::Recorded);
  const WarpscopeCapture capture;
  EXPECT_EQ(capture.record(words.data(), words.size()), WarpscopeStatus::Recorded);
  const Launches launches = finish();
  ASSERT_EQ(launches.lines.size(), 2u);
  EXPECT_EQ(launches.rows, 2u);
  EXPECT_EQ(launches.lines[0].kernel, "gemm");
  EXPECT_EQ(launches.lines[0].group_names, std::vector<std::string>{"consumer"});
  EXPECT_EQ(launches.lines[0].duration_ns, 6'000);
  EXPECT_FALSE(launches.lines[0].error_ns) << "no GPU: it is not on the session's clock";
  ASSERT_FALSE(launches.lines[0].problems.empty());
}

TEST_F(WarpscopeApi, LargeCapturesAreTaken) {
  start();
  WarpWords words(1, 1, 6'500'000);
  words.span(0, 0, 1, 1'000'000, 1'005'000);
  const std::vector<uint64_t>& large = words.capture();
  EXPECT_EQ(recordWarpscope(large.data(), large.size()), WarpscopeStatus::Recorded);
  const Launches launches = finish();
  ASSERT_EQ(launches.lines.size(), 1u);
  EXPECT_EQ(launches.lines[0].records, 2);
  EXPECT_EQ(launches.rows, 1u);
}

TEST_F(WarpscopeApi, EveryStatusHasAName) {
  for (const auto status :
       {WarpscopeStatus::Recorded, WarpscopeStatus::NoSession, WarpscopeStatus::Empty,
        WarpscopeStatus::TooLarge, WarpscopeStatus::Full, WarpscopeStatus::CopyFailed,
        WarpscopeStatus::OutOfMemory}) {
    EXPECT_STRNE(to_string(status), "unknown");
  }
}

}  // namespace
}  // namespace gpufl
