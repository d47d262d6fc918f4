// SPDX-License-Identifier: Apache-2.0
#include "format/flat_row.hpp"

#include <gtest/gtest.h>

namespace gpufl::format {
namespace {

using base::Json;

TEST(FlatRowsTest, SpreadsAKernelOut) {
  Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 4, "gemm \"x\"");
  dictionaries.define(Dict::Config, 2,
                      R"({"name":4,"grid":[1,2,3],"block":[32,1,1],"occupancy":1250})");
  Batch batch(Kind::Kernel);
  batch.mutable_column(kernel_column::kStart) = {100, 200};
  batch.mutable_column(kernel_column::kDuration) = {7, 8};
  batch.mutable_column(kernel_column::kConfig) = {2, 9};
  batch.mutable_column(kernel_column::kApiStart) = {90, -1};
  batch.mutable_column(kernel_column::kApiDuration) = {5, -1};
  batch.mutable_column(kernel_column::kStack) = {0, 0};
  batch.mutable_column(kernel_column::kExternal) = {-1, 3};
  batch.set_rows(2);
  std::string out;
  FlatRows rows;
  rows.append(batch, dictionaries, out);
  EXPECT_EQ(out, R"({"name":"gemm \"x\"","start_ns":100,"duration_ns":7,"grid":[1,2,3],)"
                 R"("block":[32,1,1],"occupancy":0.125,"api_start_ns":90,"api_duration_ns":5,)"
                 R"("external":"18446744073709551615"})"
                 "\n"
                 R"({"start_ns":200,"duration_ns":8,"external":"3"})"
                 "\n");
}

TEST(FlatRowsTest, NamesTheFramesOfAStack) {
  Dictionaries dictionaries;
  dictionaries.define(Dict::Name, 1, "cudaDeviceSynchronize");
  dictionaries.define(Dict::Name, 2, "train");
  dictionaries.define(Dict::Text, 1, "train.py");
  dictionaries.define(Dict::Text, 2, "libc.so.6");
  dictionaries.define(Dict::Frame, 1, R"({"function":2,"file":1,"line":12})");
  dictionaries.define(Dict::Frame, 2, R"({"module":2,"offset":4096})");
  dictionaries.define(Dict::Stack, 1, R"({"frames":[1,2,3]})");
  Batch batch(Kind::Api);
  batch.push_row({1, 2, 1, 3, 4, 0, 0, 1, 0, 1});
  std::string out;
  FlatRows().append(batch, dictionaries, out);
  const auto row = Json::parse(out.substr(0, out.size() - 1));
  ASSERT_TRUE(row.is_ok()) << out;
  EXPECT_EQ((*row)["name"].as_string(), "cudaDeviceSynchronize");
  EXPECT_EQ((*row)["stack"].dump(), R"(["train at train.py:12","libc.so.6+4096","?"])");
}

TEST(FlatRowsTest, PutsUnitsToTheNamesOfEveryTime) {
  for (size_t i = 0; i < kKindCount; ++i) {
    for (const ColumnSpec& column : spec(static_cast<Kind>(i)).columns) {
      const bool is_time = column.type == ColumnType::Time || column.type == ColumnType::Duration;
      if (is_time) {
        EXPECT_TRUE(flat_name(column).ends_with("_ns")) << column.name;
        EXPECT_FALSE(flat_name(column).ends_with("dur_ns")) << column.name;
      }
    }
  }
}

TEST(FlatRowsTest, GivesObjectLinesAsTheyAre) {
  FlatRows rows;
  std::string out;
  rows.append(Kind::Clock,
              Json::parse(R"({"type":"clock","time":5,"wall":"77","error":1})").value(), out);
  EXPECT_EQ(out, R"({"time_ns":5,"wall_ns":"77","error_ns":1})"
                 "\n");
  out.clear();
  const Json dict =
      Json::parse(R"({"type":"dict","dict":"name","ids":[1,2],"values":["a","b"]})").value();
  rows.append(Kind::Dict, dict, out);
  rows.append(Kind::Dict, dict, out);
  EXPECT_EQ(out, R"({"dict":"name","id":1,"value":"a"})"
                 "\n"
                 R"({"dict":"name","id":2,"value":"b"})"
                 "\n");
}

}  // namespace
}  // namespace gpufl::format
