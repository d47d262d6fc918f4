// SPDX-License-Identifier: Apache-2.0
// `gpufl diff` and `gpufl gate` from folders of sessions to what they print.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/diff_command.hpp"
#include "cli/exit_codes.hpp"
#include "cli/gate_command.hpp"
#include "cli/test_command.hpp"
#include "format/columns.hpp"
#include "format/test_session.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
namespace column = format::kernel_column;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Without the line breaks and indents that fit it to a width.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += word + " ";
  return line;
}

class CompareCommandTest : public ::testing::Test {
 protected:
  // A session of 200 launches of one kernel, of about that many nanoseconds.
  void write_session(const fs::path& folder, int64_t duration_ns, int number,
                     const format::Ledger& ledger = {}) const {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = "s" + std::to_string(number);
    header.run_id = folder.filename().string() + std::to_string(number);
    header.start_wall_ns += number * int64_t{1'000'000'000};
    auto writer = format::LogWriter::create(
        format::testing::test_options(folder / header.session_id), header);
    ASSERT_TRUE(writer.is_ok()) << writer.status().text();
    const int64_t name = (*writer)->intern(format::Dict::Name, "gemm");
    const int64_t config =
        (*writer)->intern(format::Dict::Config, "{\"name\":" + std::to_string(name) +
                                                    R"(,"grid":[128,1,1],"block":[256,1,1]})");
    constexpr size_t kRows = 200;
    format::Batch rows(format::Kind::Kernel);
    for (size_t i = column::kStart; i <= column::kStream; ++i) {
      rows.mutable_column(i).resize(kRows, i == column::kConfig ? config : 0);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const auto at = static_cast<int64_t>(row);
      rows.mutable_column(column::kStart)[row] = at * 100'000;
      rows.mutable_column(column::kDuration)[row] = duration_ns + (at % 7) * 32 + number * 10;
    }
    rows.set_rows(kRows);
    (*writer)->write(rows);
    EXPECT_TRUE((*writer)->close(kRows * 100'000, ledger).is_ok());
  }
  fs::path group(const std::string& name, int64_t duration_ns, int repeats) const {
    for (int i = 0; i < repeats; ++i) write_session(dir_.path() / name, duration_ns, i);
    return dir_.path() / name;
  }

  static analysis::compare::Rule kernel_rule() {
    analysis::compare::Rule rule;
    rule.subject = analysis::compare::Subject::Kernel;
    rule.pattern = "gemm";
    rule.metric = analysis::compare::Metric::Median;
    return rule;
  }

  format::testing::TempDir dir_;
};

TEST_F(CompareCommandTest, DiffTellsSlowerFromAlike) {
  const fs::path a = group("a", 20'000, 6);
  const fs::path alike = group("alike", 20'000, 6);
  const fs::path slower = group("slower", 22'000, 6);
  DiffRequest request;
  request.a = {a};
  request.b = {alike};
  DiffOutcome outcome = make_diff(request);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(has(outcome.text, "Comparison: no difference\n")) << outcome.text;
  request.b = {slower};
  outcome = make_diff(request);
  EXPECT_TRUE(has(outcome.text, "Comparison: different: 1 slower\n")) << outcome.text;
  request.format = "json";
  EXPECT_TRUE(has(make_diff(request).text, "\"has_difference\":true"));
}

TEST_F(CompareCommandTest, DiffOfSingleSessionsIsNotProof) {
  DiffRequest request;
  request.a = {group("a", 20'000, 1)};
  request.b = {group("b", 30'000, 1)};
  EXPECT_TRUE(has(make_diff(request).text, "seen, not proven: 1 slower"));
}

TEST_F(CompareCommandTest, HalvesOfASteadySessionAreAlike) {
  DiffRequest request;
  request.halves_of = group("a", 20'000, 1);
  const DiffOutcome outcome = make_diff(request);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(has(outcome.text, "Comparison: no difference\n")) << outcome.text;
}

TEST_F(CompareCommandTest, AFolderWithoutSessionsIsAnError) {
  DiffRequest request;
  request.a = {group("a", 20'000, 1)};
  request.b = {dir_.path() / "nothing"};
  EXPECT_TRUE(has(make_diff(request).error, "there is no such file or folder"));
  GateRequest gate;
  gate.baseline = request.b;
  gate.candidate = request.a;
  gate.rules = {kernel_rule()};
  EXPECT_EQ(make_gate(gate).exit_code, kExitCannotTell);
}

TEST_F(CompareCommandTest, GateAnswersWithItsExitCode) {
  GateRequest request;
  request.baseline = {group("a", 20'000, 6)};
  request.rules = {kernel_rule()};
  request.candidate = {group("alike", 20'000, 6)};
  EXPECT_EQ(make_gate(request).exit_code, kExitGood);
  request.candidate = {group("slower", 22'000, 6)};
  const GateOutcome outcome = make_gate(request);
  EXPECT_EQ(outcome.exit_code, kExitNo);
  EXPECT_TRUE(has(outcome.text, "GPU performance: regression\n")) << outcome.text;
  request.candidate = {group("few", 22'000, 3)};
  EXPECT_EQ(make_gate(request).exit_code, kExitCannotTell);
  EXPECT_TRUE(has(make_gate(request).text, "too few repeats")) << make_gate(request).text;
}

// The words as they are typed.
int gate_of(std::vector<std::string> words) {
  words.insert(words.begin(), "gate");
  return testing::run_words(std::move(words)).exit_code;
}

TEST_F(CompareCommandTest, GateTakesItsWordsInAnyOrder) {
  const std::string base = group("base", 20'000, 6).string();
  const std::string alike = group("alike", 20'000, 6).string();
  const std::string slower = group("slower", 22'000, 6).string();
  const std::string out = (dir_.path() / "gate.txt").string();
  for (const auto& [judged, answer] : {std::pair(alike, kExitGood), std::pair(slower, kExitNo)}) {
    EXPECT_EQ(gate_of({"--baseline", base, judged, "--kernel", "gemm", "-o", out}), answer);
    EXPECT_EQ(gate_of({judged, "--baseline", base, "--kernel", "gemm", "-o", out}), answer);
    EXPECT_EQ(gate_of({"--kernel", "gemm", "--baseline", base, judged, "-o", out}), answer);
    EXPECT_EQ(gate_of({"-o", out, "--kernel", "gemm", "-b", base, judged}), answer);
    EXPECT_EQ(gate_of({"--baseline=" + base, judged, "--total", "-o", out}), answer);
    EXPECT_EQ(gate_of({"-b", base, judged, judged, "-b", base, "-o", out}), answer);
  }
}

TEST_F(CompareCommandTest, NothingIsWrittenIntoASession) {
  const std::string base = group("base", 20'000, 6).string();
  const fs::path manifest = dir_.path() / "base" / "s0" / "manifest.ndjson";
  ASSERT_TRUE(fs::exists(manifest));
  const auto size = fs::file_size(manifest);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", manifest.string()}), kExitCannotTell);
  EXPECT_EQ(fs::file_size(manifest), size);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", (manifest.parent_path() / "new").string()}),
            kExitCannotTell);
  EXPECT_FALSE(fs::exists(manifest.parent_path() / "new"));
  // An earlier answer is replaced.
  const std::string out = (dir_.path() / "gate.txt").string();
  EXPECT_EQ(gate_of({"-b", base, base, "-o", out}), kExitGood);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", out, "--format", "json"}), kExitGood);
  std::ifstream file(out);
  EXPECT_EQ(file.get(), '{');
}

TEST_F(CompareCommandTest, IncompleteTracesAreNotJudged) {
  GateRequest request;
  request.baseline = {group("a", 20'000, 6)};
  request.rules = {kernel_rule()};
  const auto gate_with = [&](const std::string& name, const format::Ledger& ledger) {
    const fs::path folder = group(name, 20'000, 4);
    write_session(folder, 20'000, 4, ledger);
    request.candidate = {folder};
    return make_gate(request);
  };
  EXPECT_EQ(gate_with("whole", {}).exit_code, kExitGood);
  format::Ledger dropped, truncated;
  dropped.vendor_dropped = 5;
  truncated.uncounted = {format::Ledger::kTruncatedTrace};
  for (const auto& [ledger, why] : {std::pair(dropped, "its ledger says that records are missing"),
                                    std::pair(truncated, "imported from ends early")}) {
    const GateOutcome outcome = gate_with(why, ledger);
    EXPECT_EQ(outcome.exit_code, kExitCannotTell);
    const std::string text = unwrapped(outcome.text);
    EXPECT_TRUE(has(text, "1 more have an incomplete trace")) << outcome.text;
    EXPECT_TRUE(has(text, why)) << outcome.text;
  }
}

}  // namespace
}  // namespace gpufl::cli
