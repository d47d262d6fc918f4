// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_collector.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <gpufl/scope.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "capture/fake_log_writer.hpp"
#include "capture/scope_recorder.hpp"

namespace gpufl::capture {
namespace {

using format::ScopeEnding;
namespace column = format::scope_column;

class ScopeCollectorTest : public testing::Test {
 protected:
  ScopeCollectorTest() { attach(); }
  ~ScopeCollectorTest() override { detach(); }

  void attach() {
    session_ = scope_recorder::attach();
    ASSERT_NE(session_, 0u);
    collector_.emplace(log_, session_, base::monotonic_ns(), true);
    scope_recorder::start_recording(session_);
  }
  void detach() {
    scope_recorder::stop_recording();
    scope_recorder::release();
    collector_.reset();
  }
  std::string name(const std::vector<int64_t>& row) {
    return log_.text(format::Dict::Name, row[column::kName]);
  }
  std::vector<std::vector<int64_t>> ended() {
    collector_->drain();
    return log_.rows(format::Kind::Scope);
  }

  FakeLogWriter log_;
  uint32_t session_ = 0;
  std::optional<ScopeCollector> collector_;
};

ScopeEnding ending(const std::vector<int64_t>& row) {
  return static_cast<ScopeEnding>(row[column::kEnding]);
}

TEST_F(ScopeCollectorTest, CountsScopesThatAreMarkedDeep) {
  std::atomic<int32_t> deep{0};
  collector_->count_deep(deep);
  const auto now = [&] {
    collector_->drain();
    return deep.load();
  };
  auto outer = std::make_unique<ScopedMonitor>("outer", "tag", ScopeMeta{}.setDeep());
  ScopedMonitor shallow("shallow", ScopeMeta{}.setDeep(false));
  auto inner = std::make_unique<ScopedMonitor>("inner", ScopeMeta{}.setDeep().setRepeat(3));
  EXPECT_EQ(now(), 2);
  outer.reset();  // out of order
  EXPECT_EQ(now(), 1);
  std::thread([&] { inner.reset(); }).join();  // on another thread
  EXPECT_EQ(now(), 0);
  {
    ScopedMonitor brief("brief", ScopeMeta{}.setDeep());
  }
  EXPECT_EQ(now(), 0);
  std::unique_ptr<ScopedMonitor> lost;
  std::thread([&] {
    lost = std::make_unique<ScopedMonitor>("lost", ScopeMeta{}.setDeep());
  }).join();  // its thread ends
  EXPECT_EQ(now(), 0);
  ScopedMonitor last("last", ScopeMeta{}.setDeep());
  EXPECT_EQ(now(), 1);
  collector_->finish(0);  // the session ends
  EXPECT_EQ(deep, 0);
  const auto rows = log_.rows(format::Kind::Scope);
  EXPECT_EQ(log_.text(format::Dict::Name, rows[0][column::kTag]), "tag");
}

TEST_F(ScopeCollectorTest, OutermostScopesAreSteps) {
  std::vector<Step> steps;
  collector_->keep_steps(steps, 3);
  for (int i = 0; i < 5; ++i) {
    {
      ScopedMonitor brief("brief");
    }
    ScopedMonitor step("step");
    ScopedMonitor inner("inner");
    const int64_t begin_ns = base::monotonic_ns();
    while (base::monotonic_ns() - begin_ns < StepCost::kShortestStep_ns) {
    }
  }
  collector_->drain();
  ASSERT_EQ(steps.size(), 3u) << "no more than are wanted";
  for (const Step& step : steps) {
    EXPECT_EQ(log_.text(format::Dict::Name, step.name), "step");
    EXPECT_LE(step.begin_ns, step.end_ns);
  }
}

TEST_F(ScopeCollectorTest, NestsByThread) {
  {
    ScopedMonitor outer("outer");
    ScopedMonitor inner("inner", "tag", ScopeMeta{}.setRepeat(10).setWarmup(3));
  }
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 2u);
  const auto& inner = rows[0];
  const auto& outer = rows[1];
  EXPECT_EQ(name(inner), "inner");
  EXPECT_EQ(log_.text(format::Dict::Name, inner[column::kTag]), "tag");
  EXPECT_EQ(inner[column::kRepeat], 10);
  EXPECT_EQ(inner[column::kWarmup], 3);
  EXPECT_EQ(inner[column::kParent], outer[column::kId]);
  EXPECT_EQ(inner[column::kDepth], 1);
  EXPECT_EQ(name(outer), "outer");
  EXPECT_EQ(outer[column::kTag], 0);
  EXPECT_EQ(outer[column::kParent], 0);
  EXPECT_EQ(outer[column::kDepth], 0);
  EXPECT_EQ(outer[column::kThread], gettid());
  EXPECT_EQ(ending(outer), ScopeEnding::Normal);
  EXPECT_LE(outer[column::kStart], inner[column::kStart]);
  EXPECT_GE(outer[column::kStart] + outer[column::kDuration],
            inner[column::kStart] + inner[column::kDuration]);
}

TEST_F(ScopeCollectorTest, Depth16384InAnyCase) {
  constexpr int kDepth = 16384;
  std::vector<std::unique_ptr<ScopedMonitor>> open;
  for (int i = 0; i < kDepth; ++i) open.push_back(std::make_unique<ScopedMonitor>("level"));
  while (!open.empty()) open.pop_back();
  const auto rows = ended();
  ASSERT_EQ(rows.size(), static_cast<size_t>(kDepth));
  EXPECT_EQ(rows.front()[column::kDepth], kDepth - 1);
  EXPECT_EQ(rows.back()[column::kDepth], 0);
}

TEST_F(ScopeCollectorTest, LongNamesOfBenchmarksStayApart) {
  const std::string text(1000, 'n');
  for (const char last : {'a', 'b'}) {
    const std::string long_name = text + last;
    GFL_BENCH(long_name, ScopeMeta{}.setRepeat(1).setWarmup(1)){};
  }
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(name(rows[0]), text + "a_warmup");
  EXPECT_EQ(name(rows[2]), text + "b_warmup");
}

TEST_F(ScopeCollectorTest, OutOfOrderEnds) {
  auto a = std::make_unique<ScopedMonitor>("a");
  auto b = std::make_unique<ScopedMonitor>("b");
  a.reset();
  ScopedMonitor c("c");
  b.reset();
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(name(rows[0]), "a");
  EXPECT_EQ(ending(rows[0]), ScopeEnding::OutOfOrder);
  EXPECT_EQ(name(rows[1]), "b");
  EXPECT_EQ(ending(rows[1]), ScopeEnding::OutOfOrder);
}

TEST_F(ScopeCollectorTest, EndedByAnotherThread) {
  auto scope = std::make_unique<ScopedMonitor>("handed over");
  std::thread([&] { scope.reset(); }).join();
  ScopedMonitor next("next");  // begins after the other's end: not its child
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(name(rows[0]), "handed over");
  EXPECT_EQ(ending(rows[0]), ScopeEnding::OtherThread);
  EXPECT_EQ(rows[0][column::kThread], gettid());
  collector_->announce_open();
  const auto open = log_.rows(format::Kind::ScopeOpen);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0][format::scope_open_column::kParent], 0);
}

TEST_F(ScopeCollectorTest, ScopesHandedOverForEverNeverFillTheRing) {
  std::vector<std::unique_ptr<ScopedMonitor>> scopes;
  for (uint64_t i = 0; i < ScopeRing::kEvents * 2; i += 1000) {
    for (int k = 0; k < 1000; ++k) scopes.push_back(std::make_unique<ScopedMonitor>("handed"));
    std::thread([&] { scopes.clear(); }).join();
    collector_->drain();
  }
  EXPECT_EQ(collector_->dropped(), 0u);
  EXPECT_FALSE(scope_recorder::any_scope_open(session_));
}

TEST_F(ScopeCollectorTest, ThreadEndsInsideItsScope) {
  ScopedMonitor* left_open = nullptr;
  std::thread([&] { left_open = new ScopedMonitor("left open"); }).join();
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(ending(rows[0]), ScopeEnding::ThreadExit);
  EXPECT_EQ(collector_->unclosed(), 1u);
  delete left_open;  // too late: it has ended
  EXPECT_EQ(ended().size(), 1u);
}

TEST_F(ScopeCollectorTest, RingsOfEndedThreadsServeNewOnes) {
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      GFL_SCOPE("short") {}
    }).join();
    collector_->drain();
  }
  EXPECT_LE(scope_recorder::ring_count(), 10u);
  EXPECT_EQ(log_.rows(format::Kind::Scope).size(), 50u);
}

thread_local std::unique_ptr<ScopedMonitor> t_late;

TEST_F(ScopeCollectorTest, ScopesInDestructorsOfThreadLocals) {
  std::thread([] {
    t_late = std::make_unique<ScopedMonitor>("ends with its thread's locals");
  }).join();
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(ending(rows[0]), ScopeEnding::Normal);
}

TEST_F(ScopeCollectorTest, OpenAtShutdown) {
  ScopedMonitor outer("outer");
  ScopedMonitor inner("inner");
  collector_->drain();
  collector_->finish(123'456'789'000);
  const auto rows = log_.rows(format::Kind::Scope);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(name(rows[0]), "inner");
  EXPECT_EQ(ending(rows[0]), ScopeEnding::Shutdown);
  EXPECT_EQ(rows[1][column::kStart] + rows[1][column::kDuration], 123'456'789'000);
  EXPECT_EQ(collector_->unclosed(), 2u);
}

TEST_F(ScopeCollectorTest, ScopeThatOutlivesItsSessionDoesNotEndInTheNext) {
  auto old = std::make_unique<ScopedMonitor>("of the first session");
  collector_->drain();
  detach();
  attach();
  EXPECT_FALSE(scope_recorder::any_scope_open(session_));
  old.reset();
  {
    ScopedMonitor fresh("of the second");
  }
  const auto rows = ended();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(name(rows[0]), "of the second");
}

TEST_F(ScopeCollectorTest, FullRingDropsWholeScopesAndCounts) {
  ScopedMonitor outer("outer");
  const uint64_t kTries = ScopeRing::kEvents;
  for (uint64_t i = 0; i < kTries; ++i) {
    GFL_SCOPE("inner") {}
  }
  EXPECT_GT(collector_->dropped(), 0u);
  const auto rows = ended();
  EXPECT_EQ(rows.size() + collector_->dropped(), kTries);
  for (const auto& row : rows) ASSERT_EQ(ending(row), ScopeEnding::Normal);
  {
    ScopedMonitor after("after");
  }
  EXPECT_EQ(name(ended().back()), "after");
}

TEST_F(ScopeCollectorTest, TagsBeyondTheBoundLeaveTheNamesAlone) {
  constexpr uint32_t kBeyond = 100;
  for (uint32_t i = 0; i < scope_recorder::kMaxTags + kBeyond; ++i) {
    ScopedMonitor scope("step", "batch_" + std::to_string(i));
    if (i % 100 == 0) collector_->drain();
  }
  EXPECT_EQ(collector_->names_overflowed(), kBeyond + base::Interner::kFirstFreeId);
  {
    ScopedMonitor scope("a new name", "batch_0");
  }
  EXPECT_EQ(name(ended().back()), "a new name");
}

TEST_F(ScopeCollectorTest, EverySessionHasRoomForItsNames) {
  for (uint32_t i = 0; i < scope_recorder::kMaxNames + 100; ++i) {
    const std::string text = "name " + std::to_string(i);
    GFL_SCOPE(text, text) {}
  }
  EXPECT_GT(collector_->names_overflowed(), 0u);
  detach();
  attach();
  GFL_SCOPE("of the next session", "its tag") {}
  const auto row = ended().back();
  EXPECT_EQ(name(row), "of the next session");
  EXPECT_EQ(log_.text(format::Dict::Name, row[column::kTag]), "its tag");
  EXPECT_EQ(collector_->names_overflowed(), 0u);
}

TEST_F(ScopeCollectorTest, SessionsChangeWhileThreadsOpenScopes) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; !stop; ++i) {
        const std::string text = "name " + std::to_string(i % 1000);
        GFL_SCOPE(text, text) {}
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    collector_->drain();
    detach();
    attach();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& row : ended()) {
    ASSERT_EQ(name(row), log_.text(format::Dict::Name, row[column::kTag]));
    ASSERT_EQ(name(row).rfind("name ", 0), 0u);
  }
}

// Threads that each fill a ring and live until the end.
class BusyThreads {
 public:
  explicit BusyThreads(int count) : done_(count + 1), leave_(count + 1) {
    for (int t = 0; t < count; ++t) {
      threads_.emplace_back([this] {
        for (uint32_t i = 0; i < ScopeRing::kEvents; ++i) GFL_SCOPE("busy") {
          }
        done_.arrive_and_wait();
        leave_.arrive_and_wait();
      });
    }
    done_.arrive_and_wait();
  }
  ~BusyThreads() {
    leave_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::barrier<> done_, leave_;
  std::vector<std::thread> threads_;
};

TEST_F(ScopeCollectorTest, RingsShareABoundedMemory) {
  constexpr int kThreads = 60;
  const auto grown = [] {
    int64_t events = 0;
    for (uint32_t i = 0; i < scope_recorder::ring_count(); ++i) {
      events += scope_recorder::ring(i)->capacity() - ScopeRing::kFirstEvents;
    }
    return events;
  };
  for (int round = 0; round < 2; ++round) {
    {
      BusyThreads threads(kThreads);
      EXPECT_GT(grown(), ScopeRing::kSharedEvents / 2);
      EXPECT_LE(grown(), ScopeRing::kSharedEvents + ScopeRing::kEvents * 4);
      EXPECT_GT(collector_->dropped(), 0u);
    }
    collector_->drain();
    EXPECT_EQ(grown(), 0);
  }
  BusyThreads threads(kThreads);
  detach();  // with the threads alive
  attach();
  GFL_SCOPE("mine") {}
  EXPECT_EQ(name(ended().back()), "mine");
}

TEST_F(ScopeCollectorTest, OpenScopesAreToldOnceAndAgainAfterRotation) {
  ScopedMonitor outer("outer");
  collector_->drain();
  collector_->announce_open();
  collector_->announce_open();
  EXPECT_EQ(log_.rows(format::Kind::ScopeOpen).size(), 1u);
  collector_->restate_open();
  collector_->announce_open();
  const auto rows = log_.rows(format::Kind::ScopeOpen);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], rows[1]);
}

TEST_F(ScopeCollectorTest, PollersSeeOpenScopes) {
  EXPECT_FALSE(scope_recorder::any_scope_open(session_));
  {
    ScopedMonitor scope("open");
    EXPECT_TRUE(scope_recorder::any_scope_open(session_));
  }
  EXPECT_FALSE(scope_recorder::any_scope_open(session_));
}

TEST_F(ScopeCollectorTest, OneOwnerAtATime) { EXPECT_EQ(scope_recorder::attach(), 0u); }

TEST_F(ScopeCollectorTest, DrainsWhileThreadsRecord) {
  constexpr int kThreads = 4, kScopes = 20'000;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kScopes; ++i) {
        GFL_SCOPE("outer") {
          GFL_SCOPE("inner", "tag") {}
        }
        if (i % 1000 == 0) std::this_thread::yield();
      }
      --running;
    });
  }
  while (running > 0) collector_->drain();
  for (std::thread& thread : threads) thread.join();
  const auto rows = ended();
  EXPECT_EQ(rows.size() + collector_->dropped(), uint64_t{kThreads} * kScopes * 2);
  for (const auto& row : rows) ASSERT_EQ(ending(row), ScopeEnding::Normal);
}

TEST(ScopeRecorder, NothingIsRecordedWithoutASession) {
  const uint32_t session = scope_recorder::attach();
  FakeLogWriter log;
  ScopeCollector collector(log, session, base::monotonic_ns(), true);
  {
    ScopedMonitor scope("not started");
  }
  scope_recorder::start_recording(session);
  scope_recorder::stop_recording();
  {
    ScopedMonitor scope("stopped");
  }
  collector.drain();
  EXPECT_TRUE(log.rows(format::Kind::Scope).empty());
  scope_recorder::release();
}

}  // namespace
}  // namespace gpufl::capture
