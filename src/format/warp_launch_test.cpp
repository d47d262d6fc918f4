// SPDX-License-Identifier: Apache-2.0
#include "format/warp_launch.hpp"

#include <gtest/gtest.h>

namespace gpufl::format {
namespace {

using base::Json;

TEST(WarpLaunchTest, ReadsWhatItWrote) {
  WarpLaunch launch;
  launch.launch = 3;
  launch.time_ns = 5'000;
  launch.duration_ns = 700;
  launch.kernel = "gemm";
  launch.device = 0;
  launch.correlation = 42;
  launch.join = "correlation";
  launch.launch_id = UINT64_MAX;
  launch.blocks = 132;
  launch.groups = 2;
  launch.max_records = 64;
  launch.group_names = {"tma", ""};
  launch.waits = {"wait"};
  launch.flows = {{"load", "wait"}};
  launch.clock = "cycles";
  launch.tick_ps = 505;
  launch.error_ns = 0;
  launch.event_cost_ps = 25'500;
  launch.records = 1'000;
  launch.offered = 1'010;
  launch.dropped = 10;
  launch.full_lanes = 1;
  launch.problems = {"lane 3 was not finalised"};
  launch.problems_left_out = 7;
  const Json line = to_json(launch);
  EXPECT_EQ(to_json(read_warp_launch(line)).dump(), line.dump());
  EXPECT_EQ(line["launch_id"].as_string(), "18446744073709551615");
  EXPECT_EQ(line["problems_left_out"].as_integer(), 7);
}

TEST(WarpLaunchTest, LeavesOutWhatIsUnknown) {
  const Json line = to_json({});
  for (const char* key : {"device", "correlation", "join", "launch_id", "error_ns", "event_cost_ps",
                          "offered", "dropped", "problems", "waits", "flows", "kernel"}) {
    EXPECT_EQ(line.find(key), nullptr) << key;
  }
  const WarpLaunch launch = read_warp_launch(line);
  EXPECT_EQ(launch.device, -1);
  EXPECT_FALSE(launch.dropped.has_value());
  EXPECT_FALSE(launch.error_ns.has_value());
}

TEST(WarpLaunchTest, SurvivesWhatNoRecorderWrites) {
  const Json line = Json::parse(R"({"launch":"x","dur":-5,"blocks":-1,"flows":[["a"],7,["b","c"]],)"
                                R"("waits":{"a":1},"dropped":-1,"launch_id":"12x"})")
                        .value();
  const WarpLaunch launch = read_warp_launch(line);
  EXPECT_EQ(launch.launch, 0);
  EXPECT_EQ(launch.duration_ns, 0);
  EXPECT_EQ(launch.blocks, 0);
  ASSERT_EQ(launch.flows.size(), 1u);
  EXPECT_EQ(launch.flows[0].second, "c");
  EXPECT_TRUE(launch.waits.empty());
  EXPECT_FALSE(launch.dropped.has_value());
  EXPECT_FALSE(launch.launch_id.has_value());
}

TEST(WarpLaunchTest, CountsProblemsThatItLeavesOut) {
  WarpLaunch launch;
  launch.problems.assign(WarpLaunch::kMaxProblems + 3, "lost");
  launch.problems_left_out = 2;
  const WarpLaunch read = read_warp_launch(to_json(launch));
  EXPECT_EQ(read.problems.size(), WarpLaunch::kMaxProblems);
  EXPECT_EQ(read.problems_left_out, 5);
}

}  // namespace
}  // namespace gpufl::format
