// SPDX-License-Identifier: Apache-2.0
#include "format/verify_beside.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"

namespace gpufl::format {
namespace {

using base::Json;
using testing::TempDir;

// A session with one native frame and one of Python, and what lies beside it.
class VerifyBesideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto writer = testing::make_writer(testing::test_options(temp_.path()));
    const int64_t module = writer->intern(Dict::Text, "/bin/train");
    const int64_t function = writer->intern(Dict::Name, "step");
    native_ =
        writer->intern(Dict::Frame, Json::object().set("module", module).set("offset", 16).dump());
    python_ = writer->intern(Dict::Frame, Json::object().set("function", function).dump());
    const std::string frames = "[" + std::to_string(native_) + "," + std::to_string(python_) + "]";
    Batch kernels(Kind::Kernel);
    kernels.mutable_column(kernel_column::kStart).push_back(5);
    kernels.mutable_column(kernel_column::kDuration).push_back(5);
    kernels.mutable_column(kernel_column::kConfig)
        .push_back(writer->intern(Dict::Config, Json::object().set("name", function).dump()));
    kernels.mutable_column(kernel_column::kStack)
        .push_back(writer->intern(Dict::Stack, R"({"frames":)" + frames + "}"));
    kernels.set_rows(1);
    writer->write(kernels);
    ASSERT_TRUE(writer->close(1000, Ledger()).is_ok());
  }

  static std::string session_line(const std::string& id = testing::test_header().session_id) {
    SessionHeader header = testing::test_header();
    header.session_id = id;
    return header.to_json().dump() + '\n';
  }
  static std::string binary_line(int resolved) {
    return R"({"type":"binary","path":"/bin/train","state":"symbols","frames":1,"resolved":)" +
           std::to_string(resolved) + "}\n";
  }
  static std::string symbol_line(int64_t frame) {
    return R"({"type":"symbol","frame":)" + std::to_string(frame) +
           R"(,"functions":[{"function":"main"}]})" + "\n";
  }
  VerifyResult with_symbols(const std::string& text) const {
    testing::write_text(temp_.path() / kSymbolFileName, text);
    return verify_session(temp_.path());
  }
  // The kind of the only problem there is; empty: there is none, or there are several.
  std::string problem_with(const std::string& text) const {
    const VerifyResult result = with_symbols(text);
    if (result.verdict != Verdict::Losses || result.first_problems.size() != 1) return {};
    EXPECT_EQ(result.first_problems[0].file, kSymbolFileName);
    return std::string(to_string(result.first_problems[0].kind));
  }

  TempDir temp_;
  int64_t native_ = 0, python_ = 0;
};

TEST_F(VerifyBesideTest, ASessionNeedsNoSymbols) {
  const VerifyResult result = verify_session(temp_.path());
  EXPECT_EQ(result.verdict, Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.native_frames, 1u);
  EXPECT_FALSE(result.named_frames);
}

TEST_F(VerifyBesideTest, CountsTheFramesThatHaveNames) {
  const VerifyResult all = with_symbols(session_line() + binary_line(1) + symbol_line(native_));
  EXPECT_EQ(all.verdict, Verdict::Complete) << all.to_json().dump();
  EXPECT_EQ(all.named_frames, 1u);
  const VerifyResult none = with_symbols(session_line() + binary_line(0));
  EXPECT_EQ(none.verdict, Verdict::Complete) << none.to_json().dump();
  EXPECT_EQ(none.named_frames, 0u);
}

TEST_F(VerifyBesideTest, FindsDamagedSymbols) {
  const std::string whole = session_line() + binary_line(1) + symbol_line(native_);
  EXPECT_EQ(problem_with(""), "bad_line");
  EXPECT_EQ(problem_with(session_line("another") + binary_line(0)), "bad_line");
  EXPECT_EQ(problem_with(binary_line(0)), "bad_line");
  EXPECT_EQ(problem_with(whole + "nonsense\n"), "bad_line");
  EXPECT_EQ(problem_with(session_line() + binary_line(1)), "bad_line") << "cut between two lines";
  EXPECT_EQ(problem_with(whole + R"({"type":"sour)"), "torn_line");
  EXPECT_EQ(problem_with(session_line() + binary_line(1) + symbol_line(python_)), "unknown_id");
  EXPECT_EQ(problem_with(session_line() + binary_line(1) + symbol_line(99)), "unknown_id");
}

TEST_F(VerifyBesideTest, FindsSymbolsThatWereChanged) {
  std::string text = session_line() + binary_line(1) + symbol_line(native_);
  const std::string hash = base::xxh64_text(base::xxh64(text.data(), text.size()));
  const std::string end = R"({"type":"end","hash":")" + hash + "\"}\n";
  EXPECT_EQ(with_symbols(text + end).verdict, Verdict::Complete);
  text.replace(text.find("main"), 4, "lain");
  EXPECT_EQ(problem_with(text + end), "bad_line");
}

TEST_F(VerifyBesideTest, ANewerLineOfSymbolsIsNoProblem) {
  EXPECT_EQ(with_symbols(session_line() + R"({"type":"hologram"})" + "\n").verdict,
            Verdict::Complete);
}

TEST_F(VerifyBesideTest, FindsADisassemblyThatCannotBeRead) {
  const auto path = temp_.path() / kDisassemblyFileName;
  testing::write_text(path, session_line());
  EXPECT_EQ(verify_session(temp_.path()).verdict, Verdict::Complete);
  testing::write_text(path, session_line("another"));
  const VerifyResult result = verify_session(temp_.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  ASSERT_EQ(result.first_problems.size(), 1u);
  EXPECT_EQ(result.first_problems[0].text, "it is a file of session another");
}

}  // namespace
}  // namespace gpufl::format
