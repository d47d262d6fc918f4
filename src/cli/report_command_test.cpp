// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "analysis/summary/metric_series.hpp"
#include "backend/metric_table.hpp"
#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "format/log_writer.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::Dict;
using format::Kind;

constexpr int64_t kMs = 1'000'000;

class ReportCommandTest : public testing::Test {
 protected:
  ReportCommandTest() {
    std::string pattern = (fs::temp_directory_path() / "gpufl_report_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~ReportCommandTest() override { fs::remove_all(root_); }

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

TEST_F(ReportCommandTest, ReportsASealedSession) {
  record(root_, "20250101T000000Z-01");
  const ReportOutcome outcome = make_reports({.path = root_ / "20250101T000000Z-01"});
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_20250101T000000Z-01"), std::string::npos);
  EXPECT_NE(outcome.text.find("duration                  200.0 ms"), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("ended                     cleanly"), std::string::npos);
  EXPECT_NE(outcome.text.find("LEDGER: complete"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("  outer        1  100.0 ms  50.0%"), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("    inner      2  20.00 ms  10.0%"), std::string::npos);
  EXPECT_EQ(outcome.text.find("still open"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("the newest"), std::string::npos);
}

TEST_F(ReportCommandTest, ReportsASessionThatIsBeingWritten) {
  const auto log = begin(root_, "20250101T000000Z-01");
  ASSERT_NE(log, nullptr);
  const ReportOutcome outcome = make_reports({.path = root_});
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.errors;
  EXPECT_NE(outcome.text.find("still recording"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("LEDGER: not written yet"), std::string::npos);
  EXPECT_NE(outcome.text.find("    inner      2"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("still open"), std::string::npos) << outcome.text;
}

TEST_F(ReportCommandTest, OfSeveralTheNewestAndANoteOfTheOthers) {
  record(root_ / "run_b", "20250101T000000Z-01");
  record(root_ / "run_a", "20250103T000000Z-03");
  record(root_ / "run_c", "20250102T000000Z-02");
  const ReportOutcome outcome = make_reports({.path = root_});
  EXPECT_EQ(outcome.exit_code, kExitGood);
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_20250103T000000Z-03"), std::string::npos);
  EXPECT_NE(outcome.text.find("newest one of 3 sessions"), std::string::npos);
  EXPECT_LT(outcome.text.find((root_ / "run_c").string()),
            outcome.text.find((root_ / "run_b").string()));

  ReportRequest narrow{.path = root_};
  narrow.text.width = 60;
  EXPECT_NE(make_reports(narrow).text.find("(--all\nreports them too):\n"), std::string::npos);

  const ReportOutcome all = make_reports({.path = root_, .all = true});
  const size_t first = all.text.find("app_of_20250101T000000Z-01");
  const size_t second = all.text.find("app_of_20250102T000000Z-02");
  const size_t third = all.text.find("app_of_20250103T000000Z-03");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_EQ(all.text.find("the newest"), std::string::npos);
}

TEST_F(ReportCommandTest, TheNewestIsTheOneThatBeganLast) {
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
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.errors;
  EXPECT_NE(outcome.text.find("GPUFlight report: app_of_b"), std::string::npos) << outcome.text;
  EXPECT_LT(outcome.text.find((root_ / "of_a").string()),
            outcome.text.find((root_ / "of_c").string()));
  EXPECT_NE(outcome.errors.find("it may be newer than what is reported"), std::string::npos);
}

TEST_F(ReportCommandTest, OfARunAllSessionsInBrief) {
  record(root_ / "run_a", "20250101T000000Z-01");
  record(root_ / "run_a", "20250101T000000Z-02");
  record(root_ / "run_b", "20240102T000000Z-03");
  const ReportOutcome newest = make_reports({.path = root_});
  EXPECT_EQ(newest.text.find("RUN: run_a"), 0u) << newest.text;
  EXPECT_NE(newest.text.find("newest run of 3 sessions"), std::string::npos) << newest.text;
  EXPECT_NE(newest.text.find("run_b/20240102T000000Z-03"), std::string::npos) << newest.text;
  const ReportOutcome outcome = make_reports({.path = root_ / "run_a"});
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.errors;
  EXPECT_EQ(outcome.text.find("RUN: run_a"), 0u) << outcome.text;
  EXPECT_NE(outcome.text.find("processes                 2"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("run_a/20250101T000000Z-02"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("GPUFlight report"), std::string::npos) << outcome.text;
  const ReportOutcome all = make_reports({.path = root_ / "run_a", .all = true});
  EXPECT_NE(all.text.find("GPUFlight report: app_of_20250101T000000Z-02"), std::string::npos);
}

TEST_F(ReportCommandTest, OfARunThoseThatHaveWhatIsAskedFor) {
  const fs::path run = root_ / "run_a";
  record(run, "20250101T000000Z-01");
  record(run, "20250101T000000Z-02");
  format::LogOptions options;
  options.session_dir = run / "20250101T000000Z-03";
  options.disk_floor_bytes = 0;
  auto bare = format::LogWriter::create(options, header(run, "20250101T000000Z-03"));
  ASSERT_TRUE(bare.is_ok());
  EXPECT_TRUE((*bare)->close(200 * kMs, format::Ledger()));
  for (const ReportFormat format : {ReportFormat::Text, ReportFormat::Html}) {
    const ReportOutcome some = make_reports({.path = run, .format = format, .scope = "inner"});
    EXPECT_EQ(some.exit_code, kExitGood) << some.errors;
    EXPECT_NE(some.text.find("1 session without the GPU or the scopes asked for"),
              std::string::npos)
        << some.text;
    const ReportOutcome none = make_reports({.path = run, .format = format, .scope = "no such"});
    EXPECT_EQ(none.exit_code, kExitCannotTell);
    EXPECT_EQ(none.text, "");
    const ReportOutcome no_gpu = make_reports({.path = run, .format = format, .device = 2});
    EXPECT_EQ(no_gpu.exit_code, kExitCannotTell);
    EXPECT_NE(no_gpu.errors.find("it has no GPU 2"), std::string::npos) << no_gpu.errors;
  }
}

TEST_F(ReportCommandTest, SaysWhatIsWrongWithThePath) {
  const ReportOutcome nothing = make_reports({.path = root_ / "no_such"});
  EXPECT_EQ(nothing.exit_code, kExitCannotTell);
  EXPECT_NE(nothing.errors.find("no such file or folder"), std::string::npos);
  const ReportOutcome empty = make_reports({.path = root_});
  EXPECT_EQ(empty.exit_code, kExitCannotTell);
  EXPECT_NE(empty.errors.find("there is no session in it"), std::string::npos);
  EXPECT_EQ(empty.text, "");
  const auto error_of_file = [&](const std::string& name, const std::string& text) {
    std::ofstream(root_ / name) << text;
    return make_reports({.path = root_ / name}).errors;
  };
  EXPECT_NE(error_of_file("notes.txt", "words").find("it is a file"), std::string::npos);
  EXPECT_NE(error_of_file("trace.json", " {\"traceEvents\":[]}").find("gpufl import "),
            std::string::npos);
  EXPECT_NE(error_of_file("trace.json.gz", "\x1f\x8b").find("gpufl import "), std::string::npos);
  EXPECT_NE(error_of_file("a.nsys-rep", "?").find("nsys export --type sqlite"), std::string::npos);
  if (geteuid() == 0) return;  // root may read anything
  fs::create_directories(root_ / "closed");
  fs::permissions(root_ / "closed", fs::perms::none);
  const ReportOutcome closed = make_reports({.path = root_ / "closed"});
  EXPECT_EQ(closed.exit_code, kExitCannotTell);
  EXPECT_NE(closed.errors.find("closed: Permission denied"), std::string::npos);
}

TEST_F(ReportCommandTest, CopiesOfASessionCountOnce) {
  record(root_ / "run_a", "20250101T000000Z-01");
  fs::copy(root_ / "run_a" / "20250101T000000Z-01", root_ / "run_a" / "copy",
           fs::copy_options::recursive);
  const ReportOutcome outcome = make_reports({.path = root_ / "run_a"});
  EXPECT_EQ(outcome.exit_code, kExitGood);
  EXPECT_NE(outcome.errors.find("are copies of one session, which counts once"), std::string::npos)
      << outcome.errors;
  EXPECT_EQ(outcome.text.find("GPUFlight report: app_of_20250101T000000Z-01"), 0u) << outcome.text;
  const ReportOutcome all = make_reports({.path = root_, .all = true});
  EXPECT_EQ(all.text, outcome.text);
}

TEST_F(ReportCommandTest, OfAScopeAloneInAnyFormat) {
  record(root_, "20250101T000000Z-01");
  const ReportOutcome inner = make_reports({.path = root_, .scope = "inn*"});
  EXPECT_EQ(inner.exit_code, kExitGood) << inner.errors;
  EXPECT_NE(inner.text.find("inner"), std::string::npos) << inner.text;
  const ReportOutcome none = make_reports({.path = root_, .scope = "no such"});
  EXPECT_EQ(none.exit_code, kExitCannotTell);
  EXPECT_NE(none.errors.find("none of its scopes matches 'no such'; it has "), std::string::npos)
      << none.errors;
  const ReportOutcome near = make_reports({.path = root_, .scope = "iner"});
  EXPECT_NE(near.errors.find("it has inner"), std::string::npos) << near.errors;
  const ReportOutcome no_gpu = make_reports({.path = root_, .device = 3});
  EXPECT_EQ(no_gpu.exit_code, kExitCannotTell);
  EXPECT_NE(no_gpu.errors.find("it has no GPU 3; it"), std::string::npos) << no_gpu.errors;
  const ReportOutcome json = make_reports({.path = root_, .format = ReportFormat::Json});
  EXPECT_EQ(json.text.find("{\"format\":\"gpufl-report\""), 0u) << json.text;
  EXPECT_TRUE(base::Json::parse(json.text).is_ok()) << json.text;
  const ReportOutcome markdown = make_reports({.path = root_, .format = ReportFormat::Markdown});
  EXPECT_NE(markdown.text.find("| &emsp;inner | 2 |"), std::string::npos) << markdown.text;
}

TEST_F(ReportCommandTest, OneUnreadableSessionDoesNotHideTheOthers) {
  record(root_, "20250101T000000Z-01");
  record(root_, "20250102T000000Z-02");
  for (const auto& file : fs::directory_iterator(root_ / "20250102T000000Z-02")) {
    std::ofstream(file.path(), std::ios::trunc) << "nothing of a log";
  }
  const ReportOutcome outcome = make_reports({.path = root_, .all = true});
  EXPECT_EQ(outcome.exit_code, kExitCannotTell);
  EXPECT_NE(outcome.text.find("app_of_20250101T000000Z-01"), std::string::npos);
  EXPECT_NE(outcome.errors.find("20250102T000000Z-02"), std::string::npos) << outcome.errors;
}

// analysis and report know metrics by their names alone; the backends' table is what they must fit.
TEST(MetricNamesTest, SayTheirUnitAndWhetherTheyGrow) {
  for (const backend::MetricSpec& metric : backend::metric_table()) {
    EXPECT_EQ(analysis::is_cumulative(metric.name), metric.type == backend::MetricType::Counter)
        << metric.name;
    const bool has_unit = !metric.unit.empty();
    const bool is_stripped = text::metric_label(metric.name) != metric.name;
    EXPECT_EQ(is_stripped, has_unit || metric.name.ends_with("_count")) << metric.name;
  }
}

}  // namespace
}  // namespace gpufl::cli
