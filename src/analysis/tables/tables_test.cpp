// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "analysis/session/test_tables.hpp"
#include "analysis/tables/table_order.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

TEST(Tables, IdsThatNothingDefines) {
  Tables tables;
  tables.names = {"", "gemm"};
  EXPECT_EQ(tables.name(0), "");
  EXPECT_EQ(tables.name(1), "gemm");
  EXPECT_EQ(tables.name(2), "?");
  EXPECT_EQ(tables.text(kNoRow), "?");
  EXPECT_EQ(tables.name(tables.config(9).name), "?");
}

TEST(Tables, AnEndStopsAtTheEndOfTime) {
  Work work;
  work.start = {INT64_MAX - 1};
  work.duration.push_back(INT64_MAX);
  EXPECT_EQ(work.end(0), INT64_MAX);
  LaunchConfig config;
  config.grid = {INT64_MAX, 2, 1};
  EXPECT_EQ(config.blocks(), INT64_MAX);
}

TEST(TableOrder, IsStableAndAgreesWithASort) {
  uint64_t state = 1;
  for (const size_t count : {0, 1, 2, 3, 10, 1000}) {
    for (const uint64_t spread : {1, 5, 100'000}) {
      std::vector<int64_t> starts(count);
      for (int64_t& start : starts) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        start = static_cast<int64_t>((state >> 33) % spread);
      }
      std::vector<uint32_t> wanted(count);
      std::iota(wanted.begin(), wanted.end(), 0);
      std::sort(wanted.begin(), wanted.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(starts[a], a) < std::pair(starts[b], b);
      });
      if (std::is_sorted(starts.begin(), starts.end())) wanted.clear();
      EXPECT_EQ(order_by_start(starts), wanted);
    }
  }
}

TEST(TestSession, SortsRowsAndLinksScopes) {
  TestSession session;
  const int64_t late = session.scope("late", 500, 100);
  const int64_t early = session.scope("early", 0, 400, {.tag = "warm"});
  const int64_t inner = session.scope("inner", 10, 50, {.parent = early});
  session.kernel("b", 520, 10, {.scope = late, .api_start = 510, .api_duration = 5});
  session.kernel("a", 20, int64_t{1} << 33, {.stream = 8, .scope = inner});
  session.kernel("a", 15, 1, {.thread = 2});
  const SessionData data = session.finish();
  const Tables& tables = data.tables;

  EXPECT_EQ(tables.kernels.start, (std::vector<int64_t>{15, 20, 520}));
  EXPECT_EQ(tables.kernels.duration[1], int64_t{1} << 33);
  EXPECT_EQ(tables.kernel_name(2), "b");
  EXPECT_EQ(tables.kernels.api_start, (std::vector<int64_t>{kNoTime, kNoTime, 510}));
  EXPECT_TRUE(tables.kernels.queued.empty());
  EXPECT_EQ(tables.lanes[tables.kernels.lane[1]].stream, 8);
  const auto caller = [&](size_t row) { return tables.callers[tables.kernels.caller[row]]; };
  EXPECT_EQ(caller(0).scope, kNoRow);
  EXPECT_EQ(caller(0).thread, 2);
  EXPECT_EQ(tables.name(tables.scopes.name[caller(1).scope]), "inner");
  EXPECT_EQ(tables.scopes.parent[caller(1).scope], 0U);
  EXPECT_EQ(tables.name(tables.scopes.name[caller(2).scope]), "late");
  EXPECT_EQ(tables.scopes.parent[2], kNoRow);
  EXPECT_EQ(data.summary.duration_ns, 20 + (int64_t{1} << 33));
}

}  // namespace
}  // namespace gpufl::analysis
