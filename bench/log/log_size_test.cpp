// SPDX-License-Identifier: Apache-2.0
// A small run of log_bench's path: sizes are the same on every machine, so a test can hold them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "bench/log/kernel_rows.hpp"
#include "bench/log/log_run.hpp"

namespace gpufl::bench {
namespace {

constexpr size_t kRows = 200'000;

class LogFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpufl_size_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

class LogSize : public LogFolder, public ::testing::WithParamInterface<size_t> {};

TEST_P(LogSize, AKernelStaysWithinItsBytes) {
  auto source = KernelRows::load(GPUFL_BENCH_TRACE);
  ASSERT_TRUE(source.is_ok()) << source.status().text();
  std::vector<format::Batch> batches;
  for (size_t left = kRows; left != 0; left -= batches.back().rows()) {
    batches.push_back(source->draw(std::min(left, GetParam())));
  }
  const auto run = run_log(folder_, source->dictionary_lines(), batches);
  ASSERT_TRUE(run.is_ok()) << run.status().text();
  EXPECT_EQ(run->rows, kRows);
  const double raw = static_cast<double>(run->raw_bytes) / kRows;
  const double sealed = static_cast<double>(run->sealed_bytes) / kRows;
  RecordProperty("raw_mB", static_cast<int>(raw * 1000));
  RecordProperty("sealed_mB", static_cast<int>(sealed * 1000));
  // Small batches are flushed for the sake of readers after a crash: their raw form costs more.
  EXPECT_LE(raw, GetParam() >= 500 ? 24 : 32);
  EXPECT_LE(sealed, 6.6);
}

INSTANTIATE_TEST_SUITE_P(RowsPerBatch, LogSize, ::testing::Values(16'384, 50'000, 2'000, 500, 60));

TEST_F(LogFolder, DrawnRowsAreNoCheaperThanTheRecordedTrace) {
  auto source = KernelRows::load(GPUFL_BENCH_TRACE);
  ASSERT_TRUE(source.is_ok()) << source.status().text();
  const auto recorded = run_log(folder_, {}, {&source->recorded(), 1});
  ASSERT_TRUE(recorded.is_ok()) << recorded.status().text();
  const format::Batch rows = source->draw(recorded->rows);
  const auto drawn = run_log(folder_, {}, {&rows, 1});
  ASSERT_TRUE(drawn.is_ok()) << drawn.status().text();
  // A model that made the log's task easier than reality would show here.
  EXPECT_GE(static_cast<double>(drawn->sealed_bytes),
            0.98 * static_cast<double>(recorded->sealed_bytes));
}

}  // namespace
}  // namespace gpufl::bench
