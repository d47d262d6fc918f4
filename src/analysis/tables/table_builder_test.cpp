// SPDX-License-Identifier: Apache-2.0
// What a log can hold that no writer writes, and what becomes of it.
#include "analysis/tables/table_builder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gpufl::analysis {
namespace {

using base::Json;
using format::Batch;
using format::Kind;

constexpr int64_t kAbsurd = int64_t{1} << 60;

// A batch whose named columns are there, as many rows as the first has values.
Batch rows_with(Kind kind, const std::vector<std::pair<size_t, std::vector<int64_t>>>& columns) {
  Batch batch(kind);
  for (const auto& [column, values] : columns) batch.mutable_column(column) = values;
  batch.set_rows(columns.front().second.size());
  return batch;
}

class TableBuilderTest : public ::testing::Test {
 protected:
  void define(std::string_view text) {
    const auto line = Json::parse(text);
    ASSERT_TRUE(line.is_ok()) << text;
    builder_.on_object(Kind::Dict, *line);
  }
  void add(const Batch& batch) { builder_.on_batch(batch, {}); }
  Tables finish(int64_t end_ns = 1000) { return builder_.finish(end_ns); }

  TableBuilder builder_;
};

namespace kernel = format::kernel_column;
namespace scope = format::scope_column;
namespace scope_open = format::scope_open_column;

TEST_F(TableBuilderTest, NothingAtAll) {
  add(Batch(Kind::Kernel));
  const Tables tables = finish();
  EXPECT_EQ(tables.kernels.rows(), 0U);
  EXPECT_EQ(tables.scopes.rows(), 0U);
  EXPECT_TRUE(tables.others.empty());
  EXPECT_EQ(tables.name(0), "");
}

TEST_F(TableBuilderTest, PiecesComeToWhatTheWholeIs) {
  Tables tables;
  define(R"({"type":"dict","dict":"name","ids":[1],"values":["a"]})");
  add(rows_with(
      Kind::Scope,
      {{scope::kId, {7}}, {scope::kName, {1}}, {scope::kStart, {5}}, {scope::kDuration, {9}}}));
  take_piece(builder_.hand_over(100), tables);
  EXPECT_EQ(tables.scopes.rows(), 1U);
  EXPECT_EQ(tables.name(1), "a");

  define(R"({"type":"dict","dict":"config","ids":[3],"values":[{"name":1}]})");
  const auto kernels = [](int64_t start, int64_t config, int64_t stream) {
    return rows_with(Kind::Kernel, {{kernel::kStart, {start}},
                                    {kernel::kDuration, {1}},
                                    {kernel::kConfig, {config}},
                                    {kernel::kStream, {stream}},
                                    {kernel::kScope, {7}}});
  };
  add(kernels(10, 3, 4));
  take_piece(builder_.hand_over(0), tables);
  ASSERT_EQ(tables.kernels.rows(), 1U);
  EXPECT_EQ(tables.kernel_name(0), "a");
  EXPECT_EQ(tables.lanes[tables.kernels.lane[0]].stream, 4);
  EXPECT_EQ(tables.callers[tables.kernels.caller[0]].scope, 0U);

  // One that nothing has defined yet, and a stream that is new.
  add(kernels(20, 9, 5));
  TablePiece piece = builder_.hand_over(0);
  EXPECT_TRUE(piece.rows.names.empty());
  take_piece(std::move(piece), tables);
  ASSERT_EQ(tables.kernels.rows(), 1U);
  EXPECT_EQ(tables.kernels.start[0], 20);
  EXPECT_EQ(tables.kernel_name(0), "?");
  EXPECT_EQ(tables.lanes[tables.kernels.lane[0]].stream, 5);
  EXPECT_EQ(tables.scopes.rows(), 1U);
}

TEST_F(TableBuilderTest, ColumnsThatComeLateAndGoAgain) {
  const auto kernels = [](int64_t start,
                          std::vector<std::pair<size_t, std::vector<int64_t>>> more) {
    more.insert(more.begin(), {{kernel::kStart, {start, start + 1}},
                               {kernel::kDuration, {1, 1}},
                               {kernel::kConfig, {1, 1}}});
    return rows_with(Kind::Kernel, more);
  };
  add(kernels(10, {}));
  add(kernels(20, {{kernel::kApiStart, {15, 16}},
                   {kernel::kApiDuration, {2, 3}},
                   {kernel::kStack, {5, 6}},
                   {kernel::kDevice, {0, 1}},
                   {kernel::kThread, {77, 77}}}));
  add(kernels(30, {}));
  const Tables tables = finish();
  const Kernels& rows = tables.kernels;
  EXPECT_EQ(rows.api_start, (std::vector<int64_t>{kNoTime, kNoTime, 15, 16, kNoTime, kNoTime}));
  for (const size_t row : {0, 1, 4, 5}) EXPECT_EQ(rows.call_duration(row), kNoDuration) << row;
  EXPECT_EQ(rows.call_duration(2), 2);
  EXPECT_EQ(rows.call_duration(3), 3);
  EXPECT_EQ(rows.stack, (std::vector<uint32_t>{0, 0, 5, 6, 0, 0}));
  EXPECT_TRUE(rows.queued.empty());
  EXPECT_TRUE(rows.correlation.empty());
  EXPECT_EQ(tables.lanes[rows.lane[0]], Lane());
  EXPECT_EQ(tables.lanes[rows.lane[3]].device, 1);
  EXPECT_EQ(tables.callers[rows.caller[2]].thread, 77);
  EXPECT_EQ(tables.callers[rows.caller[5]].thread, 0);
}

TEST_F(TableBuilderTest, TimesThatTheWriterDidNotKnow) {
  add(rows_with(Kind::Kernel, {{kernel::kStart, {-1, 20, 30}},
                               {kernel::kDuration, {1, 1, 1}},
                               {kernel::kConfig, {1, 1, 1}},
                               {kernel::kApiStart, {-1, 15, 25}},
                               {kernel::kApiDuration, {-7, -1, 2}},
                               {kernel::kQueued, {-9, 16, -1}},
                               {kernel::kSubmitted, {-1, -1, 27}}}));
  const Tables tables = finish();
  const Kernels& rows = tables.kernels;
  EXPECT_EQ(rows.start, (std::vector<int64_t>{-1, 20, 30})) << "a start is always known";
  EXPECT_EQ(rows.api_start, (std::vector<int64_t>{kNoTime, 15, 25}));
  EXPECT_EQ(rows.queued, (std::vector<int64_t>{kNoTime, 16, kNoTime}));
  EXPECT_EQ(rows.submitted, (std::vector<int64_t>{kNoTime, kNoTime, 27}));
  EXPECT_EQ(rows.call_duration(0), kNoDuration);
  EXPECT_EQ(rows.call_duration(1), kNoDuration);
  EXPECT_EQ(rows.call_duration(2), 2);
  EXPECT_EQ(rows.asked_at(0), -1);
  EXPECT_EQ(rows.asked_at(1), 15);
}

TEST_F(TableBuilderTest, UnsortedRowsAndLongDurations) {
  add(rows_with(Kind::Kernel, {{kernel::kStart, {300, 100, 200}},
                               {kernel::kDuration, {3, int64_t{1} << 40, -2}},
                               {kernel::kConfig, {1, 1, 1}},
                               {kernel::kStream, {30, 10, 20}}}));
  const Tables tables = finish();
  EXPECT_EQ(tables.kernels.start, (std::vector<int64_t>{100, 200, 300}));
  EXPECT_EQ(tables.kernels.duration[0], int64_t{1} << 40);
  EXPECT_EQ(tables.kernels.duration[1], -2);
  EXPECT_EQ(tables.kernels.duration[2], 3);
  EXPECT_EQ(tables.lanes[tables.kernels.lane[0]].stream, 10);
  EXPECT_EQ(tables.lanes[tables.kernels.lane[2]].stream, 30);
}

TEST_F(TableBuilderTest, AbsurdIdsBecomeUnknown) {
  define(R"({"dict":"name","ids":[1,2305843009213693952],"values":["gemm","far"]})");
  define(R"({"dict":"config","ids":[1,2,1048000],
             "values":[{"name":1},{"name":99},{"name":1}]})");
  define(R"({"dict":"config","ids":[-4,0,1152921504606846976,3],"values":[{},{},{},"text"]})");
  add(rows_with(Kind::Kernel, {{kernel::kStart, {1, 2, 3, 4, 5, 6, 7}},
                               {kernel::kDuration, {1, 1, 1, 1, 1, 1, 1}},
                               {kernel::kConfig, {1, 2, 1048000, kAbsurd, -1, 0, 500}},
                               {kernel::kScope, {kAbsurd, -1, 5, 0, 0, 0, 0}},
                               {kernel::kStack, {kAbsurd, -1, 5, 0, 0, 0, 0}}}));
  add(rows_with(Kind::Api, {{format::api_column::kStart, {1, 2}},
                            {format::api_column::kDuration, {1, 1}},
                            {format::api_column::kName, {1, kAbsurd}}}));
  add(rows_with(Kind::DeviceMetric, {{format::device_metric_column::kTime, {1}},
                                     {format::device_metric_column::kDevice, {kAbsurd}},
                                     {format::device_metric_column::kMetric, {-7}},
                                     {format::device_metric_column::kValue, {1}}}));
  add(rows_with(Kind::Memcpy, {{format::memcpy_column::kStart, {1}},
                               {format::memcpy_column::kDuration, {1}},
                               {format::memcpy_column::kBytes, {kAbsurd}},
                               {format::memcpy_column::kRoute, {kAbsurd}}}));
  const Tables tables = finish();
  ASSERT_EQ(tables.kernels.rows(), 7U);
  EXPECT_EQ(tables.kernel_name(0), "gemm");
  EXPECT_EQ(tables.kernel_name(1), "?");
  EXPECT_EQ(tables.kernel_name(2), "gemm");
  for (size_t row = 3; row < 7; ++row) EXPECT_EQ(tables.kernel_name(row), "?");
  EXPECT_LT(tables.configs.size(), 10U);  // by what is defined, not by how ids count
  for (const Caller& caller : tables.callers) EXPECT_EQ(caller.scope, kNoRow);
  EXPECT_EQ(tables.name(tables.api_calls.name[1]), "?");
  EXPECT_LT(tables.api_calls.name[1], tables.names.size());
  EXPECT_LT(tables.names.size(), 10U);
  EXPECT_EQ(tables.metric(tables.device_metrics.metric[0]), "?");
  EXPECT_LT(tables.device_metrics.metric[0], tables.metrics.size());
  EXPECT_EQ(tables.copies.bytes[0], kAbsurd);
  EXPECT_GT(tables.copies.route[0], 100);
}

TEST_F(TableBuilderTest, ADefinitionMayComeAfterItsUse) {
  const Batch kernels = rows_with(
      Kind::Kernel, {{kernel::kStart, {1}}, {kernel::kDuration, {1}}, {kernel::kConfig, {4}}});
  add(kernels);
  define(R"({"dict":"name","ids":[1,2],"values":["gemm","relu"]})");
  define(R"({"dict":"config","ids":[4],"values":[{"name":1,"cluster":[2,1,1]}]})");
  // What was told first stays.
  define(R"({"dict":"config","ids":[4],"values":[{"name":2}]})");
  define(R"({"dict":"name","ids":[1],"values":["other"]})");
  const Tables tables = finish();
  EXPECT_EQ(tables.kernel_name(0), "gemm");
  EXPECT_EQ(tables.config(tables.kernels.config[0]).cluster, (std::array<int64_t, 3>{2, 1, 1}));
}

TEST_F(TableBuilderTest, ScopesWithParentsLostAndOpen) {
  define(R"({"dict":"name","ids":[1,2,3],"values":["outer","inner","open"]})");
  // Children come before their parents; 40's parent is nowhere; 50 and 51 claim each other.
  add(rows_with(Kind::Scope, {{scope::kId, {11, 10, 40, 50, 51}},
                              {scope::kParent, {10, 0, 39, 51, 50}},
                              {scope::kThread, {1, 1, 1, 1, 1}},
                              {scope::kName, {2, 1, 2, 2, 2}},
                              {scope::kStart, {100, 100, 300, 400, 400}},
                              {scope::kDuration, {20, 50, 1, 1, 1}}}));
  // Told in every window; 10 has ended since.
  for (int window = 0; window < 2; ++window) {
    add(rows_with(Kind::ScopeOpen, {{scope_open::kId, {10, 60}},
                                    {scope_open::kParent, {0, 0}},
                                    {scope_open::kThread, {1, 2}},
                                    {scope_open::kName, {1, 3}},
                                    {scope_open::kStart, {100, 500}},
                                    {scope_open::kRepeat, {0, -3}}}));
  }
  add(rows_with(Kind::Kernel, {{kernel::kStart, {110, 510, 600}},
                               {kernel::kDuration, {1, 1, 1}},
                               {kernel::kConfig, {1, 1, 1}},
                               {kernel::kScope, {11, 60, 12345}},
                               {kernel::kInherited, {0, 1, 0}}}));
  const Tables tables = finish(2000);
  const Scopes& scopes = tables.scopes;
  EXPECT_EQ(scopes.id, (std::vector<int64_t>{10, 11, 40, 50, 51, 60}));
  // Of two that claim each other the later one may be right.
  EXPECT_EQ(scopes.parent, (std::vector<uint32_t>{kNoRow, 0, kNoRow, kNoRow, 3, kNoRow}));
  EXPECT_EQ(scopes.ending[0], 0);
  EXPECT_EQ(scopes.ending[5], Scopes::kOpen);
  EXPECT_EQ(scopes.duration[5], 1500);
  EXPECT_EQ(tables.name(scopes.name[5]), "open");
  const auto caller = [&](size_t row) { return tables.callers[tables.kernels.caller[row]]; };
  EXPECT_EQ(caller(0).scope, 1U);
  EXPECT_EQ(caller(1).scope, 5U);
  EXPECT_TRUE(caller(1).inherited);
  EXPECT_EQ(caller(2).scope, kNoRow);
}

TEST_F(TableBuilderTest, AnOpenScopeThatBeginsAfterTheEnd) {
  add(rows_with(Kind::ScopeOpen, {{scope_open::kId, {1}},
                                  {scope_open::kThread, {1}},
                                  {scope_open::kName, {1}},
                                  {scope_open::kStart, {INT64_MAX}}}));
  const Tables tables = finish(-5);
  EXPECT_EQ(tables.scopes.duration[0], 0);
  EXPECT_EQ(tables.scopes.end(0), INT64_MAX);
}

TEST_F(TableBuilderTest, MarkersAndWhatHasNoTable) {
  namespace marker = format::marker_column;
  const Batch plain = rows_with(Kind::Marker, {{marker::kShape, {0}},
                                               {marker::kStart, {5}},
                                               {marker::kDuration, {0}},
                                               {marker::kName, {1}}});
  add(plain);
  add(rows_with(Kind::Marker, {{marker::kShape, {1}},
                               {marker::kStart, {3}},
                               {marker::kDuration, {9}},
                               {marker::kName, {1}},
                               {marker::kPayload, {25}},
                               {marker::kPayloadExponent, {-1}}}));
  namespace process = format::process_column;
  add(rows_with(Kind::Process,
                {{process::kTime, {1, 2}}, {process::kDevice, {0, 0}}, {process::kPid, {7, 8}}}));
  add(rows_with(Kind::Process, {{process::kTime, {3}},
                                {process::kDevice, {0}},
                                {process::kPid, {9}},
                                {process::kMemoryBytes, {100}}}));
  const Tables tables = finish();
  EXPECT_EQ(tables.markers.start, (std::vector<int64_t>{3, 5}));
  EXPECT_DOUBLE_EQ(tables.markers.payload[0], 2.5);
  EXPECT_TRUE(std::isnan(tables.markers.payload[1]));
  const Batch& processes = tables.others.at(Kind::Process);
  ASSERT_EQ(processes.rows(), 3U);
  EXPECT_EQ(processes.column(process::kPid), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(processes.column(process::kMemoryBytes), (std::vector<int64_t>{-1, -1, 100}));
  EXPECT_FALSE(processes.has(process::kName));
}

}  // namespace
}  // namespace gpufl::analysis
