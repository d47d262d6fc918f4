// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/roofline.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>

namespace gpufl::analysis {
namespace {

constexpr const char* kAdd = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
constexpr const char* kMultiply = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
constexpr const char* kFused = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
constexpr const char* kBytes = "dram__bytes.sum";
constexpr const char* kTime = "gpu__time_duration.sum";

// Of an H200: 132 multiprocessors, and memory of 4.9 TB/s.
base::Json h200() {
  auto device = base::Json::parse(
      R"({"device":0,"vendor":"nvidia","architecture":"sm_90","compute_units":132,)"
      R"("max_compute_clock_mhz":1980,"max_memory_clock_mhz":3201,"memory_bus_bits":6144})");
  return *device;
}

CountedRange range_of(std::initializer_list<std::pair<const char*, double>> counters) {
  CountedRange range;
  range.name = range.label = "step";
  range.device = 0;
  std::map<std::string, double> sorted(counters.begin(), counters.end());
  for (const auto& [metric, value] : sorted) {
    range.counters.push_back({metric, {}});
    range.counters.back().values.add(value);
  }
  return range;
}

TEST(Roofline, RoofsAreWhatTheFactsOfAGpuComeTo) {
  const DeviceRoof roof = roof_of(h200());
  EXPECT_NEAR(*roof.fp32_per_s, 66.9e12, 0.05e12);
  EXPECT_NEAR(*roof.fp64_per_s, 33.45e12, 0.05e12);
  EXPECT_NEAR(*roof.bytes_per_s, 4.917e12, 0.001e12);
}

TEST(Roofline, RoofsThatAreNotKnownSayWhy) {
  base::Json device = h200();
  device.set("architecture", "sm_999").set("memory_bus_bits", base::Json());
  const DeviceRoof roof = roof_of(device);
  EXPECT_NE(roof.fp32_per_s.unknown().reason.find("fp32"), std::string::npos);
  EXPECT_EQ(roof.bytes_per_s.unknown().reason, "the log has no width of the memory bus of the GPU");
  EXPECT_FALSE(roof_of(base::Json::object()).fp64_per_s);
  base::Json unclocked = h200();
  unclocked.set("max_compute_clock_mhz", base::Json()).set("max_memory_clock_mhz", base::Json());
  EXPECT_EQ(roof_of(unclocked).fp32_per_s.unknown().reason,
            "the log has no highest clock of the GPU");
  EXPECT_EQ(roof_of(unclocked).bytes_per_s.unknown().reason,
            "the log has no highest memory clock of the GPU");
}

TEST(Roofline, APointIsItsOperationsBytesAndTime) {
  const CountedRange range =
      range_of({{kAdd, 1e9}, {kMultiply, 2e9}, {kFused, 3e9}, {kBytes, 4.5e9}, {kTime, 1e6}});
  const std::vector<base::Json> devices{h200()};
  const auto found = roofline({&range, 1}, devices);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->points.size(), 1u);
  ASSERT_EQ(found->roofs.size(), 1u);
  const RooflinePoint& point = found->points[0];
  EXPECT_EQ(point.operations, 9e9) << "a fused multiply-add is two";
  EXPECT_EQ(point.intensity(), 2.0);
  EXPECT_DOUBLE_EQ(point.operations_per_s(), 9e12);
  EXPECT_NEAR(*point.of_memory, 4.5e12 / 4.917e12, 1e-3);
  EXPECT_NEAR(*point.of_arithmetic, 9e12 / 66.9e12, 1e-3);
  EXPECT_EQ(point.uses_tensor_cores, std::nullopt) << "not counted is not no";
}

TEST(Roofline, BytesOfBothDirectionsAndTensorCores) {
  const CountedRange range = range_of({{kAdd, 0},
                                       {kMultiply, 0},
                                       {kFused, 10},
                                       {"dram__bytes_read.sum", 3},
                                       {"dram__bytes_write.sum", 2},
                                       {"sm__inst_executed_pipe_tensor.sum", 4},
                                       {kTime, 1}});
  const auto found = roofline({&range, 1}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->points[0].bytes, 5.0);
  EXPECT_EQ(found->points[0].uses_tensor_cores, true);
  EXPECT_EQ(found->points[0].of_memory, std::nullopt) << "of a GPU that the log does not know";
  EXPECT_TRUE(found->roofs.empty());
}

TEST(Roofline, EachPrecisionIsAPoint) {
  const CountedRange range = range_of({{kAdd, 1},
                                       {kMultiply, 1},
                                       {kFused, 1},
                                       {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 0},
                                       {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 0},
                                       {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 8},
                                       {"sm__inst_executed_pipe_tensor.sum", 0},
                                       {kBytes, 1},
                                       {kTime, 1}});
  const auto found = roofline({&range, 1}, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->points.size(), 2u);
  EXPECT_EQ(found->points[1].precision, Precision::Double);
  EXPECT_EQ(found->points[1].operations, 16.0);
  EXPECT_EQ(found->points[1].uses_tensor_cores, false);
}

// Each of these would be a number that the log does not support.
TEST(Roofline, WithoutAPartThereIsNoPointButTheReason) {
  const auto why = [](const CountedRange& range) {
    const auto found = roofline({&range, 1}, {});
    return found ? std::string("known") : found.unknown().reason;
  };
  EXPECT_EQ(why(range_of({{kAdd, 1}, {kMultiply, 1}, {kBytes, 1}, {kTime, 1}})),
            "step: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum was not counted");
  EXPECT_EQ(why(range_of({{kAdd, 1}, {kMultiply, 1}, {kFused, 1}, {kTime, 1}})),
            "step: dram__bytes.sum was not counted");
  EXPECT_EQ(why(range_of({{kAdd, 1}, {kMultiply, 1}, {kFused, 1}, {kBytes, 1}})),
            "step: gpu__time_duration.sum was not counted");
  EXPECT_EQ(why(range_of({{kAdd, 1}, {kMultiply, 1}, {kFused, 1}, {kBytes, 0}, {kTime, 1}})),
            "step: it moved nothing to or from the GPU's memory");
  EXPECT_EQ(why(range_of({{kAdd, 1}, {kMultiply, 1}, {kFused, 1}, {kBytes, 1}, {kTime, 0}})),
            "step: it took no time on the GPU");
}

TEST(Roofline, RangesWithoutAPointAreNamedBesideThoseWithOne) {
  const std::vector<CountedRange> ranges{
      range_of({{kAdd, 1}, {kMultiply, 1}, {kFused, 1}, {kBytes, 1}, {kTime, 1}}),
      range_of({{kTime, 1}})};
  const auto found = roofline(ranges, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->left_out.size(), 1u);
  EXPECT_EQ(found->left_out[0].second, "dram__bytes.sum was not counted");
}

}  // namespace
}  // namespace gpufl::analysis
