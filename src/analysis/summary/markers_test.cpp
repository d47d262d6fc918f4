// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/markers.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using format::Kind;
namespace column = format::marker_column;

constexpr int64_t kSecond_ns = 1'000'000'000;

class MarkersTest : public testing::Test {
 protected:
  void SetUp() override {
    int64_t id = 1;
    for (const char* value : {"step", "load", "NCCL", "begin"}) {
      dictionaries_.define(format::Dict::Name, id++, value);
    }
  }
  // One row, with the columns that every recorder writes.
  void add(int64_t shape, int64_t start_ns, int64_t duration_ns, int64_t name, int64_t domain,
           int64_t thread = 7) {
    format::Batch batch(Kind::Marker);
    const auto put = [&](size_t i, int64_t value) { batch.mutable_column(i).push_back(value); };
    put(column::kShape, shape);
    put(column::kStart, start_ns);
    put(column::kDuration, duration_ns);
    put(column::kThread, thread);
    put(column::kDomain, domain);
    put(column::kName, name);
    batch.set_rows(1);
    markers_.add(batch, dictionaries_);
  }
  bool event(const char* text) { return markers_.take_event(*base::Json::parse(text)); }

  format::Dictionaries dictionaries_;
  NameTable names_;
  MarkerTable markers_{names_};
};

TEST_F(MarkersTest, ByNameAndDomainTheLongestFirst) {
  add(1, 0, 100, 1, 0);
  add(1, 200, 300, 1, 0);
  add(2, 0, 5000, 1, 3);
  add(0, 10, 0, 4, 0);
  add(0, 20, 0, 4, 0);
  add(0, 30, 0, 2, 0);
  const std::vector<MarkerTotal> totals = markers_.finish(10'000);
  ASSERT_EQ(totals.size(), 4U);
  EXPECT_EQ(totals[0].name + "@" + totals[0].domain, "step@NCCL");
  EXPECT_EQ(totals[1].name + "@" + totals[1].domain, "step@");
  EXPECT_EQ(totals[1].duration_ns.count, 2U);
  EXPECT_EQ(totals[1].total_ns(), 400);
  EXPECT_EQ(totals[1].duration_ns.max, 300);
  EXPECT_EQ(totals[2].name, "begin");
  EXPECT_EQ(totals[2].marks, 2U);
  EXPECT_EQ(totals[2].count(), 2U);
  EXPECT_EQ(totals[3].name, "load");
}

TEST_F(MarkersTest, RangesThatNeverEndedAreOpen) {
  EXPECT_TRUE(event(R"({"name":"marker_open","text":"step","start":1000000000,"thread":7})"));
  EXPECT_TRUE(event(
      R"({"name":"marker_open","text":"step","domain":"NCCL","start":1000000000,"thread":8})"));
  add(1, kSecond_ns, 3 * kSecond_ns, 1, 0, 7);  // the first has ended after all
  const std::vector<MarkerTotal> totals = markers_.finish(6 * kSecond_ns);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].domain, "NCCL");
  EXPECT_EQ(totals[0].open, 1U);
  EXPECT_EQ(totals[0].open_ns, 5.0 * kSecond_ns);
  EXPECT_EQ(totals[0].count(), 1U);
  EXPECT_EQ(totals[1].open, 0U);
  EXPECT_EQ(totals[1].total_ns(), 3.0 * kSecond_ns);
}

TEST_F(MarkersTest, EventsOfMarkersAndOthers) {
  EXPECT_TRUE(event(R"({"name":"marker_category","category":3,"text":"io"})"));
  EXPECT_TRUE(event(R"({"name":"thread_name","thread":3,"text":"loader"})"));
  EXPECT_FALSE(event(R"({"name":"xid","code":79})"));
  EXPECT_TRUE(markers_.finish(0).empty());
}

}  // namespace
}  // namespace gpufl::analysis
