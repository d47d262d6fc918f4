// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/gate_rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::analysis::compare {
namespace {

std::string mistake_in(std::string_view text) {
  const auto rules = parse_rules(text, "rules.json");
  return rules ? "" : rules.status().message();
}

TEST(GateRulesTest, ReadsEveryKey) {
  const auto rules = parse_rules(R"({"rules": [
    {"name": "products", "kernel": "*gemm*", "metric": "p90", "max_increase": "10%",
     "min_share": 0.02, "allow_noisy": true},
    {"scope": "train > step"},
    {"total": true, "max_increase": 0.03}
  ]})",
                                 "rules.json");
  ASSERT_TRUE(rules.is_ok()) << rules.status().text();
  ASSERT_EQ(rules->size(), 3u);
  const Rule& first = rules->at(0);
  EXPECT_EQ(first.name, "products");
  EXPECT_EQ(first.subject, Subject::Kernel);
  EXPECT_EQ(first.pattern, "*gemm*");
  EXPECT_EQ(first.metric, Metric::P90);
  EXPECT_DOUBLE_EQ(first.max_increase, 0.10);
  EXPECT_DOUBLE_EQ(first.min_share, 0.02);
  EXPECT_TRUE(first.allow_noisy);
  EXPECT_EQ(rules->at(1).subject, Subject::Scope);
  EXPECT_EQ(rules->at(1).metric, Metric::Median);
  EXPECT_DOUBLE_EQ(rules->at(1).max_increase, 0.05);
  EXPECT_EQ(rules->at(2).subject, Subject::Total);
  EXPECT_EQ(rules->at(2).metric, Metric::Busy);
}

TEST(GateRulesTest, NamesTheLineOfAMistake) {
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": \"k\",\n\"metrc\": \"p90\"}]}"),
            "rules.json:3: there is no key 'metrc'");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": \"k\",\n\"metric\": \"p91\"}]}"),
            "rules.json:3: metric is median, mean, p90, p99, total, count, busy or time");
  EXPECT_EQ(mistake_in("{\"rules\": [\n\n{\"metric\": \"p90\"}]}"),
            "rules.json:3: a rule has one of the keys kernel, scope and total");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": \"k\", \"scope\": \"s\"}]}"),
            "rules.json:2: a rule has one of the keys kernel, scope and total");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": \"k\", \"max_increase\": \"much\"}]}"),
            "rules.json:2: max_increase: 'much' is not a share, such as 5%");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": \"k\", \"max_increase\": 0}]}"),
            "rules.json:2: an increase of 0% cannot be allowed; use more than 0%, up to 1000%");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"kernel\": 7}]}"), "rules.json:2: kernel is a text");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"total\": false}]}"),
            "rules.json:2: total is true, or not there");
  EXPECT_EQ(mistake_in("{\"rules\": [\n{\"total\": true, \"allow_noisy\": 1}]}"),
            "rules.json:2: allow_noisy is true or false");
  EXPECT_EQ(mistake_in("{\"rules\": [\n7]}"), "rules.json:2: a rule is an object");
  EXPECT_EQ(mistake_in("{\"rules\": []}"),
            "rules.json:1: a rules file is an object with a list 'rules' that is not empty");
  EXPECT_EQ(mistake_in("{\"rules\": [{\"total\": true}],\n\"version\": 1}"),
            "rules.json:2: there is no key 'version'");
  EXPECT_NE(mistake_in("{\"rules\": [\n").find("rules.json"), std::string::npos);
}

TEST(ParseShareTest, TakesPercentAndFractions) {
  EXPECT_DOUBLE_EQ(*parse_share("5%"), 0.05);
  EXPECT_DOUBLE_EQ(*parse_share("0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(*parse_share("0.05"), 0.05);
  for (const char* text :
       {"", "%", "5 %", "five", "5%%", "nan", "inf%", "5", "-3", "1.0", "-5%", "1001%"}) {
    EXPECT_FALSE(parse_share(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_share("1001%").status().message(), "'1001%' is out of range; write 0% to 1000%");
}

}  // namespace
}  // namespace gpufl::analysis::compare
