// SPDX-License-Identifier: Apache-2.0
#include "sql/query_check.hpp"

#include <gtest/gtest.h>

namespace gpufl::sql {
namespace {

base::Status check(std::string_view tree) {
  return check_tree(tree, [](std::string_view name) { return name == "kernels"; });
}

TEST(QueryCheck, KnowsTableFunctionsFromOthers) {
  const auto table = [](const std::string& name) {
    return R"({"a":[{"type":"TABLE_FUNCTION","alias":"","function":{"type":"FUNCTION",)"
           R"("function_name":")" +
           name + R"("}}]})";
  };
  EXPECT_TRUE(check(table("kernels")));
  EXPECT_TRUE(check(table("RANGE")));
  EXPECT_FALSE(check(table("read_csv")));
  EXPECT_FALSE(check(table("Enable_Logging")));
  EXPECT_FALSE(check(table("range\\u0000")));
  EXPECT_TRUE(check(R"({"type":"FUNCTION","function_name":"read_csv"})"));
  EXPECT_FALSE(check(R"({"type":"FUNCTION","function_name":"Write_Log"})"));
}

TEST(QueryCheck, TextsAreNoStructure) {
  EXPECT_TRUE(check(R"({"value":"\"type\":\"TABLE_FUNCTION\",\"function_name\":\"write_log\""})"));
  EXPECT_TRUE(check(R"(["function_name","write_log"])"));
  EXPECT_FALSE(check(R"({"a":1)"));
  EXPECT_FALSE(check("}"));
  EXPECT_FALSE(check(R"({"a":"\)"));
}

TEST(QueryCheck, TakesExplainAway) {
  EXPECT_EQ(without_explain("select 1"), "select 1");
  EXPECT_EQ(without_explain(" Explain select 1"), " select 1");
  EXPECT_EQ(without_explain("explain\tANALYZE select 1"), " select 1");
  EXPECT_EQ(without_explain("explained"), "explained");
  EXPECT_EQ(without_explain("explain(format json) select 1"), "explain(format json) select 1");
}

}  // namespace
}  // namespace gpufl::sql
