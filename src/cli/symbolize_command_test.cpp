// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/test_command.hpp"
#include "format/test_session.hpp"
#include "symbols/libdw_api.hpp"
#include "symbols/symbol_file.hpp"
#include "symbols/test_fixture.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::Batch;
using format::Dict;
using format::Kind;
using format::testing::TempDir;
using symbols::testing::kFixtures;
using symbols::testing::run_fixture;

using testing::run_typed;
using Outcome = testing::TypedOutcome;

// One wait and one kernel of a program that was built with -g, and whose mangled kernel it was.
class SymbolizeCommandTest : public ::testing::Test {
 protected:
  SymbolizeCommandTest() : calls_(run_fixture(kFixtures / "dwarf5")) {}

  void record(const fs::path& module) {
    auto log = format::testing::make_writer(format::testing::test_options(session_));
    const std::string id =
        symbols::testing::build_id_of(symbols::linked_libdw(), kFixtures / "dwarf5");
    const int64_t text = log->intern(Dict::Text, module.string());
    const int64_t frame =
        log->intern(Dict::Frame, R"({"module":)" + std::to_string(text) + R"(,"offset":)" +
                                     std::to_string(calls_.at("inlined").offset) +
                                     R"(,"build_id":")" + id + "\"}");
    const int64_t stack = log->intern(Dict::Stack, R"({"frames":[)" + std::to_string(frame) + "]}");
    Batch waits(Kind::Sync);
    waits.push_row({0, 500, 0, 1, 7, 1, 100, 0, 0, stack, 3, -1, 0, 500});
    log->write(waits);
    const int64_t name = log->intern(Dict::Name, "_Z4gemmIfEvPT_");
    Batch kernels(Kind::Kernel);
    kernels.mutable_column(format::kernel_column::kStart) = {10};
    kernels.mutable_column(format::kernel_column::kDuration) = {20};
    kernels.mutable_column(format::kernel_column::kConfig) = {
        log->intern(Dict::Config, R"({"name":)" + std::to_string(name) + "}")};
    kernels.mutable_column(format::kernel_column::kStack) = {stack};
    kernels.set_rows(1);
    log->write(kernels);
    ASSERT_TRUE(log->close(1000, format::Ledger()));
  }
  std::string site() const {
    return "shop.cpp:" + std::to_string(calls_.at("inlined").line) + " in shop::";
  }

  TempDir dir_;
  fs::path session_ = dir_.path() / "session";
  std::map<std::string, symbols::testing::Call> calls_;
};

TEST_F(SymbolizeCommandTest, NamesFramesAndKeepsThem) {
  record(kFixtures / "dwarf5");
  const Outcome outcome = run_typed("symbolize " + dir_.path().string());
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_NE(outcome.out.find("1 native frames in 1 binaries: 1 named, 1 with a line"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("source text of 1 places kept"), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(session_ / symbols::kSymbolFileName));
}

TEST_F(SymbolizeCommandTest, SaysWhatIsMissingAndTakesItFromElsewhere) {
  record("/gone/dwarf5");
  const Outcome missing = run_typed("symbolize " + session_.string() + " --max-source-mb 0");
  EXPECT_EQ(missing.exit_code, kExitNo);
  EXPECT_NE(missing.out.find("/gone/dwarf5: not_found (1 frames without a name)"),
            std::string::npos)
      << missing.out;
  const Outcome found =
      run_typed("symbolize " + session_.string() + " --debug-dir /nothing --debug-dir " +
                kFixtures.string() + " --max-source-mb 0");
  EXPECT_EQ(found.exit_code, kExitGood) << found.out;
  EXPECT_EQ(found.out.find("source text"), std::string::npos) << found.out;
}

TEST_F(SymbolizeCommandTest, NoSessionCannotBeNamed) {
  const Outcome outcome = run_typed("symbolize " + (dir_.path() / "none").string());
  EXPECT_EQ(outcome.exit_code, kExitCannotTell);
  EXPECT_NE(outcome.err.find("there is no such file or folder"), std::string::npos);
}

TEST_F(SymbolizeCommandTest, ReportNamesTheLineByItself) {
  record(kFixtures / "dwarf5");
  const Outcome outcome = run_typed("report --full " + session_.string());
  EXPECT_NE(outcome.out.find("StreamSynchronize x 1  " + site()), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("LAUNCHES BY LINE"), std::string::npos);
  EXPECT_FALSE(fs::exists(session_ / symbols::kSymbolFileName));
}

TEST_F(SymbolizeCommandTest, CatTellsTheLineOrTheWholeStack) {
  record(kFixtures / "dwarf5");
  const auto brief = Json::parse(run_typed("cat " + session_.string() + " sync").out);
  ASSERT_TRUE(brief.is_ok());
  EXPECT_TRUE((*brief)["at"].as_string().starts_with(site())) << brief->dump();
  EXPECT_EQ(brief->find("stack"), nullptr);
  const auto whole = Json::parse(run_typed("cat " + session_.string() + " sync --stacks").out);
  ASSERT_TRUE(whole.is_ok());
  EXPECT_EQ((*whole)["at"].as_string(), (*brief)["at"].as_string());
  const auto& stack = (*whole)["stack"].items();
  ASSERT_EQ(stack.size(), 3u) << whole->dump();
  EXPECT_TRUE(stack[2].as_string().starts_with("shop::outer(int) at /")) << stack[2].as_string();
}

TEST_F(SymbolizeCommandTest, CatNamesKernelsAsTheirAuthorsDid) {
  record("/gone/dwarf5");
  const auto kernel = Json::parse(run_typed("cat " + session_.string() + " kernel").out);
  ASSERT_TRUE(kernel.is_ok());
  EXPECT_EQ((*kernel)["name"].as_string(), "void gemm<float>(float*)");
  EXPECT_TRUE((*kernel)["at"].as_string().starts_with("dwarf5+0x"));
  const auto mangled = Json::parse(run_typed("cat " + session_.string() + " kernel --mangled").out);
  ASSERT_TRUE(mangled.is_ok());
  EXPECT_EQ((*mangled)["name"].as_string(), "_Z4gemmIfEvPT_");
}

}  // namespace
}  // namespace gpufl::cli
