// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbolize_session.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"
#include "symbols/test_fixture.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::Dict;
using format::Kind;
using format::LogWriter;
using format::testing::make_writer;
using format::testing::TempDir;
using format::testing::test_header;
using format::testing::test_options;
using testing::Call;
using testing::kFixtures;
using testing::kFixtureSources;
using testing::run_fixture;

constexpr int64_t kMs = 1'000'000;

// Records waits at the places that a fixture called from, one stack each.
class SymbolizeSessionTest : public ::testing::Test {
 protected:
  SymbolizeSessionTest() : calls_(run_fixture(kFixtures / "dwarf5")) {
    options_.libdw = &linked_libdw();
  }

  static int64_t native_frame(LogWriter& log, const std::string& module, const std::string& id,
                              uint64_t offset) {
    const int64_t text = log.intern(Dict::Text, module);
    return log.intern(Dict::Frame, R"({"module":)" + std::to_string(text) + R"(,"offset":)" +
                                       std::to_string(offset) + R"(,"build_id":")" + id + "\"}");
  }

  std::unique_ptr<LogWriter> begin(const std::string& module) {
    auto log = make_writer(test_options(dir_.path() / "session"));
    const std::string id = testing::build_id_of(linked_libdw(), kFixtures / "dwarf5");
    Batch waits(Kind::Sync);
    for (const auto& [tag, call] : calls_) {
      const int64_t frame = native_frame(*log, module, id, call.offset);
      frames_[tag] = frame;
      const int64_t stack =
          log->intern(Dict::Stack, R"({"frames":[)" + std::to_string(frame) + "]}");
      waits.push_row({kMs, kMs, 0, 1, 7, 1, 100, 0, 0, stack, 3, -1, kMs, kMs});
    }
    log->write(waits);
    EXPECT_TRUE(log->flush(2 * kMs));
    return log;
  }

  void expect_symbols(const fs::path& session) {
    const auto symbols = SymbolFile::read(session, test_header().session_id);
    ASSERT_TRUE(symbols.is_ok()) << symbols.status().text();
    EXPECT_EQ(symbols->frames.size(), calls_.size());
    for (const auto& [tag, call] : calls_) {
      EXPECT_EQ(symbols->frames.at(frames_[tag]).at(0).line, call.line) << tag;
    }
    EXPECT_EQ(symbols->frames.at(frames_["inlined"]).size(), 3u);
    EXPECT_EQ(symbols->incomplete, "");
  }

  TempDir dir_;
  std::map<std::string, Call> calls_;
  std::map<std::string, int64_t> frames_;
  SymbolizeOptions options_;
};

TEST_F(SymbolizeSessionTest, LiveKilledAndSealed) {
  const fs::path session = dir_.path() / "session";
  auto log = begin((kFixtures / "dwarf5").string());
  auto outcome = symbolize_session(session, options_);
  ASSERT_TRUE(outcome.is_ok()) << outcome.status().text();
  EXPECT_EQ(outcome->frames, calls_.size());
  EXPECT_EQ(outcome->resolved, calls_.size());
  EXPECT_EQ(outcome->with_lines, calls_.size());
  expect_symbols(session);

  const fs::path killed = dir_.path() / "killed";
  fs::copy(session, killed);
  fs::remove(killed / kSymbolFileName);
  ASSERT_TRUE(symbolize_session(killed, options_).is_ok());
  expect_symbols(killed);

  fs::remove(session / kSymbolFileName);
  ASSERT_TRUE(log->close(3 * kMs, format::Ledger()));
  const auto sealed_files = format::testing::file_names(session);
  ASSERT_TRUE(symbolize_session(session, options_).is_ok());
  expect_symbols(session);
  // It is beside the log, not in it: what was sealed is complete as before.
  const auto all = format::testing::read_all(session);
  EXPECT_TRUE(all.problems.empty());
  EXPECT_EQ(format::testing::file_names(session).size(), sealed_files.size() + 1);
}

TEST_F(SymbolizeSessionTest, ElsewhereWithTheBinariesBelowAnotherRoot) {
  begin("/build/bin/dwarf5");
  const fs::path elsewhere = dir_.path() / "elsewhere";
  fs::create_directories(elsewhere / "root/build/bin");
  fs::rename(dir_.path() / "session", elsewhere / "log");
  auto outcome = symbolize_session(elsewhere / "log", options_);
  ASSERT_TRUE(outcome.is_ok());
  EXPECT_EQ(outcome->resolved, 0u);
  EXPECT_EQ(outcome->symbols.binaries.at(0).state, "not_found");
  fs::copy_file(kFixtures / "dwarf5", elsewhere / "root/build/bin/dwarf5");
  options_.debug_dirs = {elsewhere / "root"};
  ASSERT_TRUE(symbolize_session(elsewhere / "log", options_).is_ok());
  expect_symbols(elsewhere / "log");

  // Where the binaries are gone again, what was found out stays.
  options_.debug_dirs.clear();
  outcome = symbolize_session(elsewhere / "log", options_);
  ASSERT_TRUE(outcome.is_ok());
  EXPECT_EQ(outcome->symbols.binaries.at(0).state, "not_found");
  EXPECT_EQ(outcome->resolved, calls_.size());
  expect_symbols(elsewhere / "log");
}

TEST_F(SymbolizeSessionTest, SourcesOfTheLinesThatMatter) {
  begin((kFixtures / "dwarf5").string());
  options_.sources.context_lines = 0;
  auto outcome = symbolize_session(dir_.path() / "session", options_);
  ASSERT_TRUE(outcome.is_ok());
  std::map<int64_t, std::string> shop;
  for (const SourceText& source : outcome->symbols.sources) {
    if (fs::path(source.path).filename() != "shop.cpp") continue;
    for (size_t i = 0; i < source.lines.size(); ++i) {
      shop[source.first_line + static_cast<int64_t>(i)] = source.lines[i];
    }
  }
  for (const auto& [tag, call] : calls_) {
    if (tag == "main") continue;
    EXPECT_NE(shop[call.line].find("PROBE(\"" + tag + "\")"), std::string::npos) << tag;
  }
  EXPECT_EQ(shop.size(), 6u);

  options_.sources.excluded_roots = {kFixtureSources};
  fs::remove(dir_.path() / "session" / kSymbolFileName);
  outcome = symbolize_session(dir_.path() / "session", options_);
  ASSERT_TRUE(outcome.is_ok());
  EXPECT_TRUE(outcome->symbols.sources.empty());
  EXPECT_EQ(outcome->sources.excluded, 2u);
}

TEST_F(SymbolizeSessionTest, ATimeLimitIsToldAndMadeUpForLater) {
  begin((kFixtures / "dwarf5").string());
  options_.deadline = std::chrono::steady_clock::now();
  auto outcome = symbolize_session(dir_.path() / "session", options_);
  ASSERT_TRUE(outcome.is_ok());
  EXPECT_EQ(outcome->resolved, 0u);
  const auto symbols = SymbolFile::read(dir_.path() / "session", test_header().session_id);
  ASSERT_TRUE(symbols.is_ok());
  EXPECT_EQ(symbols->incomplete, "time_limit");
  EXPECT_EQ(symbols->binaries.at(0).state, "not_tried");
  options_.deadline.reset();
  ASSERT_TRUE(symbolize_session(dir_.path() / "session", options_).is_ok());
  expect_symbols(dir_.path() / "session");
}

TEST_F(SymbolizeSessionTest, WithoutNativeFramesThereIsNothingToWrite) {
  auto log = make_writer(test_options(dir_.path() / "plain"));
  log->write(format::testing::scope_rows(*log, 1, 3, 5));
  ASSERT_TRUE(log->close(kMs, format::Ledger()));
  const auto outcome = symbolize_session(dir_.path() / "plain", options_);
  ASSERT_TRUE(outcome.is_ok());
  EXPECT_EQ(outcome->frames, 0u);
  EXPECT_FALSE(fs::exists(dir_.path() / "plain" / kSymbolFileName));
  EXPECT_FALSE(symbolize_session(dir_.path() / "none", options_).is_ok());
}

}  // namespace
}  // namespace gpufl::symbols
