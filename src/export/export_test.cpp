// SPDX-License-Identifier: Apache-2.0
#include "export/export.hpp"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"
#include "analysis/warp/pipeline_simulator.hpp"
#include "export/csv.hpp"
#include "export/json_text.hpp"
#include "export/output_file.hpp"
#include "export/stall_profile.hpp"
#include "format/test_session.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/timeline.hpp"
#include "timeline/warp_tracks.hpp"

namespace gpufl::exporting {
namespace {

namespace fs = std::filesystem;
using analysis::RunData;
using analysis::testing::TestSession;
using format::testing::read_text;
using format::testing::TempDir;

RunData run_of(TestSession& session) {
  RunData run;
  run.sessions.push_back(session.finish());
  run.offset_ns = {0};
  return run;
}

RunData small_run() {
  TestSession session;
  session.kernel("gemm", 100, 50, {.api_start = 80, .api_duration = 5});
  return run_of(session);
}

// Of warp groups.
size_t rows_of(const RunData& run) {
  return run.sessions[0].tables.others.at(format::Kind::WarpSpan).rows();
}

// One whose call nobody saw, one whose call nobody saw end, and one of which all is known.
RunData run_with_unknown_calls() {
  TestSession session;
  session.kernel("before", 10, 5, {.thread = 0});
  session.kernel("cut", 30, 5, {.api_start = 20, .api_duration = analysis::kNoDuration});
  session.kernel("whole", 60, 5, {.api_start = 50, .api_duration = 4});
  return run_of(session);
}

RunData sampled_run() {
  TestSession session;
  const int64_t step = session.scope("step", 0, 400);
  session.kernel("gemm", 0, 300, {.scope = step});
  session.kernel("gemm", 500, 100);
  const std::string stall = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
  session.pc_sample("gemm", 16, stall, 10);
  session.pc_sample("gemm", 16, stall + "_not_issued", 9);
  session.pc_sample("gemm", 32, stall, 5, {.scope = step});
  session.coverage("PcSampling", 0, 600, {.samples = -1});
  session.coverage("PcSampling", 100, 50, {.shape = format::CoverageShape::Window, .samples = 15});
  return run_of(session);
}

TEST(StallStacks, AreOfScopesKernelsAndInstructions) {
  const RunData run = sampled_run();
  const auto stacks = stall_stacks(timeline::SessionTexts(run.sessions[0]));
  using Frames = std::vector<std::string>;
  ASSERT_EQ(stacks.size(), 3u);
  // A quarter of the traced time is in no scope; parts are whole numbers and none is lost.
  EXPECT_EQ(stacks[0].frames, (Frames{"gemm", "gemm+0x10", "long_scoreboard"}));
  EXPECT_EQ(stacks[1].frames, (Frames{"step", "gemm", "gemm+0x20", "long_scoreboard"}));
  EXPECT_EQ(stacks[1].samples, 5u);
  EXPECT_EQ(stacks[2].frames, (Frames{"step (estimate)", "gemm", "gemm+0x10", "long_scoreboard"}));
  EXPECT_EQ(stacks[0].samples + stacks[2].samples, 10u);
  EXPECT_GE(stacks[2].samples, 7u);
}

TEST(StallStacks, OfADeepScopeAreOfWhatRanInItsWindows) {
  TestSession session;
  const int64_t step = session.scope("step", 0, 400);
  const int64_t checkpoint = session.scope("checkpoint", 400, 400);
  session.kernel("gemm", 0, 300, {.scope = step});
  session.kernel("gemm", 400, 100, {.scope = checkpoint});
  session.coverage("PcSampling", 0, 800);
  session.coverage("PcSampling", 400, 100,
                   {.shape = format::CoverageShape::Window,
                    .why = format::CoverageReason::DeepScope,
                    .samples = 10});
  session.pc_sample("gemm", 16, "smsp__pcsamp_warps_issue_stalled_wait", 10, {.time = 500});
  const RunData run = run_of(session);
  const auto stacks = stall_stacks(timeline::SessionTexts(run.sessions[0]));
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].frames[0], "checkpoint (estimate)");
  EXPECT_EQ(stacks[0].samples, 10u);
}

TEST(StallStacks, AreInFlameGraphs) {
  const TempDir dir;
  const RunData run = sampled_run();
  const fs::path speedscope = dir.path() / "s.json";
  ASSERT_TRUE(write_export(run, Target::Speedscope, {speedscope, false, nullptr}).is_ok());
  const std::string text = read_text(speedscope);
  EXPECT_NE(text.find("\"samples by stall\",\"unit\":\"none\",\"startValue\":0,\"endValue\":15"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("step (estimate)"), std::string::npos);
  EXPECT_TRUE(write_export(run, Target::Pprof, {dir.path() / "s.pb.gz", false, nullptr}).is_ok());
}

TEST(CoverageTracks, AreInTimelines) {
  const TempDir dir;
  const RunData run = sampled_run();
  const fs::path chrome = dir.path() / "s.json";
  ASSERT_TRUE(write_export(run, Target::Chrome, {chrome, false, nullptr}).is_ok());
  const std::string text = read_text(chrome);
  EXPECT_NE(text.find("PcSampling attached"), std::string::npos);
  EXPECT_NE(text.find("\"cat\":\"coverage\",\"name\":\"window\""), std::string::npos) << text;
  const fs::path perfetto = dir.path() / "s.perfetto-trace";
  ASSERT_TRUE(write_export(run, Target::Perfetto, {perfetto, false, nullptr}).is_ok());
  EXPECT_NE(read_text(perfetto).find("PcSampling attached"), std::string::npos);
}

TEST(Microseconds, AreMadeFromWholeNanoseconds) {
  const auto text = [](int64_t ns) {
    std::string out;
    append_microseconds(out, ns);
    return out;
  };
  EXPECT_EQ(text(0), "0.000");
  EXPECT_EQ(text(1), "0.001");
  EXPECT_EQ(text(1'234'567), "1234.567");
  EXPECT_EQ(text(-125), "-0.125");
  EXPECT_EQ(text(INT64_MIN), "-9223372036854775.808");
}

TEST(CsvField, IsQuotedWhereItMustBe) {
  const auto field = [](std::string_view text) {
    std::string out;
    append_csv_field(out, text);
    return out;
  };
  EXPECT_EQ(field("gemm"), "gemm");
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(field(""), "\"\"");
}

TEST(Export, EveryTargetWritesAndSaysWhat) {
  const TempDir folder;
  const RunData run = small_run();
  for (const std::string& word : target_words()) {
    const Target target = *target_of(word);
    const fs::path output = folder.path() / default_name(run, target);
    const auto written = write_export(run, target, {output, false, {}});
    ASSERT_TRUE(written) << word << ": " << written.status().text();
    uint64_t bytes = 0;
    for (const fs::path& file : written->files) bytes += fs::file_size(file);
    EXPECT_EQ(written->bytes, bytes) << word;
    EXPECT_GT(bytes, 0U) << word;
  }
}

TEST(Export, AFileThatIsThereIsReplacedOnlyWhereAskedFor) {
  const TempDir folder;
  const fs::path output = folder.path() / "trace";
  std::ofstream(output) << "precious";
  const RunData run = small_run();
  const auto refused = write_export(run, Target::Chrome, {output, false, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), base::Code::InvalidArgument);
  EXPECT_EQ(read_text(output), "precious");
  EXPECT_TRUE(write_export(run, Target::Chrome, {output, true, {}}));
  EXPECT_NE(read_text(output), "precious");
}

TEST(Export, TheInsideOfAKernelAloneIsATimeline) {
  const TempDir folder;
  TestSession session;
  add_pipeline(session, {.start_ns = -500});  // begins before the session, as far as clocks tell
  const RunData run = run_of(session);
  EXPECT_EQ(timeline::first_time(run), -500);
  EXPECT_EQ(timeline::timeline_rows(run), rows_of(run));
  EXPECT_TRUE(write_export(run, Target::Perfetto, {folder.path() / "x", false, {}}));
}

TEST(Export, OfNothingIsRefusedAndLeavesNoFile) {
  const TempDir folder;
  TestSession session;
  const auto written =
      write_export(run_of(session), Target::Perfetto, {folder.path() / "x", false, {}});
  ASSERT_FALSE(written);
  EXPECT_NE(written.status().message().find("nothing was recorded"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Export, StopsWhereItsCallerSaysSoAndLeavesNoFile) {
  const TempDir folder;
  const RunData run = small_run();
  for (const std::string& word : target_words()) {
    size_t calls = 0;
    const auto stop = [&](uint64_t, uint64_t) {
      ++calls;
      return false;
    };
    const auto written = write_export(run, *target_of(word), {folder.path() / "x", false, stop});
    ASSERT_FALSE(written) << word;
    EXPECT_EQ(written.status().code(), base::Code::Cancelled) << word;
    EXPECT_EQ(calls, 1U) << word;
    EXPECT_TRUE(fs::is_empty(folder.path())) << word;
  }
}

TEST(Export, AFullDiskIsToldAndLeavesNoFile) {
  const TempDir folder;
  TestSession session;
  for (int64_t i = 0; i < 2000; ++i) session.kernel("gemm", i * 100, 50);
  const RunData run = run_of(session);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const auto file = write_export(run, Target::Perfetto, {folder.path() / "trace", false, {}});
  const auto tables = write_export(run, Target::Csv, {folder.path() / "tables", false, {}});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(file);
  EXPECT_NE(file.status().message().find("trace"), std::string::npos);
  EXPECT_FALSE(tables);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const auto device = write_export(run, Target::Json, {"/dev/full", false, {}});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.status().code(), base::Code::LimitReached);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(Export, TablesAreNoSingleFile) {
  const TempDir folder;
  for (const fs::path& output : {fs::path("-"), folder.path() / "x.csv.gz"}) {
    const auto written = write_export(small_run(), Target::Csv, {output, false, {}});
    ASSERT_FALSE(written) << output;
    EXPECT_EQ(written.status().code(), base::Code::InvalidArgument);
    EXPECT_FALSE(fs::exists(output));
  }
}

TEST(Export, ADashIsStandardOutput) {
  ::testing::internal::CaptureStdout();
  const auto written = write_export(small_run(), Target::Json, {"-", false, {}});
  const std::string text = ::testing::internal::GetCapturedStdout();
  ASSERT_TRUE(written) << written.status().text();
  EXPECT_EQ(written->bytes, text.size());
  EXPECT_TRUE(text.starts_with(R"({"format":"gpufl-export")")) << text.substr(0, 100);
  EXPECT_FALSE(fs::exists("-"));
}

TEST(Export, TablesTellWhereASessionIsOnTheAxisOfTheRun) {
  const TempDir folder;
  RunData run = small_run();
  run.offset_ns = {1234};
  ASSERT_TRUE(write_export(run, Target::Csv, {folder.path() / "t", false, {}}));
  const std::string text = read_text(folder.path() / "t" / "kernels.csv");
  EXPECT_TRUE(text.starts_with("session,rank,offset_ns,start_ns,")) << text;
  EXPECT_NE(text.find(",1234,100,50,"), std::string::npos) << text;
}

TEST(Export, WhatNobodyToldIsLeftOut) {
  const TempDir folder;
  TestSession session;
  session.kernel("gemm", 100, 50);
  session.copy(1, 0, 200, 5);
  RunData run = run_of(session);
  for (auto& config : run.sessions[0].tables.configs) config.grid = config.block = {};
  ASSERT_TRUE(write_export(run, Target::Chrome, {folder.path() / "c", false, {}}));
  const std::string chrome = read_text(folder.path() / "c");
  EXPECT_EQ(chrome.find("0x0x0"), std::string::npos);
  EXPECT_EQ(chrome.find("\"bytes\""), std::string::npos);
  ASSERT_TRUE(write_export(run, Target::Json, {folder.path() / "j", false, {}}));
  const std::string json = read_text(folder.path() / "j");
  EXPECT_EQ(json.find(",0,0,0"), std::string::npos) << json;
}

TEST(Export, CallsThatAreNotKnownAreInNoFile) {
  const TempDir folder;
  const RunData run = run_with_unknown_calls();
  ASSERT_TRUE(write_export(run, Target::Chrome, {folder.path() / "c", false, {}}));
  const std::string chrome = read_text(folder.path() / "c");
  const auto count = [&](std::string_view text) {
    size_t found = 0;
    for (size_t at = 0; (at = chrome.find(text, at)) != std::string::npos; at += text.size()) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(R"("ph":"X")"), 4U) << "three kernels and one call: " << chrome;
  EXPECT_EQ(count(R"("ph":"s")"), 1U);
  EXPECT_EQ(count(R"("ph":"f")"), 1U);
  EXPECT_EQ(count("unknown thread"), 0U);
  ASSERT_TRUE(write_export(run, Target::Csv, {folder.path() / "t", false, {}}));
  const std::string table = read_text(folder.path() / "t" / "kernels.csv");
  EXPECT_EQ(table.find(",-1,"), std::string::npos) << table;
  EXPECT_NE(table.find(",20,,"), std::string::npos) << "the call that nobody saw end: " << table;
}

TEST(Export, AFolderThatIsNotThereIsTold) {
  const auto written = write_export(small_run(), Target::Json, {"/nowhere/at/all", false, {}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.status().code(), base::Code::NotFound);
}

TEST(Export, ProgressReachesTheEnd) {
  const TempDir folder;
  TestSession session;
  for (int64_t i = 0; i < 1000; ++i) {
    session.kernel("gemm", i * 100, 50, {.api_start = i * 100 - 50, .api_duration = 10});
  }
  uint64_t calls = 0;
  uint64_t last = 0;
  uint64_t all = 0;
  const auto written =
      write_export(run_of(session), Target::Perfetto,
                   {folder.path() / "trace", false, [&](uint64_t done, uint64_t total) {
                      ++calls;
                      EXPECT_GT(done, last);
                      last = done;
                      all = total;
                      return true;
                    }});
  ASSERT_TRUE(written);
  EXPECT_GT(calls, 50U);
  EXPECT_EQ(all, 2000U);
  EXPECT_GE(last, all * 95 / 100);
  EXPECT_LE(last, all);
}

TEST(Export, NamesOfSessionsDoNotLeadElsewhere) {
  RunData run;
  run.sessions.resize(1);
  run.sessions[0].summary.header.session_id = "../../etc/x";
  EXPECT_EQ(default_name(run, Target::Json), "_.._.._etc_x.json");
}

}  // namespace
}  // namespace gpufl::exporting
