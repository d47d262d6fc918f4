// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/selection.hpp"

#include <gtest/gtest.h>

#include <random>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

bool has(const RowRange& range, size_t row) { return row >= range.begin && row < range.end; }

TEST(Selection, RowsOutsideOfItsRangesAreNotInTheWindow) {
  testing::TestSession session;
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const auto start = static_cast<int64_t>(random() % 1000);
    const bool is_long = i % 50 == 0;
    session.kernel("k", start, static_cast<int64_t>(random() % (is_long ? 600 : 20)));
  }
  const SessionData data = session.finish();
  const Kernels& kernels = data.tables.kernels;
  for (int64_t start = -100; start < 1100; start += 37) {
    for (const int64_t length : {0, 1, 90, 2000}) {
      AnalysisOptions options;
      options.window = Interval{start, start + length};
      const Selection selection(data.tables, options);
      const RowRange begin = selection.rows(kernels);
      const RowRange reach = selection.reaching_rows(kernels);
      for (size_t row = 0; row < kernels.rows(); ++row) {
        EXPECT_EQ(has(begin, row), selection.includes(kernels, row)) << row;
        const Interval span = selection.span(kernels, row);
        EXPECT_TRUE(has(reach, row) || span.end <= span.start) << row;
      }
    }
  }
}

TEST(Selection, WithoutAWindowItsRangesAreWhole) {
  testing::TestSession session;
  for (int64_t i = 0; i < 3; ++i) session.kernel("k", i * 10, 5);
  const SessionData data = session.finish();
  const Selection selection(data.tables, {});
  for (const RowRange& range : {selection.rows(data.tables.kernels),
                                selection.reaching_rows(work_tables(data.tables))[0]}) {
    EXPECT_EQ(range.begin, 0u);
    EXPECT_EQ(range.end, 3u);
  }
}

}  // namespace
}  // namespace gpufl::analysis
