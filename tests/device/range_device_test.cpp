// SPDX-License-Identifier: Apache-2.0
// Hardware counters by scope on a real GPU: kernels whose warps and additions are known.

#include <cmath>
#include <map>

#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

using base::Json;
namespace fs = std::filesystem;

constexpr const char* kWarps = "smsp__warps_launched.sum";
constexpr const char* kAdditions = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
constexpr const char* kInstructions = "smsp__inst_executed.sum";
// Of a launch of range_program's.
constexpr double kWarpsOfLaunch = 264 * 8, kAdditionsOfLaunch = 264 * 256 * 16;

class RangeDevice : public Traced {
 protected:
  fs::path ranged(const std::string& metrics, const std::vector<std::string>& program) {
    std::vector<std::string> command{"range_program"};
    command.insert(command.end(), program.begin(), program.end());
    return trace_under("RangeProfiler", {"GPUFL_RANGE_METRICS=" + metrics}, command);
  }
  // By scope and metric.
  using Values = std::map<std::string, std::map<std::string, double>>;
  static Values values(const fs::path& session) {
    Values found;
    for (const Json& row : rows(session, "range_metric")) {
      const auto digits = static_cast<double>(row["value"].as_integer());
      found[row["range"].as_string()][row["metric"].as_string()] =
          digits * std::pow(10.0, static_cast<double>(row["exponent"].as_integer()));
    }
    return found;
  }
  static Json ledger(const fs::path& session) {
    const auto lines = rows(session, "ledger");
    return lines.empty() ? Json() : lines.front();
  }
};

TEST_F(RangeDevice, CountsOfAScopeAreExactAndRecordsFollow) {
  const fs::path session =
      ranged(std::string(kWarps) + "," + kAdditions + "," + kInstructions, {"counts", "8"});
  Values found = values(session);
  for (const auto& [scope, launches] : {std::pair("small", 100), std::pair("large", 200)}) {
    EXPECT_EQ(found[scope][kWarps], launches * kWarpsOfLaunch) << scope << "\n" << output_;
    EXPECT_EQ(found[scope][kAdditions], launches * kAdditionsOfLaunch) << scope;
  }
  EXPECT_GT(found["small"][kInstructions], 0);
  EXPECT_EQ(found["large"][kInstructions], 2 * found["small"][kInstructions]);
  const Json counts = ledger(session);
  EXPECT_EQ(counts["launches_missing"].as_integer(), 0);
  EXPECT_GT(counts["kernel_records"].as_integer(), 0) << "the turn has ended";
  EXPECT_EQ(counts["launches_seen"].as_integer(), counts["launches_counted"].as_integer() +
                                                      counts["kernel_records"].as_integer() -
                                                      counts["kernels_unclaimed"].as_integer());
}

TEST_F(RangeDevice, PassesAreSpreadOverIterationsAndNoBodyRunsMoreOften) {
  const fs::path session = ranged("throughput", {"iterations", "30", "3"});
  EXPECT_NE(output_.find("bodies 33"), std::string::npos) << output_;
  const auto found = values(session);
  ASSERT_TRUE(found.contains("gemm")) << output_;
  EXPECT_EQ(found.at("gemm").size(), 4u);
  for (const auto& [metric, value] : found.at("gemm")) {
    EXPECT_GE(value, 0) << metric;
    EXPECT_LE(value, 100) << metric;
  }
  EXPECT_FALSE(found.contains("gemm_warmup"));
}

TEST_F(RangeDevice, TooFewIterationsNameWhatGotNoPass) {
  const fs::path session = ranged("throughput", {"iterations", "3", "0"});
  EXPECT_NE(output_.find("bodies 3"), std::string::npos) << output_;
  bool is_named = false;
  for (const Json& note : rows(session, "capability")) {
    if (note["reason"].as_string() != "passes_missing") continue;
    is_named = note["detail"].as_string().find("sm__throughput") != std::string::npos;
  }
  EXPECT_TRUE(is_named);
}

TEST_F(RangeDevice, WhatAnotherThreadLaunchesMeanwhileIsIncludedAndNothingHangs) {
  const fs::path session = ranged(kWarps, {"beside", "6"});
  Values found = values(session);
  EXPECT_GE(found["work"][kWarps], 100 * kWarpsOfLaunch) << output_;
  EXPECT_EQ(ledger(session)["launches_missing"].as_integer(), 0);
}

}  // namespace
}  // namespace gpufl::device_test
