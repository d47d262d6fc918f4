// SPDX-License-Identifier: Apache-2.0
#include "net/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/eventually.hpp"
#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

TEST(WorkerPool, DoesJobsInOrder) {
  std::string done;
  {
    Gate gate;
    WorkerPool pool(1, 10);
    ASSERT_TRUE(pool.offer([&] { gate.pass(); }));
    for (const char c : {'a', 'b', 'c'}) ASSERT_TRUE(pool.offer([&, c] { done += c; }));
    gate.open();
    EXPECT_TRUE(base::eventually([&] { return pool.waiting() == 0; }));
  }
  EXPECT_EQ(done, "abc");
}

TEST(WorkerPool, TakesNoMoreThanItsBound) {
  Gate gate;
  std::atomic<int> done = 0;
  WorkerPool pool(1, 2);
  ASSERT_TRUE(pool.offer([&] { gate.pass(); }));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  EXPECT_TRUE(pool.offer([&] { ++done; }));
  EXPECT_TRUE(pool.offer([&] { ++done; }));
  EXPECT_FALSE(pool.offer([&] { ++done; }));
  pool.add([&] { ++done; });
  EXPECT_EQ(pool.waiting(), 3u);
  gate.open();
  EXPECT_TRUE(base::eventually([&] { return done == 3; }));
}

TEST(WorkerPool, SaysWhatHasNotEndedInTime) {
  Gate gate;
  const auto held = std::make_shared<int>(0);
  WorkerPool pool(2, 10);
  ASSERT_TRUE(pool.offer([&gate, held] { gate.pass(); }));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  EXPECT_EQ(pool.running(), 1u);
  EXPECT_EQ(pool.stop_within(std::chrono::milliseconds(1)), 1u);
  EXPECT_FALSE(pool.offer([] {}));
  gate.open();
  EXPECT_EQ(pool.stop_within(std::chrono::minutes(1)), 0u);
  EXPECT_EQ(held.use_count(), 1) << "what a job holds is gone when it has ended";
}

TEST(WorkerPool, ForgetsWhatWaitsWhenItStops) {
  Gate gate;
  std::atomic<int> done = 0;
  const auto held = std::make_shared<int>(0);
  WorkerPool pool(1, 10);
  ASSERT_TRUE(pool.offer([&] { gate.pass(); }));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  ASSERT_TRUE(pool.offer([&, held] { ++done; }));
  std::thread stopping([&] { pool.stop(); });
  EXPECT_TRUE(base::eventually([&] { return held.use_count() == 1; }));
  EXPECT_FALSE(pool.offer([&] { ++done; }));
  gate.open();
  stopping.join();
  pool.stop();
  pool.add([&] { ++done; });
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace gpufl::net
