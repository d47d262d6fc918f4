// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/eventually.hpp"

namespace gpufl::capture {
namespace {

using base::eventually;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class StubHealth final : public backend::HealthSource {
 public:
  std::vector<backend::DeviceFacts> devices() override { return {}; }
  void sample_fast(std::vector<backend::MetricValue>& out) override {
    const auto until = Clock::now() + fast_takes;
    while (Clock::now() < until && !give_up) std::this_thread::sleep_for(1ms);
    out.push_back({0, 0, "power_mw", ++fast_calls});
  }
  void sample_slow(std::vector<backend::MetricValue>& out, std::vector<backend::ProcessUse>&,
                   std::vector<backend::DeviceEvent>& events) override {
    ++slow_calls;
    const auto until = Clock::now() + slow_takes;
    while (Clock::now() < until && !give_up) std::this_thread::sleep_for(1ms);
    out.push_back({0, 0, "pcie_tx_bytes_per_s", 1});
    events.push_back({0, "xid", 79, "fell off the bus"});
  }

  std::chrono::milliseconds fast_takes{0};
  std::chrono::milliseconds slow_takes{0};
  std::atomic<int> fast_calls{0};
  std::atomic<int> slow_calls{0};
  std::atomic<bool> give_up{false};
};

// Until nothing was read for many times the interval of these tests.
bool becomes_idle(const StubHealth& health) {
  return eventually([&] {
    const int before = health.fast_calls;
    std::this_thread::sleep_for(60ms);
    return health.fast_calls == before;
  });
}

SamplerConfig every(int interval_ms) {
  SamplerConfig config;
  config.session_start_ns = base::monotonic_ns();
  config.interval_ms = interval_ms;
  return config;
}

TEST(Sampler, ContinuousSamplesEverything) {
  auto health = std::make_shared<StubHealth>();
  SamplerConfig config = every(5);
  config.continuous = true;
  Sampler sampler(config, health);
  ASSERT_TRUE(sampler.start());
  ASSERT_TRUE(eventually([&] { return health->fast_calls >= 5 && health->slow_calls >= 1; }));
  ASSERT_TRUE(eventually([&] { return !sampler.board().recent_events.empty(); }));
  EXPECT_TRUE(sampler.stop());
  const MetricBoard board = sampler.board();
  EXPECT_GE(board.samples_taken, 5u);
  EXPECT_EQ(board.device_values.size(), 2u);
  EXPECT_FALSE(board.host_values.empty());
  ASSERT_EQ(board.event_counts.size(), 1u);
  EXPECT_EQ(board.event_counts[0].first, "xid");
  const auto samples = sampler.take();
  ASSERT_GE(samples.size(), 6u);
  EXPECT_TRUE(sampler.take().empty());
}

TEST(Sampler, SlowReadingsNeverDelayQuickOnes) {
  auto health = std::make_shared<StubHealth>();
  health->slow_takes = 10min;
  SamplerConfig config = every(5);
  config.continuous = true;
  Sampler sampler(config, health);
  ASSERT_TRUE(sampler.start());
  EXPECT_TRUE(eventually([&] { return health->slow_calls == 1 && health->fast_calls >= 20; }));
  health->give_up = true;
  EXPECT_TRUE(sampler.stop());
}

TEST(Sampler, DriverThatHangsIsLeftBehind) {
  auto health = std::make_shared<StubHealth>();
  health->slow_takes = 10min;
  SamplerConfig config = every(5);
  config.continuous = true;
  {
    Sampler sampler(config, health);
    ASSERT_TRUE(sampler.start());
    ASSERT_TRUE(eventually([&] { return health->slow_calls == 1; }));
    EXPECT_FALSE(sampler.stop());
  }
  health->give_up = true;
  EXPECT_TRUE(eventually([&] { return health.use_count() == 1; }));
}

TEST(Sampler, QuickReadingThatHangsIsCountedAndStopsNothingElse) {
  auto health = std::make_shared<StubHealth>();
  health->fast_takes = 10min;
  SamplerConfig config = every(5);
  config.continuous = true;
  {
    Sampler sampler(config, health);
    ASSERT_TRUE(sampler.start());
    uint64_t of_host = 0;
    EXPECT_TRUE(eventually([&] {
      for (const Sample& sample : sampler.take()) of_host += sample.host_values.empty() ? 0 : 1;
      return of_host >= 20;
    }));
    EXPECT_TRUE(eventually([&] { return sampler.samples_missed() >= 10; }));
    EXPECT_FALSE(sampler.stop());
    EXPECT_EQ(sampler.stuck(), 1u);
    EXPECT_EQ(sampler.samples_taken(), 0u);
    EXPECT_GE(sampler.samples_missed(), 12u);
    // The session is over: nothing more is owed.
    const uint64_t missed = sampler.samples_missed();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(sampler.samples_missed(), missed);
  }
  health->give_up = true;
  EXPECT_TRUE(eventually([&] { return health.use_count() == 1; }));
}

TEST(Sampler, MissedTicksAreCountedNotBunched) {
  auto health = std::make_shared<StubHealth>();
  health->fast_takes = 35ms;  // three ticks of ten pass during each
  SamplerConfig config = every(10);
  config.continuous = true;
  Sampler sampler(config, health);
  ASSERT_TRUE(sampler.start());
  ASSERT_TRUE(eventually([&] { return sampler.samples_taken() >= 5; }));
  EXPECT_TRUE(sampler.stop());
  EXPECT_GE(sampler.samples_missed(), 2 * (sampler.samples_taken() - 1));
  const auto samples = sampler.take();
  int64_t last_ns = -1'000'000'000;
  for (const Sample& sample : samples) {
    if (sample.device_values.empty() || !sample.events.empty()) continue;
    EXPECT_GE(sample.time_ns - last_ns, 30'000'000);
    last_ns = sample.time_ns;
  }
}

TEST(Sampler, IdleUntilWanted) {
  auto health = std::make_shared<StubHealth>();
  std::atomic<bool> wanted{false};
  SamplerConfig config = every(5);
  config.wanted = [&] { return wanted.load(); };
  Sampler sampler(config, health);
  ASSERT_TRUE(sampler.start());
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(health->fast_calls, 0);
  EXPECT_EQ(health->slow_calls, 0);
  // Idle time is not missed time. However busy the machine is, no more ticks can be missed than
  // there were in between.
  Clock::duration active{0};
  for (int round = 0; round < 2; ++round) {
    const auto begin = Clock::now();
    const int calls = health->fast_calls, slow_calls = health->slow_calls;
    wanted = true;
    EXPECT_TRUE(eventually(
        [&] { return health->fast_calls > calls + 2 && health->slow_calls > slow_calls; }));
    wanted = false;
    EXPECT_TRUE(becomes_idle(*health));
    active += Clock::now() - begin;
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_TRUE(sampler.stop());
  EXPECT_LE(sampler.samples_missed(), static_cast<uint64_t>(active / 5ms));
}

TEST(Sampler, HoldsNest) {
  auto health = std::make_shared<StubHealth>();
  Sampler sampler(every(5), health);
  ASSERT_TRUE(sampler.start());
  sampler.hold();
  sampler.hold();
  sampler.let_go();
  EXPECT_TRUE(eventually([&] { return health->fast_calls > 2; }));
  sampler.let_go();
  EXPECT_TRUE(becomes_idle(*health));
}

TEST(Sampler, HostOnlyWithoutHealth) {
  SamplerConfig config = every(5);
  config.continuous = true;
  Sampler sampler(config, nullptr);
  ASSERT_TRUE(sampler.start());
  EXPECT_TRUE(eventually([&] { return !sampler.board().host_values.empty(); }));
  EXPECT_TRUE(sampler.board().device_values.empty());
}

}  // namespace
}  // namespace gpufl::capture
