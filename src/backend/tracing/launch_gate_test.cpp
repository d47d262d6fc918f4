// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_gate.hpp"

#include <pthread.h>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

using std::chrono::microseconds;

constexpr uint32_t kSession = 7;
constexpr microseconds kPatience{5'000'000};

LaunchesInside& of_this_thread() { return NoteRings::of_thread(kSession)->launches_inside; }

TEST(LaunchGate, NobodyIsHeldWhileItIsOpen) {
  LaunchGate gate;
  gate.enter(of_this_thread(), kSession);
  gate.leave(of_this_thread());
  EXPECT_EQ(gate.counts().held, 0u);
}

TEST(LaunchGate, DoesNotShutWhileALaunchIsUnderWay) {
  LaunchGate gate;
  gate.enter(of_this_thread(), kSession);
  EXPECT_FALSE(gate.shut(kSession, microseconds(1'000)));
  EXPECT_FALSE(gate.is_shut());
  gate.leave(of_this_thread());
  EXPECT_TRUE(gate.shut(kSession, microseconds(1'000)));
  gate.open();
}

TEST(LaunchGate, WhatAnEarlierSessionSawBeginDoesNotCount) {
  LaunchGate gate;
  gate.enter(of_this_thread(), kSession);
  EXPECT_TRUE(gate.shut(kSession + 1, microseconds(1'000)));
  gate.open();
  gate.leave(of_this_thread());
}

TEST(LaunchGate, ALaunchInsideAnotherPasses) {
  LaunchGate gate;
  gate.enter(of_this_thread(), kSession);
  gate.close();
  gate.enter(of_this_thread(), kSession);
  gate.leave(of_this_thread());
  gate.leave(of_this_thread());
  gate.open();
  EXPECT_EQ(gate.counts().held, 0u);
}

TEST(LaunchGate, HoldsLaunchesUntilItOpensAndCountsThem) {
  LaunchGate gate;
  ASSERT_TRUE(gate.shut(kSession, kPatience));
  std::atomic<bool> has_launched{false};
  std::thread program([&] {
    gate.enter(of_this_thread(), kSession);
    has_launched = true;
    gate.leave(of_this_thread());
    gate.enter_without_ring();
    gate.leave_without_ring();
  });
  while (gate.waiting() == 0) std::this_thread::yield();
  EXPECT_FALSE(has_launched);
  gate.open();
  program.join();
  EXPECT_TRUE(has_launched);
  EXPECT_GE(gate.counts().held, 1u);
  EXPECT_GE(gate.counts().held_ns, gate.counts().longest_ns);
}

// Those who were held wake up a moment after it has been opened.
TEST(LaunchGate, CountsWhenReleasedHaveWhatWasJustHeld) {
  LaunchGate gate;
  for (uint64_t round = 1; round <= 50; ++round) {
    gate.close();
    std::thread program([&] {
      gate.enter(of_this_thread(), kSession);
      gate.leave(of_this_thread());
    });
    while (gate.waiting() == 0) std::this_thread::yield();
    gate.open();
    EXPECT_EQ(gate.counts_when_released().held, round);
    program.join();
    EXPECT_GT(gate.take_longest_ns(), 0u);
    EXPECT_EQ(gate.take_longest_ns(), 0u);
  }
}

// A window's end must not let the launches of a new context go.
TEST(LaunchGate, EachOpensItForItselfAlone) {
  LaunchGate gate;
  ASSERT_TRUE(gate.shut(kSession, kPatience));
  gate.close(LaunchGate::For::NewContext);
  gate.open();
  EXPECT_TRUE(gate.is_shut());
  EXPECT_GT(gate.shut_since_ns(), 0);
  gate.open(LaunchGate::For::NewContext);
  EXPECT_FALSE(gate.is_shut());
  EXPECT_EQ(gate.shut_since_ns(), 0);
  // And a call that shut() waits for may end what a new context began.
  gate.enter_without_ring();
  gate.close(LaunchGate::For::NewContext);
  std::thread shutting([&] {
    EXPECT_TRUE(gate.shut(kSession, kPatience));
    EXPECT_TRUE(gate.is_shut());
  });
  gate.open(LaunchGate::For::NewContext);
  gate.leave_without_ring();
  shutting.join();
  gate.open();
}

TEST(LaunchGate, IsNotShutWhereThoseWhoWaitHaveOpenedIt) {
  LaunchGate gate;
  gate.enter_without_ring();
  std::thread shutting([&] { EXPECT_FALSE(gate.shut(kSession, kPatience)); });
  while (!gate.is_shut()) std::this_thread::yield();
  gate.force_open();
  gate.leave_without_ring();
  shutting.join();
  EXPECT_FALSE(gate.is_shut());
}

TEST(LaunchGate, CloseIsNotLostInAnothersOpen) {
  constexpr int kRounds = 20'000;
  LaunchGate gate;
  std::atomic<bool> ends{false};
  std::thread calls([&] {
    while (!ends) {
      gate.close();
      gate.open();
    }
  });
  int lost = 0;
  for (int i = 0; i < kRounds; ++i) {
    gate.close(LaunchGate::For::NewContext);
    if (!gate.is_shut() || gate.shut_since_ns() == 0) ++lost;
    gate.open(LaunchGate::For::NewContext);
  }
  ends = true;
  calls.join();
  EXPECT_EQ(lost, 0);
  EXPECT_FALSE(gate.is_shut());
}

TEST(LaunchGate, StaysShutBesideCallsThatMakeNoGraph) {
  using Inside = LaunchGate::Inside;
  constexpr microseconds kMoment(1'000);
  LaunchGate gate;
  EXPECT_EQ(gate.shut_to_graphs(kSession, kMoment), Inside::Nobody);
  gate.open();
  gate.enter(of_this_thread(), kSession);
  EXPECT_EQ(gate.shut_to_graphs(kSession, kMoment), Inside::Others);
  EXPECT_TRUE(gate.is_shut());
  gate.open();
  gate.enter(of_this_thread(), kSession, true);
  EXPECT_EQ(gate.shut_to_graphs(kSession, kMoment), Inside::MakesGraph);
  EXPECT_FALSE(gate.is_shut());
  gate.leave(of_this_thread(), true);
  EXPECT_EQ(gate.shut_to_graphs(kSession, kMoment), Inside::Others);
  gate.open();
  gate.leave(of_this_thread());
}

TEST(LaunchGate, ItStaysShutForAnotherCall) {
  LaunchGate gate;
  gate.renew();
  EXPECT_FALSE(gate.is_shut());
  gate.close();
  const int64_t since_ns = gate.shut_since_ns();
  gate.renew();
  EXPECT_GT(gate.shut_since_ns(), since_ns);
  gate.open();
}

TEST(LaunchGate, ItStaysShutForAsLongAsOneCallMayTake) {
  constexpr int64_t kMoment_ns = 1'000'000;
  LaunchGate gate;
  gate.close();
  gate.renew(kMoment_ns);
  gate.enter(of_this_thread(), kSession);  // lets itself in
  gate.leave(of_this_thread());
  EXPECT_LT(gate.counts().longest_ns, static_cast<uint64_t>(LaunchGate::kLongestShut_ns));
  gate.close();
  gate.renew(2 * LaunchGate::kLongestShut_ns);
  std::thread program([&] {
    gate.enter(of_this_thread(), kSession);
    gate.leave(of_this_thread());
  });
  const int64_t shut_ns = gate.shut_since_ns();
  while (base::monotonic_ns() - shut_ns < LaunchGate::kLongestShut_ns + kMoment_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(gate.is_shut());
  gate.open();
  program.join();
}

TEST(LaunchGate, NobodyWaitsForOneWhoNeverOpensIt) {
  LaunchGate gate;
  gate.close();
  gate.enter(of_this_thread(), kSession);
  gate.leave(of_this_thread());
  EXPECT_FALSE(gate.is_shut());
}

TEST(LaunchGate, AThreadThatIsCancelledWhileItIsHeldEndsLater) {
  LaunchGate gate;
  const auto cancel_held = [&](const auto& hold, const auto& is_held, const auto& let_go) {
    std::thread program([&] {
      hold();
      pthread_testcancel();
    });
    while (!is_held()) std::this_thread::yield();
    pthread_cancel(program.native_handle());
    std::this_thread::yield();
    let_go();
    program.join();
  };
  gate.close();
  cancel_held(
      [&] {
        gate.enter_without_ring();
        gate.leave_without_ring();
      },
      [&] { return gate.waiting() != 0; }, [&] { gate.open(); });
  EXPECT_EQ(gate.waiting(), 0u);
  gate.park();
  cancel_held([&] { gate.pass_exit(); }, [&] { return gate.parked() != 0; },
              [&] { gate.unpark(); });
  EXPECT_EQ(gate.parked(), 0u);
}

TEST(LaunchGate, ParksThreadsAtTheExitAndLetsThemGo) {
  LaunchGate gate;
  gate.park();
  std::thread program([&] { gate.pass_exit(); });
  while (gate.parked() == 0) std::this_thread::yield();
  EXPECT_TRUE(gate.is_parking());
  gate.unpark();
  program.join();
  EXPECT_EQ(gate.parked(), 0u);
  EXPECT_EQ(gate.counts().held, 1u);
}

TEST(LaunchGate, NobodyIsParkedForLongerThanTheBound) {
  LaunchGate gate;
  gate.park();
  gate.pass_exit();  // nobody unparks
  EXPECT_FALSE(gate.is_parking());
  EXPECT_GE(gate.counts().longest_ns, static_cast<uint64_t>(LaunchGate::kLongestPark_ns / 2));
}

// The promise itself: between shut() and open() no thread is inside a launch.
TEST(LaunchGate, NoLaunchIsUnderWayBehindItWithSixteenThreads) {
  LaunchGate gate;
  std::atomic<bool> ends{false};
  std::atomic<int> launching{0};
  std::atomic<uint64_t> launches{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        gate.enter(of_this_thread(), kSession);
        launching.fetch_add(1);
        launches.fetch_add(1);
        launching.fetch_sub(1);
        gate.leave(of_this_thread());
      }
    });
  }
  int shut = 0;
  // Threads may take a while to begin.
  while (shut < 300 || (gate.counts().held == 0 && shut < 1'000'000)) {
    if (!gate.shut(kSession, kPatience)) break;
    ++shut;
    const uint64_t before = launches;
    EXPECT_EQ(launching, 0);
    std::this_thread::yield();
    EXPECT_EQ(launches, before);
    gate.open();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(shut, 300);
  EXPECT_GT(gate.counts().held, 0u);
}

}  // namespace
}  // namespace gpufl::backend
