// SPDX-License-Identifier: Apache-2.0
// From the log to the figures: what a recorder writes, read back from its files.
#include <gtest/gtest.h>

#include "analysis/warp/pipeline_simulator.hpp"
#include "analysis/warp/warp_figures.hpp"
#include "format/test_session.hpp"

namespace gpufl::analysis {
namespace {

using format::Batch;
using format::Channel;
using format::Dict;
using format::Kind;
namespace column = format::warp_span_column;

// The rows of a session made by hand, written to a log; `absent` columns are left out.
void write_rows(const Tables& tables, format::LogWriter& log, const std::vector<size_t>& absent) {
  Batch rows = tables.others.at(Kind::WarpSpan);
  for (int64_t& event : rows.mutable_column(column::kEvent)) {
    event = log.intern(Dict::Name, tables.name(static_cast<uint32_t>(event)));
  }
  for (const size_t i : absent) rows.mutable_column(i).clear();
  log.write(rows);
  for (const format::WarpLaunch& launch : tables.warp_launches) {
    log.write(Kind::WarpLaunch, to_json(launch), Channel::Device);
  }
}

TEST(WarpLoadTest, FiguresOfALogAreThoseOfWhatWasWritten) {
  const format::testing::TempDir temp;
  const std::filesystem::path dir = temp.path() / "session";
  const testing::Pipeline pipeline{.load_ns = 400, .mma_ns = 1'000, .consumer_gap_ns = 250};
  testing::TestSession first, second;
  add_pipeline(first, pipeline);
  add_pipeline(second, {.launch = 2, .start_ns = 9'000'000});
  {
    auto log = format::LogWriter::create(format::testing::test_options(dir),
                                         format::testing::test_header());
    ASSERT_TRUE(log.is_ok());
    // Rows of one launch have columns that those of the other lack.
    write_rows(second.data.tables, **log, {column::kPayload, column::kSm, column::kDevice});
    write_rows(first.data.tables, **log, {});
    ASSERT_TRUE((*log)->close(20'000'000, {}).is_ok());
  }
  const auto session = load(dir);
  ASSERT_TRUE(session.is_ok());
  const auto loaded = warp_figures(*session);
  const auto expected = warp_figures(first.finish());
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(to_json(loaded[0].launch).dump(), to_json(expected[0].launch).dump());
  EXPECT_EQ(loaded[0].spans, expected[0].spans);
  EXPECT_EQ(loaded[0].path.length_ns, expected[0].path.length_ns);
  EXPECT_EQ(loaded[0].times.groups[1].busy_ns, expected[0].times.groups[1].busy_ns);
  EXPECT_EQ(loaded[0].group_names(loaded[0].bottleneck->groups), "consumer");
  EXPECT_TRUE(loaded[0].balance.is_known());
  EXPECT_FALSE(loaded[1].balance.is_known());  // 0 would be a multiprocessor
  const Batch& rows = session->tables.others.at(Kind::WarpSpan);
  EXPECT_EQ(rows.at(column::kPayload, 0), -1);  // 0 would be a stage
}

}  // namespace
}  // namespace gpufl::analysis
