// SPDX-License-Identifier: Apache-2.0
// Launches that warpscope profiles on a real GPU: their spans lie within their kernels, as CUPTI
// has those, by no more than the error that the log states; and that is at most a microsecond.

#include <algorithm>
#include <cstdio>
#include <map>

#include "format/warp_launch.hpp"
#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr int64_t kLaunches = 110;
constexpr int64_t kMaxErrorNs = 1'000;

class WarpscopeTimelineDevice : public Traced {};

struct Interval {
  int64_t begin_ns = 0, end_ns = 0;
};

Interval interval(const Json& row) {
  const int64_t begin_ns = row["start_ns"].as_integer();
  return {begin_ns, begin_ns + row["duration_ns"].as_integer()};
}

TEST_F(WarpscopeTimelineDevice, EverySpanLiesInItsKernel) {
  const fs::path session = trace("warpscope_timeline_program");
  // What reads the timer is not the program's: it is in no account.
  expect_exact(session, kLaunches);
  std::map<int64_t, Interval> kernels;
  for (const Json& kernel : rows(session, "kernel")) {
    kernels[kernel["correlation"].as_integer()] = interval(kernel);
    EXPECT_EQ(kernel.dump().find("gpufl_read_globaltimer"), std::string::npos);
  }
  ASSERT_EQ(kernels.size(), static_cast<size_t>(kLaunches));
  for (const Json& call : rows(session, "api")) {
    EXPECT_NE(call["name"].as_string(), "cuMemHostAlloc") << call.dump();
  }

  std::map<int64_t, format::WarpLaunch> launches;
  int64_t largest_error_ns = 0;
  for (const Json& line : rows(session, "warp_launch")) {
    const format::WarpLaunch launch = format::read_warp_launch(line);
    launches[launch.launch] = launch;
    EXPECT_TRUE(launch.problems.empty()) << line.dump();
    EXPECT_EQ(kernels.count(launch.correlation), 1u) << line.dump();
    ASSERT_TRUE(launch.error_ns) << line.dump();
    EXPECT_LE(*launch.error_ns, kMaxErrorNs) << line.dump();
    EXPECT_EQ(launch.dropped, 0) << line.dump();
    largest_error_ns = std::max(largest_error_ns, *launch.error_ns);
  }
  ASSERT_EQ(launches.size(), static_cast<size_t>(kLaunches));

  size_t spans = 0;
  int64_t furthest_outside_ns = INT64_MIN;
  for (const Json& row : rows(session, "warp_span")) {
    const format::WarpLaunch& launch = launches.at(row["launch"].as_integer());
    ASSERT_EQ(row["correlation"].as_integer(), launch.correlation) << row.dump();
    const Interval span = interval(row), kernel = kernels[launch.correlation];
    const int64_t outside_ns =
        std::max(kernel.begin_ns - span.begin_ns, span.end_ns - kernel.end_ns);
    furthest_outside_ns = std::max(furthest_outside_ns, outside_ns);
    EXPECT_LE(outside_ns, *launch.error_ns) << row.dump();
    ++spans;
  }
  // Blocks, groups, rounds: at least the first are not 0.
  EXPECT_GT(spans, static_cast<size_t>(kLaunches) * 8);
  RecordProperty("largest_error_ns", static_cast<int>(largest_error_ns));
  RecordProperty("furthest_outside_ns", static_cast<int>(furthest_outside_ns));
  std::printf("stated error at most %ld ns; furthest outside of a kernel %ld ns, of %zu spans\n",
              static_cast<long>(largest_error_ns), static_cast<long>(furthest_outside_ns), spans);
}

}  // namespace
}  // namespace gpufl::device_test
