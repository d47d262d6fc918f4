// SPDX-License-Identifier: Apache-2.0
#include "workbench/report.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "analysis/insights/find_insights.hpp"
#include "analysis/overview/overview.hpp"
#include "base/json.hpp"
#include "format/log_writer.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::Dict;
using format::Kind;

constexpr int64_t kMs = 1'000'000;

// Everything that is said of it, a line each.
std::string errors_of(const ReportOutcome& outcome) {
  std::string text;
  for (const std::string& note : outcome.notes) text += note + "\n";
  for (const base::Status& failure : outcome.failures) text += failure.message() + "\n";
  return text;
}

class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    std::string pattern = (fs::temp_directory_path() / "gpufl_report_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~ReportTest() override { fs::remove_all(root_); }

  static format::SessionHeader header(const fs::path& folder, const std::string& id) {
    format::SessionHeader header;
    header.session_id = id;
    header.run_id = folder.filename();
    header.app_name = "app_of_" + id;
    header.gpufl_version = "0.1.0";
    header.engine = "Monitor";
    header.backend = "none";
    header.start_wall_ns = 1763178312123456789;
    header.pid = 1;
    header.process = "test";
    header.host = "here";
    return header;
  }

  // A scope "outer" of 100 ms, which ended, and in it two of 10 ms.
  std::unique_ptr<format::LogWriter> begin(const fs::path& folder, const std::string& id) {
    format::LogOptions options;
    options.session_dir = folder / id;
    options.disk_floor_bytes = 0;
    auto log = format::LogWriter::create(options, header(folder, id));
    EXPECT_TRUE(log.is_ok()) << log.status().text();
    if (!log) return nullptr;
    const int64_t outer = (*log)->intern(Dict::Name, "outer");
    const int64_t inner = (*log)->intern(Dict::Name, "inner");
    Batch open(Kind::ScopeOpen);
    open.push_row({1, 0, 7, 0, outer, 0, 0, 0, 0});
    (*log)->write(open);
    Batch ended(Kind::Scope);
    ended.push_row({2, 1, 7, 1, inner, 0, 10 * kMs, 10 * kMs, 0, 0, 0});
    ended.push_row({3, 1, 7, 1, inner, 0, 30 * kMs, 10 * kMs, 0, 0, 0});
    (*log)->write(ended);
    EXPECT_TRUE((*log)->flush(50 * kMs));
    ended.clear();
    ended.push_row({1, 0, 7, 0, outer, 0, 0, 100 * kMs, 0, 0, 0});
    (*log)->write(ended);
    EXPECT_TRUE((*log)->flush(150 * kMs));
    return std::move(*log);
  }

  void record(const fs::path& folder, const std::string& id) {
    const auto log = begin(folder, id);
    ASSERT_NE(log, nullptr);
    EXPECT_TRUE(log->close(200 * kMs, format::Ledger()));
  }

  fs::path root_;
};

TEST_F(ReportTest, ReportsASealedSession) {
  record(root_, "20250101T000000Z-01");
  const ReportOutcome outcome =
      make_reports({.path = root_ / "20250101T000000Z-01", .text = {.is_full = true}});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_EQ(errors_of(outcome), "");
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_20250101T000000Z-01"), std::string::npos);
  EXPECT_NE(outcome.text.find("duration                  200.0 ms"), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("ended                     cleanly"), std::string::npos);
  EXPECT_NE(outcome.text.find("LEDGER: complete"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("  outer        1  100.0 ms  50.0%"), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("    inner      2  20.00 ms  10.0%"), std::string::npos);
  EXPECT_EQ(outcome.text.find("still open"), std::string::npos) << outcome.text;
  EXPECT_TRUE(outcome.others.empty());
}

TEST_F(ReportTest, ReportsASessionThatIsBeingWritten) {
  const auto log = begin(root_, "20250101T000000Z-01");
  ASSERT_NE(log, nullptr);
  const ReportOutcome outcome = make_reports({.path = root_});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_NE(outcome.text.find("still recording"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("  ledger                    not written yet"), std::string::npos);
  EXPECT_NE(outcome.text.find("    inner      2"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("still open"), std::string::npos) << outcome.text;
}

TEST_F(ReportTest, OfSeveralTheNewestAndANoteOfTheOthers) {
  record(root_ / "run_b", "20250101T000000Z-01");
  record(root_ / "run_a", "20250103T000000Z-03");
  record(root_ / "run_c", "20250102T000000Z-02");
  const ReportOutcome outcome = make_reports({.path = root_});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_20250103T000000Z-03"), std::string::npos);
  EXPECT_EQ(outcome.chosen, std::vector{root_ / "run_a" / "20250103T000000Z-03"});
  EXPECT_EQ(outcome.reported, outcome.chosen);
  EXPECT_FALSE(outcome.is_run);
  EXPECT_EQ(outcome.others, (std::vector{root_ / "run_c" / "20250102T000000Z-02",
                                         root_ / "run_b" / "20250101T000000Z-01"}));

  const ReportOutcome all = make_reports({.path = root_, .all = true});
  const size_t first = all.text.find("app_of_20250101T000000Z-01");
  const size_t second = all.text.find("app_of_20250102T000000Z-02");
  const size_t third = all.text.find("app_of_20250103T000000Z-03");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_TRUE(all.others.empty());
}

TEST_F(ReportTest, TheNewestIsTheOneThatBeganLast) {
  for (const auto& [name, start_wall_ns] :
       {std::pair("b", 30), std::pair("c", 10), std::pair("a", 20)}) {
    const fs::path dir = root_ / (std::string("of_") + name) / name;
    format::SessionHeader its = header(dir.parent_path(), name);
    its.start_wall_ns = start_wall_ns;
    format::LogOptions options;
    options.session_dir = dir;
    options.disk_floor_bytes = 0;
    const auto log = format::LogWriter::create(options, its);
    ASSERT_TRUE(log.is_ok()) << log.status().text();
    ASSERT_TRUE((*log)->close(1000, {}).is_ok());
  }
  fs::create_directories(root_ / "z");
  std::ofstream(root_ / "z" / "system.log") << "nothing of a log\n";
  const ReportOutcome outcome = make_reports({.path = root_});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_b"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.others, (std::vector{root_ / "of_a" / "a", root_ / "of_c" / "c", root_ / "z"}));
  EXPECT_NE(errors_of(outcome).find("it may be newer than what is reported"), std::string::npos);
}

TEST_F(ReportTest, OfARunAllSessionsInBrief) {
  record(root_ / "run_a", "20250101T000000Z-01");
  record(root_ / "run_a", "20250101T000000Z-02");
  record(root_ / "run_b", "20240102T000000Z-03");
  const ReportOutcome newest = make_reports({.path = root_});
  EXPECT_EQ(newest.text.find("RUN: run_a"), 0u) << newest.text;
  EXPECT_TRUE(newest.is_run);
  EXPECT_EQ(newest.chosen.size(), 2u);
  EXPECT_EQ(newest.others, std::vector{root_ / "run_b" / "20240102T000000Z-03"});
  const ReportOutcome outcome = make_reports({.path = root_ / "run_a"});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_EQ(outcome.text.find("RUN: run_a"), 0u) << outcome.text;
  EXPECT_NE(outcome.text.find("processes                 2"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.reported.back(), root_ / "run_a" / "20250101T000000Z-02");
  EXPECT_EQ(outcome.text.find("GPUFlight report"), std::string::npos) << outcome.text;
  const ReportOutcome all = make_reports({.path = root_ / "run_a", .all = true});
  EXPECT_NE(all.text.find("GPUFlight report: app_of_20250101T000000Z-02"), std::string::npos);
}

TEST_F(ReportTest, OfARunThoseThatHaveWhatIsAskedFor) {
  const fs::path run = root_ / "run_a";
  record(run, "20250101T000000Z-01");
  record(run, "20250101T000000Z-02");
  format::LogOptions options;
  options.session_dir = run / "20250101T000000Z-03";
  options.disk_floor_bytes = 0;
  auto bare = format::LogWriter::create(options, header(run, "20250101T000000Z-03"));
  ASSERT_TRUE(bare.is_ok());
  EXPECT_TRUE((*bare)->close(200 * kMs, format::Ledger()));
  for (const Format format : {Format::Text, Format::Html}) {
    const ReportOutcome some = make_reports({.path = run, .format = format, .scope = "inner"});
    EXPECT_TRUE(some.failures.empty()) << errors_of(some);
    EXPECT_NE(some.text.find("1 session without the requested GPU or scopes"), std::string::npos)
        << some.text;
    EXPECT_EQ(some.reported.size(), 2u);
    EXPECT_EQ(some.chosen.size(), 3u);
    const ReportOutcome none = make_reports({.path = run, .format = format, .scope = "no such"});
    EXPECT_FALSE(none.failures.empty());
    EXPECT_EQ(none.text, "");
    const ReportOutcome no_gpu = make_reports({.path = run, .format = format, .device = 2});
    EXPECT_FALSE(no_gpu.failures.empty());
    EXPECT_NE(errors_of(no_gpu).find("it has no GPU 2"), std::string::npos) << errors_of(no_gpu);
  }
}

TEST_F(ReportTest, SaysWhatIsWrongWithThePath) {
  const ReportOutcome nothing = make_reports({.path = root_ / "no_such"});
  EXPECT_FALSE(nothing.failures.empty());
  EXPECT_NE(errors_of(nothing).find("no such file or folder"), std::string::npos);
  const ReportOutcome empty = make_reports({.path = root_});
  EXPECT_FALSE(empty.failures.empty());
  EXPECT_NE(errors_of(empty).find("there is no session in it"), std::string::npos);
  EXPECT_EQ(empty.text, "");
}

TEST_F(ReportTest, CopiesOfASessionCountOnce) {
  record(root_ / "run_a", "20250101T000000Z-01");
  fs::copy(root_ / "run_a" / "20250101T000000Z-01", root_ / "run_a" / "copy",
           fs::copy_options::recursive);
  const ReportOutcome outcome = make_reports({.path = root_ / "run_a"});
  EXPECT_TRUE(outcome.failures.empty()) << errors_of(outcome);
  EXPECT_NE(errors_of(outcome).find("are copies of one session, which counts once"),
            std::string::npos)
      << errors_of(outcome);
  EXPECT_EQ(outcome.text.find("GPUFlight report: app_of_20250101T000000Z-01"), 0u) << outcome.text;
  const ReportOutcome all = make_reports({.path = root_, .all = true});
  EXPECT_EQ(all.text, outcome.text);
}

TEST_F(ReportTest, OfAScopeAloneInAnyFormat) {
  record(root_, "20250101T000000Z-01");
  const ReportOutcome inner = make_reports({.path = root_, .scope = "inn*"});
  EXPECT_TRUE(inner.failures.empty()) << errors_of(inner);
  EXPECT_NE(inner.text.find("inner"), std::string::npos) << inner.text;
  const ReportOutcome none = make_reports({.path = root_, .scope = "no such"});
  EXPECT_FALSE(none.failures.empty());
  EXPECT_NE(errors_of(none).find("none of its scopes matches 'no such'; it has "),
            std::string::npos)
      << errors_of(none);
  const ReportOutcome near = make_reports({.path = root_, .scope = "iner"});
  EXPECT_NE(errors_of(near).find("it has inner"), std::string::npos) << errors_of(near);
  const ReportOutcome no_gpu = make_reports({.path = root_, .device = 3});
  EXPECT_FALSE(no_gpu.failures.empty());
  EXPECT_NE(errors_of(no_gpu).find("it has no GPU 3; it"), std::string::npos) << errors_of(no_gpu);
  const ReportOutcome json = make_reports({.path = root_, .format = Format::Json});
  EXPECT_EQ(json.text.find("{\"format\":\"gpufl-report\""), 0u) << json.text;
  EXPECT_TRUE(base::Json::parse(json.text).is_ok()) << json.text;
  const ReportOutcome markdown = make_reports({.path = root_, .format = Format::Markdown});
  EXPECT_NE(markdown.text.find("| &emsp;inner | 2 |"), std::string::npos) << markdown.text;
}

TEST_F(ReportTest, APageShowsOneSessionOrRun) {
  record(root_ / "run_a", "20250101T000000Z-01");
  record(root_ / "run_a", "20250101T000000Z-02");
  const ReportOutcome all = make_reports({.path = root_, .all = true, .format = Format::Html});
  EXPECT_EQ(all.text, "");
  ASSERT_EQ(all.failures.size(), 1u);
  EXPECT_EQ(all.failures[0].code(), base::Code::InvalidArgument);
  const ReportOutcome run = make_reports({.path = root_, .format = Format::Html});
  EXPECT_EQ(errors_of(run), "");
  EXPECT_EQ(run.text.find("<!doctype html>"), 0u);
}

// Reading less must not change what is said of the part that is read.
TEST(ReportOfAPart, IsThatOfTheSessionReadWhole) {
  const fs::path recordings = fs::path(GPUFL_SOURCE_DIR) / "tests/replay/recordings";
  for (const char* name : {"h200_gpt_step", "h200_copies", "h200_contexts"}) {
    const auto whole = open_session(recordings / name, {});
    ASSERT_TRUE(whole) << whole.status().text();
    const int64_t length = whole->summary.duration_ns;
    for (const auto& [start, end] :
         {std::pair(length / 3, length * 2 / 3), std::pair(length / 2, length + 1),
          std::pair(int64_t{0}, length / 7)}) {
      analysis::AnalysisOptions options;
      options.window = {start, end};
      const analysis::Overview overview = analysis::analyze(*whole, options);
      const auto insights = analysis::find_insights(*whole, overview);
      ReportRequest request;
      request.path = recordings / name;
      request.format = Format::Json;
      request.open.window = {start, end};
      const ReportOutcome outcome = make_reports(request);
      const auto expected =
          base::Json::parse(write_report({*whole, overview, insights}, Format::Json, {}));
      const auto json = base::Json::parse(outcome.text);
      ASSERT_TRUE(expected && json);
      for (const auto& [member, value] : expected->members()) {
        EXPECT_EQ((*json)[member].dump(), value.dump()) << name << " " << member;
      }
      EXPECT_EQ((*json)["options"]["window"]["start_ns"].as_integer(), start);
    }
  }
}

TEST(ReportOfAPart, IsStatedWhereASessionIsTooLarge) {
  ReportRequest request;
  request.path = fs::path(GPUFL_SOURCE_DIR) / "examples/sessions/h200_gpt";
  request.format = Format::Json;
  const auto whole = base::Json::parse(make_reports(request).text);
  request.open.most_rows = 4000;
  const auto part = base::Json::parse(make_reports(request).text);
  ASSERT_TRUE(whole && part);
  EXPECT_TRUE((*whole)["options"]["window"].is_null());
  EXPECT_GT((*part)["options"]["window"]["start_ns"].as_integer(), 0);
  const int64_t all = (*whole)["kernels"]["count"].as_integer();
  const int64_t some = (*part)["kernels"]["count"].as_integer();
  EXPECT_LT(some, all / 2);
  EXPECT_GT(some, all / 10);
  EXPECT_EQ((*part)["ledger"].dump(), (*whole)["ledger"].dump());
}

TEST_F(ReportTest, StopsWhenItsCallerSaysSo) {
  record(root_, "20250101T000000Z-01");
  record(root_, "20250102T000000Z-02");
  ReportRequest request{.path = root_, .all = true};
  request.open.progress = [](Stage, uint64_t, uint64_t) { return false; };
  const ReportOutcome outcome = make_reports(request);
  EXPECT_EQ(outcome.text, "");
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_EQ(outcome.failures[0].code(), base::Code::Cancelled);
}

TEST_F(ReportTest, OneUnreadableSessionDoesNotHideTheOthers) {
  record(root_, "20250101T000000Z-01");
  record(root_, "20250102T000000Z-02");
  for (const auto& file : fs::directory_iterator(root_ / "20250102T000000Z-02")) {
    std::ofstream(file.path(), std::ios::trunc) << "nothing of a log";
  }
  const ReportOutcome outcome = make_reports({.path = root_, .all = true});
  EXPECT_FALSE(outcome.failures.empty());
  EXPECT_NE(outcome.text.find("app_of_20250101T000000Z-01"), std::string::npos);
  EXPECT_NE(errors_of(outcome).find("20250102T000000Z-02"), std::string::npos)
      << errors_of(outcome);
}

}  // namespace
}  // namespace gpufl::workbench
