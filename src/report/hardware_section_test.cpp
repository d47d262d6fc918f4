// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "analysis/insights/test_program.hpp"
#include "report/json_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestProgram;
using base::Json;

constexpr const char* kFused = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

// Two runs of a step that moves 1 GB and does 4 billion operations in 1 ms.
void count_step(TestProgram& program) {
  program.data.summary.duration_ns = 1000;
  for (const int64_t start : {100, 500}) {
    program.range_metric("step", "gpu__time_duration.sum", 1, 6, {.start = start});
    program.range_metric("step", kFused, 2, 9, {.start = start});
  }
  program.range_metric("step", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0);
  program.range_metric("step", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0);
  program.range_metric("step", "dram__bytes_read.sum", 6, 8);
  program.range_metric("step", "dram__bytes_write.sum", 4, 8);
  program.range_metric("copy", "gpu__time_duration.sum", 1);
}

std::string text_of_step(TestProgram& program, size_t top = 20) {
  TextOptions options;
  options.width = 120;
  options.top = top;
  const std::string text = text_of(program.finish(), options);
  const size_t begin = text.find("HARDWARE COUNTERS");
  return begin == std::string::npos ? "" : text.substr(begin);
}

TEST(HardwareSection, CountersOfRangesAndTheirRoofline) {
  TestProgram program;
  count_step(program);
  program.device_fact(0, "vendor", "nvidia");
  program.device_fact(0, "architecture", "sm_90");
  program.device_fact(0, "compute_units", 132);
  program.device_fact(0, "max_compute_clock_mhz", 1980);
  program.device_fact(0, "max_memory_clock_mhz", 3201);
  program.device_fact(0, "memory_bus_bits", 6144);
  const std::string text = text_of_step(program);
  EXPECT_EQ(text.substr(0, text.find("NOT RECORDED")),
            R"(HARDWARE COUNTERS: of one run of each range
  range  metric                                                mean    min    max  counted
  step   dram__bytes_read.sum                                 6e+08                      1
         dram__bytes_write.sum                                4e+08                      1
         gpu__time_duration.sum                               1e+06  1e+06  1e+06        2
         smsp__sass_thread_inst_executed_op_fadd_pred_on.sum      0                      1
         smsp__sass_thread_inst_executed_op_ffma_pred_on.sum  2e+09  2e+09  2e+09        2
         smsp__sass_thread_inst_executed_op_fmul_pred_on.sum      0                      1
  copy   gpu__time_duration.sum                                   1                      1

ROOFLINE: operations and bytes as counted; roofs at the highest clocks
  GPU 0 memory              4917 GB/s
  GPU 0 fp32                66.91 Top/s
  GPU 0 fp64                33.45 Top/s
  range  in    op/byte  Gop/s  of roof  GB/s  of roof
  step   fp32        4   4000     6.0%  1000    20.3%
  without                   copy: dram__bytes.sum was not counted

)");
}

TEST(HardwareSection, RoofsThatAreNotKnownAreNotZero) {
  TestProgram program;
  count_step(program);
  program.range_metric("step", "sm__inst_executed_pipe_tensor.sum", 3);
  program.device_fact(0, "vendor", "nvidia");
  const std::string text = text_of_step(program);
  EXPECT_NE(text.find("unknown, the log has no width of the memory bus of the GPU"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Operations of tensor cores are not among those counted"), std::string::npos);
}

TEST(HardwareSection, WithoutOperationsItSaysWhatIsMissing) {
  TestProgram program;
  program.range_metric("copy", "dram__bytes.sum", 8);
  EXPECT_NE(text_of_step(program).find("copy: gpu__time_duration.sum was not counted"),
            std::string::npos);
}

TEST(HardwareSection, CountersOverTime) {
  TestProgram program;
  program.data.summary.duration_ns = 1000;
  program.pm_sample("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 0, 500, 25);
  program.pm_sample("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 500, 500, 75);
  const std::string text = text_of_step(program);
  EXPECT_EQ(text.substr(0, text.find("NOT RECORDED")), R"(HARDWARE COUNTERS OVER TIME
  GPU  metric                                               min  mean  max  samples
  0    sm__cycles_active.avg.pct_of_peak_sustained_elapsed   25    50   75        2

)");
}

TEST(HardwareSection, NothingWhereNothingWasCounted) {
  TestProgram program;
  program.kernel("gemm", 0, 10);
  EXPECT_EQ(text_of_step(program), "");
}

TEST(HardwareSection, ListsSayHowMuchTheyLeaveOut) {
  TestProgram program;
  count_step(program);
  EXPECT_NE(text_of_step(program, 2).find("... 5 more"), std::string::npos);
}

TEST(HardwareSection, AsJson) {
  TestProgram program;
  count_step(program);
  program.pm_sample("dram__bytes.sum", 0, 500, 3, {.device = 2, .exponent = -1});
  const TestReport report(program.finish());
  const auto json = Json::parse(json_report(report.view()));
  ASSERT_TRUE(json);
  ASSERT_EQ((*json)["ranges"].items().size(), 2u);
  const Json& step = (*json)["ranges"].items()[0];
  EXPECT_EQ(step["label"].as_string(), "step");
  EXPECT_EQ(step["counters"].items()[0]["metric"].as_string(), "dram__bytes_read.sum");
  EXPECT_EQ(step["counters"].items()[0]["values"]["mean"].as_number(), 6e8);
  const Json& sampled = (*json)["sampled_counters"].items()[0];
  EXPECT_EQ(sampled["device"].as_integer(), 2);
  EXPECT_EQ(sampled["values"]["mean"].as_number(), 0.3);
  EXPECT_EQ(sampled["sampled_ns"].as_integer(), 500);
  const Json& roofline = (*json)["roofline"];
  ASSERT_EQ(roofline["points"].items().size(), 1u);
  const Json& point = roofline["points"].items()[0];
  EXPECT_EQ(point["precision"].as_string(), "fp32");
  EXPECT_EQ(point["operations_per_byte"].as_number(), 4.0);
  EXPECT_TRUE(point["of_memory"].is_null());
  EXPECT_TRUE(point["uses_tensor_cores"].is_null());
  EXPECT_EQ(roofline["left_out"].items()[0]["label"].as_string(), "copy");
}

}  // namespace
}  // namespace gpufl::report
