// SPDX-License-Identifier: Apache-2.0
#include "base/thread_rings.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gpufl::base {
namespace {

// Each test has rings of its own sort: they are never freed.
template <int kTest>
struct Number {
  uint64_t value;
};
template <int kTest>
using Rings = ThreadRings<EventRing<Number<kTest>>>;

template <int kTest>
bool push(uint32_t session, uint64_t value) {
  auto* ring = Rings<kTest>::of_thread(session);
  if (ring == nullptr) return false;
  ring->enter_session(session);
  Number<kTest>* slot = ring->claim_slot();
  if (slot == nullptr) return false;
  slot->value = value;
  ring->publish();
  return true;
}

template <typename Ring>
std::vector<uint64_t> drained(Ring& ring) {
  std::vector<uint64_t> values;
  ring.drain_until(ring.published(), [&](const auto& event) { values.push_back(event.value); });
  return values;
}

TEST(ThreadRings, KeepsTheOrderAndGrowsUntilItIsFull) {
  constexpr uint32_t kAll = EventRing<Number<0>>::kEvents;
  for (uint32_t i = 0; i < kAll; ++i) ASSERT_TRUE(push<0>(1, i));
  EXPECT_FALSE(push<0>(1, kAll));
  auto& ring = *Rings<0>::at(0);
  EXPECT_EQ(ring.dropped(), 1U);
  EXPECT_EQ(ring.capacity(), kAll);
  const std::vector<uint64_t> values = drained(ring);
  ASSERT_EQ(values.size(), kAll);
  for (uint32_t i = 0; i < kAll; ++i) ASSERT_EQ(values[i], i);
  EXPECT_TRUE(push<0>(1, 7));
  EXPECT_EQ(drained(ring), (std::vector<uint64_t>{7}));
  EXPECT_TRUE(push<0>(2, 8));  // a new session begins small
  EXPECT_EQ(ring.capacity(), EventRing<Number<0>>::kFirstEvents);
}

TEST(ThreadRings, AnotherThreadGetsTheRingOfOneThatEnded) {
  std::thread([] { push<1>(1, 1); }).join();
  std::thread([] { push<1>(1, 2); }).join();
  EXPECT_EQ(Rings<1>::count(), 2U) << "the first ring has not been read yet";
  using Ring = EventRing<Number<1>>;
  Rings<1>::for_each([](Ring& ring) {
    EXPECT_EQ(ring.state(), Ring::State::Exited);
    EXPECT_EQ(drained(ring).size(), 1U);
    ring.make_free(1);
  });
  std::thread([] { push<1>(1, 3); }).join();
  EXPECT_EQ(Rings<1>::count(), 2U);
  EXPECT_EQ(drained(*Rings<1>::at(0)), (std::vector<uint64_t>{3}));
}

TEST(ThreadRings, WhatTheLastSessionLeftIsVoid) {
  ASSERT_TRUE(push<2>(1, 1));
  Rings<2>::start_anew();
  ASSERT_TRUE(push<2>(2, 2));
  EXPECT_EQ(drained(*Rings<2>::at(0)), (std::vector<uint64_t>{2}));
}

TEST(ThreadRings, MoreThreadsThanRingsAreCounted) {
  constexpr uint32_t kTooMany = Rings<3>::kMaxRings + 2;
  for (uint32_t i = 0; i < kTooMany; ++i) {
    std::thread([] { push<3>(1, 1); }).join();  // not read, so no ring becomes free
  }
  EXPECT_EQ(Rings<3>::count(), Rings<3>::kMaxRings);
  EXPECT_EQ(Rings<3>::ringless_drops(), 2U);
}

TEST(ThreadRings, WaitsUntilThreadsAreOutside) {
  EXPECT_TRUE(Rings<4>::wait_until_outside());
  std::atomic<int> step{0};
  std::thread inside([&] {
    auto* ring = Rings<4>::of_thread(1);
    ring->enter();
    step = 1;
    while (step != 2) std::this_thread::yield();
    ring->leave();
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_FALSE(Rings<4>::wait_until_outside()) << "it does not come out";
  step = 2;
  inside.join();
  EXPECT_TRUE(Rings<4>::wait_until_outside());
}

TEST(ThreadRings, AConsumerReadsWhileAProducerWrites) {
  constexpr uint64_t kEvents = 200'000;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (uint64_t i = 0; i < kEvents; ++i) push<5>(1, i);
    done = true;
  });
  uint64_t taken = 0, last = 0;
  const auto read = [&] {
    Rings<5>::for_each([&](EventRing<Number<5>>& ring) {
      ring.drain_until(ring.published(), [&](const Number<5>& event) {
        ASSERT_TRUE(taken == 0 || event.value > last);
        last = event.value;
        ++taken;
      });
    });
  };
  while (!done) read();
  producer.join();
  read();
  EXPECT_EQ(taken + Rings<5>::at(0)->dropped(), kEvents);
}

}  // namespace
}  // namespace gpufl::base
