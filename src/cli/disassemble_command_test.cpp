// SPDX-License-Identifier: Apache-2.0
#include "cli/disassemble_command.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/test_command.hpp"
#include "disassembly/disassembly_file.hpp"
#include "disassembly/test_modules.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;
using disassembly::kDisassemblyFileName;
using disassembly::testing::image_of;
using disassembly::testing::kFill;
using disassembly::testing::kFixture;
using disassembly::testing::kPolynomial;
using disassembly::testing::kSaxpy;
using disassembly::testing::real_nvdisasm;
using format::testing::TempDir;
using testing::run_typed;
using Outcome = testing::TypedOutcome;

constexpr uint64_t kCuda = 17, kTriton = 18, kLost = 19;

// Two kernels of one image, one of Triton's, and one whose image was not found.
class DisassembleCommandTest : public ::testing::Test {
 protected:
  void SetUp() override { GPUFL_NEEDS_NVDISASM(); }

  // Disassembling takes a second, so it is done once.
  void record_and_disassemble() {
    static const TempDir once;
    static const Outcome outcome = [] {
      record(once.path() / "session");
      return disassemble(once.path());
    }();
    disassembled_ = outcome;
    fs::copy(once.path() / "session", session_, fs::copy_options::recursive);
  }

  static void record(const fs::path& session) {
    namespace made = disassembly::testing;
    auto log = format::testing::make_writer(format::testing::test_options(session));
    made::tell_module(*log, kCuda, image_of("saxpy"));
    made::tell_module(*log, kTriton, image_of("softmax_rows"));
    for (const char* kernel : {kSaxpy, kFill, "softmax_rows", "lost_kernel"}) {
      made::tell_kernel(*log, kernel, 10);
    }
    // At the load, in the loop of polynomial(), and in the loop's inlined function.
    made::tell_samples(*log, kCuda, kSaxpy, 0x130, "long_scoreboard", 30);
    made::tell_samples(*log, kCuda, kSaxpy, 0x130, "long_scoreboard_not_issued", 20);
    made::tell_samples(*log, kCuda, kSaxpy, 0x240, "wait", 60);
    made::tell_samples(*log, kCuda, kPolynomial, 0x40, "math_pipe_throttle", 10);
    made::tell_samples(*log, kTriton, "softmax_rows", 0x100, "barrier", 5);
    made::tell_missing(*log, kLost, "not_found");
    made::tell_samples(*log, kLost, "lost_kernel", 0x10, "wait", 8);
    ASSERT_TRUE(log->close(1000, format::Ledger()));
    made::keep_image(session, image_of("saxpy"));
    made::keep_image(session, image_of("softmax_rows"));
  }

  static Outcome disassemble(const fs::path& path) {
    return run_typed("disassemble " + path.string() + " --nvdisasm " + real_nvdisasm().string() +
                     " --source-root " + kFixture.string());
  }
  Outcome report(const std::string& words) const {
    return run_typed("report " + session_.string() + " --nvdisasm " + real_nvdisasm().string() +
                     " --kernel " + words);
  }

  TempDir dir_;
  fs::path session_ = dir_.path() / "session";
  Outcome disassembled_;
};

TEST_F(DisassembleCommandTest, KeepsTheCodeAndSaysWhatIsMissing) {
  record_and_disassemble();
  const Outcome& outcome = disassembled_;
  EXPECT_EQ(outcome.exit_code, kExitNo) << outcome.err;
  EXPECT_NE(outcome.out.find("3 functions in 3 images: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("image -: not_found"), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(session_ / kDisassemblyFileName));
}

TEST_F(DisassembleCommandTest, WithoutNvdisasmItSaysHowToGetOne) {
  record(session_);
  const Outcome outcome = run_typed("disassemble " + session_.string() + " --nvdisasm " +
                                    (dir_.path() / "no").string());
  EXPECT_EQ(outcome.exit_code, kExitCannotTell);
  EXPECT_NE(outcome.err.find("is not a program"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(session_ / kDisassemblyFileName));
}

TEST_F(DisassembleCommandTest, TheReportShowsTheHottestLineFirst) {
  record_and_disassemble();
  const Outcome outcome = report("saxpy");
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  const size_t first = outcome.out.find("saxpy.cu:8"), second = outcome.out.find("saxpy.cu:26");
  EXPECT_NE(first, std::string::npos) << outcome.out;
  EXPECT_NE(second, std::string::npos) << outcome.out;
  EXPECT_LT(first, second) << outcome.out;
  EXPECT_NE(outcome.out.find("13 registers"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("y[i] = a * tile[255 - threadIdx.x]"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("NOT RECORDED"), std::string::npos) << outcome.out;
}

TEST_F(DisassembleCommandTest, SourceAndInstructionsStandSideBySide) {
  record_and_disassemble();
  const Outcome outcome = report("saxpy --source --width 120");
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  const size_t at = outcome.out.find("/home/me/app/saxpy.cu:26: 30.0%");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const size_t load = outcome.out.find("0130  LDG.E", at);
  ASSERT_NE(load, std::string::npos) << outcome.out.substr(at);
  EXPECT_NE(outcome.out.find("long_scoreboard", load), std::string::npos);
}

TEST_F(DisassembleCommandTest, WithoutAKeptFileItDisassemblesOneKernelForItself) {
  record(session_);
  const Outcome outcome = report("softmax --source");
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_NE(outcome.out.find("softmax_rows.py:"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("source text: it was not stored"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(session_ / kDisassemblyFileName));
}

TEST_F(DisassembleCommandTest, JsonHasEveryInstructionWithItsSamples) {
  record_and_disassemble();
  const auto json = Json::parse(report("saxpy --format json --source").out);
  ASSERT_TRUE(json.is_ok());
  EXPECT_EQ((*json)["kind"].as_string(), "kernel");
  EXPECT_EQ((*json)["samples"].as_integer(), 90);
  const Json& image = (*json)["images"].items().at(0);
  EXPECT_EQ(image["samples"].as_integer(), 100);  // with those of the function within
  EXPECT_EQ(image["samples_unlocated"].as_integer(), 0);
  const Json* load = nullptr;
  for (const Json& instruction : image["instructions"].items()) {
    if (instruction["offset"].as_integer() == 0x130) load = &instruction;
  }
  ASSERT_NE(load, nullptr);
  EXPECT_EQ((*load)["stalls"]["long_scoreboard"]["samples"].as_integer(), 30);
  EXPECT_EQ((*load)["stalls"]["long_scoreboard"]["not_issued"].as_integer(), 20);
  EXPECT_EQ((*load)["places"].items().at(0)["line"].as_integer(), 26);
  EXPECT_GT((*load)["live_registers"].as_integer(), 0);
  EXPECT_FALSE(image["ptx"].items().empty());
}

TEST_F(DisassembleCommandTest, ANameOfSeveralKernelsListsThem) {
  record(session_);
  const Outcome outcome = report("*");
  EXPECT_EQ(outcome.exit_code, kExitCannotTell);
  EXPECT_NE(outcome.err.find("matches 4 kernels"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\n  --kernel fill\n"), std::string::npos) << outcome.err;
  const Outcome none = report("gemm");
  EXPECT_EQ(none.exit_code, kExitCannotTell);
  EXPECT_NE(none.err.find("none of its kernels matches 'gemm'"), std::string::npos) << none.err;
}

TEST_F(DisassembleCommandTest, WithoutAnImageItSaysWhyAndHowManySamples) {
  record(session_);
  const Outcome outcome = report("lost_kernel");
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_NE(outcome.out.find("could not be found while the program ran (100.0% of the samples)"),
            std::string::npos)
      << outcome.out;
}

TEST_F(DisassembleCommandTest, WithoutSamplesItShowsCodeAndSaysSo) {
  record_and_disassemble();
  const Outcome outcome = report("fill --source");
  EXPECT_EQ(outcome.exit_code, kExitGood) << outcome.err;
  EXPECT_NE(outcome.out.find("if (i < n) y[i] = value;"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("samples: no sampling window hit this kernel"), std::string::npos)
      << outcome.out;
}

TEST_F(DisassembleCommandTest, ACopyElsewhereTellsTheSame) {
  record_and_disassemble();
  const std::string here = report("saxpy --source").out;
  TempDir elsewhere;
  fs::copy(session_, elsewhere.path() / "copy", fs::copy_options::recursive);
  fs::remove_all(session_ / "modules");
  session_ = elsewhere.path() / "copy";
  EXPECT_EQ(report("saxpy --source").out, here);
  fs::remove(session_ / kDisassemblyFileName);
  const Outcome again = disassemble(session_);
  EXPECT_EQ(report("saxpy --source").out, here) << again.err;
}

}  // namespace
}  // namespace gpufl::cli
