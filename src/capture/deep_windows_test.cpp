// SPDX-License-Identifier: Apache-2.0
#include "capture/deep_windows.hpp"

#include <gtest/gtest.h>

#include "capture/engine_ladder.hpp"
#include "capture/fake_log_writer.hpp"

namespace gpufl::capture {
namespace {

using format::DeepWindowEnd;
using format::DeepWindowOpener;

constexpr int64_t kSecond = 1'000'000'000;

DeepWindowOptions options() {
  DeepWindowOptions some;
  some.cooldown_ns = 10 * kSecond;
  return some;
}

Phase phase(std::string_view engine, int64_t begin_ns, int64_t end_ns,
            std::optional<uint64_t> launches) {
  Phase one;
  one.engine = engine;
  one.why = format::CoverageReason::DeepWindow;
  one.begin_ns = begin_ns;
  one.end_ns = end_ns;
  one.launch_calls = launches;
  return one;
}

std::string word(const base::Status& status) {
  return status.message().substr(0, status.message().find(':'));
}

TEST(DeepWindows, OneIsOpenAtATimeAndOthersAreCounted) {
  DeepWindows windows(options(), kDeepEngine);
  EXPECT_FALSE(windows.is_wanted());
  ASSERT_TRUE(windows.open(DeepWindowOpener::Api, {kSecond, 0, 0, "slow step"}, 0));
  EXPECT_TRUE(windows.is_wanted());
  EXPECT_TRUE(DeepWindows::is_any_open());
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Api, {}, 1)), "window_open");
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Control, {}, 1)), "window_open");
  windows.close(DeepWindowEnd::Control);
  windows.close(DeepWindowEnd::Api);
  EXPECT_FALSE(windows.is_wanted());
  EXPECT_FALSE(windows.open(DeepWindowOpener::Control, {}, 1))
      << "not before it has come to its end";
  windows.add(phase(kSamplingEngine, 300, 500, 7), true);
  const auto closed = windows.take_closed(600);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->ending, DeepWindowEnd::Control) << "who came first";
  EXPECT_EQ(closed->asked.name, "slow step");
  EXPECT_EQ(closed->ignored, 3u);
  EXPECT_EQ(closed->launches, 7u);
  EXPECT_EQ(closed->engine, kSamplingEngine);
  EXPECT_EQ(closed->attached_ns, 300);
  EXPECT_EQ(closed->end_ns, 500);
  EXPECT_FALSE(DeepWindows::is_any_open());
  EXPECT_FALSE(windows.take_closed(700));
}

TEST(DeepWindows, ADurationCountsFromWhereTheEngineIsAttached) {
  DeepWindows windows(options(), kDeepEngine);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Api, {kSecond, 0, 0, ""}, 0));
  windows.see_no_phase(5 * kSecond);
  windows.see_phase(5 * kSecond, 5 * kSecond, 0);
  windows.see_phase(5 * kSecond, 6 * kSecond - 1, 1'000'000);
  EXPECT_TRUE(windows.is_wanted());
  windows.see_phase(5 * kSecond, 6 * kSecond, 0);
  EXPECT_FALSE(windows.is_wanted());
  EXPECT_EQ(windows.take_closed(6 * kSecond)->ending, DeepWindowEnd::Duration);
}

TEST(DeepWindows, DurationsHaveADefaultAndAMaximum) {
  DeepWindows windows(options(), kDeepEngine);
  const auto taken = [&](int64_t asked_ns) {
    EXPECT_TRUE(windows.open(DeepWindowOpener::Api, {asked_ns, 0, 0, ""}, 0));
    const int64_t duration_ns = windows.duration_ns();
    windows.close(DeepWindowEnd::Api);
    (void)windows.take_closed(0);
    return duration_ns;
  };
  EXPECT_EQ(taken(0), 2 * kSecond);
  EXPECT_EQ(taken(1), DeepWindows::kShortest_ns);
  EXPECT_EQ(taken(3600 * kSecond), DeepWindows::kLongest_ns);
}

TEST(DeepWindows, LaunchesOfAllItsPhasesCount) {
  DeepWindows windows(options(), kDeepEngine);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Api, {kSecond, 100, 0, ""}, 0));
  windows.see_phase(0, 1, 60);
  EXPECT_EQ(windows.status(2)["launches"].as_integer(), 60);
  windows.add(phase(kSassEngine, 0, 10, 70), true);
  windows.see_phase(20, 21, 29);
  EXPECT_TRUE(windows.is_wanted());
  windows.see_phase(20, 22, 30);
  EXPECT_FALSE(windows.is_wanted());
  windows.add(phase(kSamplingEngine, 20, 40, 35), true);
  const auto closed = windows.take_closed(40);
  EXPECT_EQ(closed->ending, DeepWindowEnd::Launches);
  EXPECT_EQ(closed->launches, 105u) << "with those until it was detached";
  EXPECT_EQ(closed->engine, kSassEngine) << "the highest of its engines";
}

TEST(DeepWindows, LaunchesThatNobodyCountedAreUnknown) {
  DeepWindows windows(options(), kDeepEngine);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Api, {}, 0));
  windows.add(phase(kSamplingEngine, 0, 10, 5), true);
  windows.add(phase(kSamplingEngine, 10, 20, std::nullopt), true);
  windows.close(DeepWindowEnd::Api);
  EXPECT_EQ(windows.take_closed(20)->launches, std::nullopt);
}

TEST(DeepWindows, ACooldownHoldsBackTriggersAndCallsButNobodyWhoAsksByHand) {
  DeepWindowOptions set = options();
  set.after_ns = 0;
  DeepWindows windows(set, kDeepEngine);
  windows.watch(0, std::nullopt);
  ASSERT_TRUE(windows.is_wanted());
  windows.close(DeepWindowEnd::Control);
  ASSERT_TRUE(windows.take_closed(kSecond));
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Api, {}, 11 * kSecond - 1)), "cooldown");
  EXPECT_EQ(windows.status(2 * kSecond)["cooldown_ns"].as_integer(), 9 * kSecond);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Control, {}, 2 * kSecond));
  windows.close(DeepWindowEnd::Control);
  ASSERT_TRUE(windows.take_closed(3 * kSecond));
  EXPECT_FALSE(windows.open(DeepWindowOpener::Api, {}, 13 * kSecond - 1));
  EXPECT_TRUE(windows.open(DeepWindowOpener::Api, {}, 13 * kSecond));
}

TEST(DeepWindows, ACallsOwnCooldownIsAsItSays) {
  DeepWindows windows(options(), kDeepEngine);
  for (const int64_t cooldown_ns : {int64_t{0}, 5 * kSecond}) {
    ASSERT_TRUE(windows.open(DeepWindowOpener::Api, {0, 0, cooldown_ns, ""}, 0));
    windows.close(DeepWindowEnd::Api);
    ASSERT_TRUE(windows.take_closed(0));
  }
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Api, {}, 5 * kSecond - 1)), "cooldown");
  EXPECT_TRUE(windows.open(DeepWindowOpener::Api, {}, 5 * kSecond));
}

TEST(DeepWindows, AConditionOpensOneAgainAfterTheCooldown) {
  DeepWindowOptions set = options();
  set.when = DeepCondition{DeepMetric::KernelLaunchRate, DeepCondition::Order::Less, 100, kSecond,
                           "kernel_launch_rate<100 for 1s"};
  DeepWindows windows(set, kDeepEngine);
  windows.watch(0, 50);
  EXPECT_FALSE(windows.is_wanted());
  windows.watch(kSecond, 49.7);
  ASSERT_TRUE(windows.is_wanted());
  windows.close(DeepWindowEnd::Duration);
  const auto closed = windows.take_closed(3 * kSecond);
  EXPECT_EQ(closed->opener, DeepWindowOpener::When);
  EXPECT_EQ(closed->condition, "kernel_launch_rate<100 for 1s");
  EXPECT_DOUBLE_EQ(*closed->seen, 49.7);
  for (int64_t now_ns = 3 * kSecond; now_ns < 13 * kSecond; now_ns += kSecond / 10) {
    windows.watch(now_ns, 50);
    ASSERT_FALSE(windows.is_wanted()) << now_ns;
  }
  windows.watch(13 * kSecond, 50);
  EXPECT_TRUE(windows.is_wanted());
  size_t refusals = 0;
  for (const base::Json& event : windows.take_events()) {
    refusals += event["name"].as_string() == "deep_window_refused";
  }
  EXPECT_EQ(refusals, 0u) << "it goes on holding, which is nothing to tell";
}

TEST(DeepWindows, TwoTriggersAtOnceOpenOne) {
  DeepWindowOptions set = options();
  set.after_ns = kSecond;
  set.when = DeepCondition{DeepMetric::GpuUtilization, DeepCondition::Order::Less, 100, 0, "it"};
  DeepWindows windows(set, kDeepEngine);
  windows.watch(kSecond, 5);
  EXPECT_EQ(windows.status(kSecond)["opened"].as_integer(), 1);
  windows.watch(kSecond + 1, 5);
  EXPECT_EQ(windows.status(kSecond)["opened"].as_integer(), 1);
  EXPECT_EQ(windows.status(kSecond)["opened_by"].as_string(), "after");
}

TEST(DeepWindows, WhatStandsInTheWayIsToldOnce) {
  DeepWindows windows(options(), kDeepEngine);
  windows.refuse(DeepWindows::Refusal::Paused);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(word(windows.open(DeepWindowOpener::Api, {0, 0, 0, "mine"}, i)), "paused");
  }
  EXPECT_EQ(windows.status(0)["reason"].as_string(), "paused");
  const auto events = windows.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["name"].as_string(), "deep_window_refused");
  EXPECT_EQ(events[0]["reason"].as_string(), "paused");
  EXPECT_EQ(events[0]["opened_by"].as_string(), "api");
  EXPECT_EQ(events[0]["window"].as_string(), "mine");
  windows.refuse(DeepWindows::Refusal::None);
  EXPECT_TRUE(windows.open(DeepWindowOpener::Api, {}, 0));
}

TEST(DeepWindows, AnEngineWithNothingToAttachOpensNone) {
  DeepWindowOptions set = options();
  set.after_ns = 0;
  DeepWindows windows(set, kTraceEngine);
  windows.refuse(DeepWindows::Refusal::None);
  windows.watch(0, std::nullopt);
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Control, {}, 0)), "engine_too_low");
  EXPECT_EQ(windows.status(0)["reason"].as_string(), "engine_too_low");
  EXPECT_EQ(windows.take_events().size(), 2u) << "for each who asked";
}

TEST(DeepWindows, WhatCannotBeAttachedClosesIt) {
  DeepWindows windows(options(), kDeepEngine);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Control, {}, kSecond));
  windows.fail("permission_denied");
  windows.limit("counted_before");
  const auto failed = windows.take_closed(2 * kSecond);
  EXPECT_EQ(failed->ending, DeepWindowEnd::Failure);
  EXPECT_EQ(failed->limit, "permission_denied") << "the first reason";
  EXPECT_TRUE(failed->engine.empty());
  EXPECT_EQ(failed->end_ns, 2 * kSecond);
  ASSERT_TRUE(windows.open(DeepWindowOpener::Control, {}, 3 * kSecond));
  windows.see_no_phase(3 * kSecond + DeepWindows::kLongestOpening_ns);
  EXPECT_EQ(windows.take_closed(40 * kSecond)->limit, "attaching");
}

TEST(DeepWindows, TheSessionsEndClosesWhatIsOpen) {
  DeepWindows windows(options(), kDeepEngine);
  EXPECT_FALSE(windows.end_session(0));
  EXPECT_EQ(word(windows.open(DeepWindowOpener::Api, {}, 0)), "session_ended");
  DeepWindows others(options(), kDeepEngine);
  ASSERT_TRUE(others.open(DeepWindowOpener::Api, {}, 0));
  others.add(phase(kSamplingEngine, 5, 10, 3), false);
  const auto closed = others.end_session(20);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->ending, DeepWindowEnd::Session);
  EXPECT_EQ(closed->engine, kTraceEngine) << "sampling was refused in it";
}

TEST(DeepWindows, ARowTellsAllOfIt) {
  namespace column = format::deep_window_column;
  DeepWindow window;
  window.asked.name = "slow";
  window.opener = DeepWindowOpener::When;
  window.condition = "kernel_launch_rate<100";
  window.seen = 41.6;
  window.opened_ns = 5;
  window.attached_ns = 10;
  window.end_ns = 30;
  window.ending = DeepWindowEnd::Launches;
  window.launches = 12;
  window.engine = kSamplingEngine;
  window.limit = "counted_before";
  window.ignored = 2;
  FakeLogWriter log;
  write_deep_window(window, log);
  const auto row = log.rows(format::Kind::DeepWindow).at(0);
  EXPECT_EQ(row[column::kStart], 10);
  EXPECT_EQ(row[column::kDuration], 20);
  EXPECT_EQ(log.text(format::Dict::Name, row[column::kName]), "slow");
  EXPECT_EQ(row[column::kOpenedBy], 3);
  EXPECT_EQ(row[column::kClosedBy], 2);
  EXPECT_EQ(row[column::kLaunches], 12);
  EXPECT_EQ(log.text(format::Dict::Name, row[column::kEngine]), "PcSampling");
  EXPECT_EQ(log.text(format::Dict::Text, row[column::kReason]), "counted_before");
  EXPECT_EQ(log.text(format::Dict::Text, row[column::kCondition]), "kernel_launch_rate<100");
  EXPECT_EQ(row[column::kSeen], 42);
  EXPECT_EQ(row[column::kIgnored], 2);
  write_deep_window({}, log);
  const auto plain = log.rows(format::Kind::DeepWindow).at(1);
  EXPECT_EQ(plain[column::kName], 0);
  EXPECT_EQ(plain[column::kSeen], -1);
  EXPECT_EQ(plain[column::kLaunches], 0);
}

}  // namespace
}  // namespace gpufl::capture
