// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/stacks.hpp"

#include <gtest/gtest.h>

#include "analysis/code/code_map.hpp"
#include "analysis/summary/summary.hpp"
#include "format/test_session.hpp"

namespace gpufl::analysis {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::Batch;
using format::Dict;
using format::Kind;
using format::LogWriter;
using format::testing::make_writer;
using format::testing::TempDir;
using format::testing::test_header;
using format::testing::test_options;

constexpr int64_t kMs = 1'000'000;

// A training loop: cudart waits for torch, which works for train.py; and the driver by itself.
class StacksTest : public ::testing::Test {
 protected:
  int64_t native(const std::string& module, int64_t offset) {
    const int64_t text = log_->intern(Dict::Text, module);
    return log_->intern(Dict::Frame, R"({"module":)" + std::to_string(text) + R"(,"offset":)" +
                                         std::to_string(offset) + "}");
  }
  int64_t python(const std::string& file, const std::string& function, int64_t line) {
    const int64_t text = log_->intern(Dict::Text, file);
    const int64_t name = log_->intern(Dict::Name, function);
    return log_->intern(Dict::Frame, R"({"function":)" + std::to_string(name) + R"(,"file":)" +
                                         std::to_string(text) + R"(,"line":)" +
                                         std::to_string(line) + "}");
  }
  int64_t stack(const std::vector<int64_t>& frames) {
    std::string list;
    for (const int64_t frame : frames) list += (list.empty() ? "" : ",") + std::to_string(frame);
    return log_->intern(Dict::Stack, R"({"frames":[)" + list + "]}");
  }
  void wait(int64_t stack, int64_t kind, int64_t duration_ns) {
    Batch rows(Kind::Sync);
    rows.push_row({kMs, duration_ns, 0, 1, 7, 1, 100, 0, 0, stack, kind, -1, kMs, kMs});
    log_->write(rows);
  }
  void kernels(int64_t stack, size_t count, int64_t duration_ns) {
    namespace column = format::kernel_column;
    const int64_t name = log_->intern(Dict::Name, "k");
    const int64_t config = log_->intern(Dict::Config, R"({"name":)" + std::to_string(name) + "}");
    Batch rows(Kind::Kernel);
    rows.mutable_column(column::kStart).assign(count, kMs);
    rows.mutable_column(column::kDuration).assign(count, duration_ns);
    rows.mutable_column(column::kConfig).assign(count, config);
    if (stack != 0) rows.mutable_column(column::kStack).assign(count, stack);
    rows.set_rows(count);
    log_->write(rows);
  }
  CodeSummary read() {
    EXPECT_TRUE(log_->close(1000 * kMs, format::Ledger()));
    const auto summary = summarize(session_);
    EXPECT_TRUE(summary.is_ok()) << summary.status().text();
    return summary ? summary->code : CodeSummary{};
  }

  TempDir dir_;
  fs::path session_ = dir_.path() / "session";
  std::unique_ptr<LogWriter> log_ = make_writer(test_options(session_));
};

TEST_F(StacksTest, StacksOfOneLineAreOneSite) {
  const int64_t cudart = native("/x/libcudart.so.13", 64);
  const int64_t line = python("/home/me/train.py", "train_step", 90);
  const int64_t epoch = python("/home/me/train.py", "epoch", 10);
  const int64_t again = python("/home/me/train.py", "warm_up", 20);
  const int64_t one = stack({cudart, native("/x/libtorch_cuda.so", 1), line, epoch});
  const int64_t two = stack({cudart, native("/x/libtorch_cuda.so", 2), line, again});
  for (int i = 0; i < 49; ++i) wait(one, 3, 10 * kMs);
  wait(two, 3, 20 * kMs);
  wait(stack({cudart, native("/usr/lib/libcuda.so.1", 3)}), 4, 5 * kMs);
  wait(0, 1, kMs);
  kernels(two, 3, 7);
  kernels(one, 4, 7);
  kernels(0, 1, 1);

  const CodeSummary code = read();
  ASSERT_EQ(code.waits.size(), 3u);
  EXPECT_EQ(code.waits[0].site.text, "train.py:90 in train_step()");
  EXPECT_EQ(code.waits[0].site.file, "/home/me/train.py");
  EXPECT_EQ(code.waits[0].site.line, 90);
  EXPECT_EQ(code.waits[0].call, "StreamSynchronize");
  EXPECT_EQ(code.waits[0].blocked_ns.count, 50u);
  EXPECT_EQ(code.waits[0].blocked_ns.total, 510e6);
  EXPECT_EQ(code.waits[0].blocked_ns.max, 20e6);
  EXPECT_EQ(code.waits[1].site.text, "<driver-internal>");
  EXPECT_EQ(code.waits[1].call, "ContextSynchronize");
  EXPECT_EQ(code.waits[2].site.text, "");
  EXPECT_EQ(code.blocked_ns.count, 52u);
  ASSERT_EQ(code.launches.size(), 2u);
  EXPECT_EQ(code.launches[0].site.text, "train.py:90 in train_step()");
  EXPECT_EQ(code.launches[0].gpu_ns.count, 7u);
  EXPECT_EQ(code.gpu_ns.count, 8u);
  EXPECT_EQ(code.stacks, 3u);
}

TEST_F(StacksTest, SymbolsBesideTheLogAreMerged) {
  const int64_t cudart = native("/x/libcudart.so.13", 64);
  const int64_t program = native("/home/me/train", 128);
  wait(stack({cudart, program}), 3, kMs);
  symbols::SymbolFile file;
  file.frames[cudart] = {{"cudaStreamSynchronize", "", 0, false}};
  file.frames[program] = {{"step(int)", "/home/me/step.cpp", 12, true},
                          {"main", "/home/me/main.cpp", 3, false}};
  file.sources = {{"/home/me/step.cpp", "cpp", 11, true, {"{", "  wait();", "}"}}};
  file.binaries = {{"/home/me/train", "", "debug_info", "/home/me/train", "", 1, 1},
                   {"/home/me/other.so", "", "not_found", "", "", 1, 0},
                   {"/usr/lib/libfoo.so", "", "not_found", "", "", 1, 0}};
  ASSERT_TRUE(file.write(session_, test_header()));
  const CodeSummary code = read();
  ASSERT_EQ(code.waits.size(), 1u);
  EXPECT_EQ(code.waits[0].call, "cudaStreamSynchronize");
  EXPECT_EQ(code.waits[0].site,
            (CodeSite{"step.cpp:12 in step(int)", "/home/me/step.cpp", 12, "  wait();", true}));
  ASSERT_EQ(code.unresolved.size(), 1u);
  EXPECT_EQ(code.unresolved[0].path, "/home/me/other.so");
}

TEST_F(StacksTest, WithoutStacksLaunchesHaveNoLines) {
  wait(0, 3, kMs);
  kernels(0, 5, 7);
  const CodeSummary code = read();
  EXPECT_EQ(code.waits.size(), 1u);
  EXPECT_TRUE(code.launches.empty());
  EXPECT_EQ(code.gpu_ns.count, 5u);
  EXPECT_EQ(code.stacks, 0u);
}

TEST(StackFiguresTest, StacksThatNobodyDefined) {
  StackFigures figures;
  Batch rows(Kind::Sync);
  rows.push_row({kMs, kMs, 0, 1, 7, 1, 100, 0, 0, 99, 3, -1, kMs, kMs});
  rows.push_row({kMs, kMs, 0, 1, 7, 1, 100, 0, 0, -7, 99, -1, kMs, kMs});
  figures.add_waits(rows);
  const auto line =
      Json::parse(R"({"dict":"stack","ids":[-7,"x"],"values":[{"frames":[1,"y"]},3]})");
  ASSERT_TRUE(line.is_ok());
  figures.define(*line);
  const CodeSummary code = figures.finish({}, CodeMap());
  ASSERT_EQ(code.waits.size(), 2u);
  EXPECT_EQ(code.blocked_ns.count, 2u);
}

}  // namespace
}  // namespace gpufl::analysis
