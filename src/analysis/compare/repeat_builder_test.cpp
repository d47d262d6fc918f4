// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/repeat_builder.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis::compare {
namespace {

using analysis::testing::TestSession;

constexpr char kConfig[] = "grid 128x1x1, block 256x1x1";

SessionData small_session(int64_t scale = 1) {
  TestSession session;
  const int64_t train = session.scope("train", 0, 10'000);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t start = i * 2000;
    const int64_t step = session.scope("step", start, 1000, {.parent = train, .tag = "a"});
    session.kernel("gemm", start, (100 + i) * scale, {.scope = step});
    session.kernel("relu", start + 500, 50 * scale, {.scope = train});
  }
  session.kernel("gemm", 8000, 300 * scale);
  session.data.summary.ledger.emplace();
  session.data.summary.header.engine = "Trace";
  session.data.summary.duration_ns = 10'000;
  return session.finish();
}

Repeat repeat_of(const SessionData& session, std::optional<Interval> window = {}) {
  RepeatBuilder builder;
  builder.add(session, window);
  return builder.finish();
}

TEST(RepeatBuilderTest, AlignsByScopePathTagKernelAndConfiguration) {
  const Repeat repeat = repeat_of(small_session());
  const Item* in_step = repeat.find({Subject::Launch, "train > step / a", "gemm", kConfig});
  ASSERT_NE(in_step, nullptr);
  EXPECT_EQ((*in_step)[Metric::Count], 3);
  EXPECT_EQ((*in_step)[Metric::Median], 101);
  EXPECT_EQ((*in_step)[Metric::Total], 303);
  EXPECT_EQ((*in_step)[Metric::P99], 102);
  EXPECT_FALSE((*in_step)[Metric::Busy]);
  const Item* outside = repeat.find({Subject::Launch, "", "gemm", kConfig});
  ASSERT_NE(outside, nullptr);
  EXPECT_EQ((*outside)[Metric::Median], 300);
  const Item* by_name = repeat.find({Subject::Kernel, "", "gemm", ""});
  ASSERT_NE(by_name, nullptr);
  EXPECT_EQ((*by_name)[Metric::Count], 4);
  EXPECT_EQ((*by_name)[Metric::Median], 101.5);
  const Item* in_any_scope = repeat.find({Subject::Config, "", "gemm", kConfig});
  ASSERT_NE(in_any_scope, nullptr);
  EXPECT_EQ((*in_any_scope)[Metric::Count], 4);
  EXPECT_EQ((*in_any_scope)[Metric::Median], 101.5);
  EXPECT_EQ(repeat.scope_names, (std::set<std::string>{"step", "train"}));
}

TEST(RepeatBuilderTest, KnowsThatASessionWasTracedInPhases) {
  EXPECT_FALSE(repeat_of(small_session()).is_budgeted);
  TestSession session;
  session.coverage("Trace", 100, 200);
  session.kernel("gemm", 100, 50);
  EXPECT_TRUE(repeat_of(session.finish()).is_budgeted);
}

TEST(RepeatBuilderTest, MediansOfKernelsLieWithinTheStepOfTheClock) {
  const auto median_of = [](const std::vector<int64_t>& durations) {
    TestSession session;
    int64_t start = 0;
    for (const int64_t duration : durations) session.kernel("gemm", start += 10'000, duration);
    return *(*repeat_of(session.finish()).find({Subject::Kernel, "", "gemm", ""}))[Metric::Median];
  };
  EXPECT_EQ(median_of({1088, 1088, 1088, 1088}), 1088);
  // More above than below: the middle lies in the upper half of the step.
  EXPECT_EQ(median_of({1056, 1088, 1088, 1088, 1088, 1120, 1120, 1120}), 1096);
  EXPECT_EQ(median_of({1088, 1088, 1120, 1120}), 1104);
  // A neighbour far away leaves the step as it is; one nearby ends it.
  EXPECT_EQ(median_of({1088, 1088, 1088, 9000, 9000}), 1072 + 32 * 2.5 / 3);
  EXPECT_EQ(median_of({100, 100, 101, 102, 200}), 101);
  EXPECT_EQ(median_of({100, 101, 101, 102}), 101);
}

TEST(RepeatBuilderTest, ScopesHaveTheirTimesAndTheirGpusWork) {
  const Repeat repeat = repeat_of(small_session());
  const Item* step = repeat.find({Subject::Scope, "train > step / a", "", ""});
  ASSERT_NE(step, nullptr);
  EXPECT_EQ((*step)[Metric::Median], 1000);
  EXPECT_EQ((*step)[Metric::Count], 3);
  EXPECT_EQ((*step)[Metric::Busy], 303);
  const Item* train = repeat.find({Subject::Scope, "train", "", ""});
  ASSERT_NE(train, nullptr);
  EXPECT_EQ((*train)[Metric::Busy], 453);  // with what is inside
}

TEST(RepeatBuilderTest, TheTotalIsOfTheSession) {
  const Repeat repeat = repeat_of(small_session());
  const Item* total = repeat.find(Key{});
  ASSERT_NE(total, nullptr);
  EXPECT_EQ((*total)[Metric::Time], 10'000);
  EXPECT_EQ((*total)[Metric::Busy], 753);
  EXPECT_EQ((*total)[Metric::Total], 753);
  EXPECT_EQ((*total)[Metric::Count], 7);
  EXPECT_EQ((*total)[Metric::Median], 1000);  // of the three steps
  EXPECT_EQ(repeat.engine, "Trace");
  EXPECT_TRUE(repeat.losses.empty());
}

TEST(RepeatBuilderTest, AWindowIsASessionOfItsOwn) {
  const Repeat repeat = repeat_of(small_session(), Interval{2000, 4000});
  const Item* total = repeat.find(Key{});
  ASSERT_NE(total, nullptr);
  EXPECT_EQ((*total)[Metric::Time], 2000);
  EXPECT_EQ((*total)[Metric::Count], 2);
  EXPECT_EQ((*total)[Metric::Busy], 151);
  EXPECT_EQ((*repeat.find({Subject::Kernel, "", "gemm", ""}))[Metric::Median], 101);
}

TEST(RepeatBuilderTest, SessionsOfOneLaunchAreOneRepeat) {
  RepeatBuilder builder;
  SessionData first = small_session();
  SessionData second = small_session(2);
  second.summary.header.run_id = "run-7";
  second.summary.duration_ns = 12'000;
  builder.add(first);
  builder.add(second);
  const Repeat repeat = builder.finish();
  EXPECT_EQ(repeat.name, "run-7");
  EXPECT_EQ(repeat.sessions, 2u);
  const Item* total = repeat.find(Key{});
  EXPECT_EQ((*total)[Metric::Time], 12'000);
  EXPECT_EQ((*total)[Metric::Busy], 3 * 753);
  EXPECT_EQ((*total)[Metric::Count], 14);
  EXPECT_EQ((*repeat.find({Subject::Kernel, "", "relu", ""}))[Metric::Median], 75);
}

TEST(RepeatBuilderTest, BenchmarkScopesCountByIterationAndOpenOnesNotAtAll) {
  TestSession session;
  session.scope("bench", 0, 1000, {.repeat = 10});
  session.scope("open", 0, 1000, {.ending = Scopes::kOpen});
  session.scope("lost", 0, 1000, {.ending = static_cast<uint8_t>(format::ScopeEnding::Lost)});
  const Repeat repeat = repeat_of(session.finish());
  EXPECT_EQ((*repeat.find({Subject::Scope, "bench", "", ""}))[Metric::Median], 100);
  EXPECT_EQ(repeat.find({Subject::Scope, "open", "", ""}), nullptr);
  EXPECT_EQ(repeat.find({Subject::Scope, "lost", "", ""}), nullptr);
}

TEST(RepeatBuilderTest, WhatWasNotRecordedIsUnknown) {
  TestSession session;
  session.data.summary.duration_ns = 5000;
  const Repeat repeat = repeat_of(session.finish());
  const Item* total = repeat.find(Key{});
  ASSERT_NE(total, nullptr);
  EXPECT_EQ((*total)[Metric::Time], 5000);
  for (const Metric metric : {Metric::Busy, Metric::Total, Metric::Count, Metric::Median}) {
    EXPECT_FALSE((*total)[metric]) << to_string(metric);
  }
}

TEST(KnownLossesTest, SaysWhyASessionIsNotWhole) {
  SessionSummary summary;
  summary.duration_ns = 3'200'000'000;
  EXPECT_EQ(known_losses(summary),
            std::vector<std::string>{"it was cut off: its time is at least 3.200 s, and its last "
                                     "moments may be lost"});
  summary.ledger.emplace();
  EXPECT_TRUE(known_losses(summary).empty());
  summary.ledger->warp_records_dropped = 5;  // the rest is whole: kernels can be compared
  EXPECT_TRUE(known_losses(summary).empty());
  summary.ledger->scopes_dropped = 1;
  EXPECT_EQ(known_losses(summary).size(), 1u);
  summary.has_faults = true;
  EXPECT_EQ(known_losses(summary).size(), 2u);
  summary.live = true;
  EXPECT_EQ(known_losses(summary).front(),
            "it is still being recorded: its time is at least 3.200 s");
}

}  // namespace
}  // namespace gpufl::analysis::compare
