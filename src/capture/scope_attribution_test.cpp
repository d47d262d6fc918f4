// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <barrier>
#include <gpufl/scope.hpp>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "capture/fake_log_writer.hpp"
#include "capture/scope_collector.hpp"
#include "capture/scope_recorder.hpp"

// Calls find the scope they were made in: scopes recorded by real threads, drained, then asked for.
namespace gpufl::capture {
namespace {

// Where and when a call was made, as a vendor's record tells it.
struct Call {
  int64_t thread, time_ns;
};

class ScopeAttribution : public testing::Test {
 protected:
  ScopeAttribution() : session_(scope_recorder::attach()) {
    EXPECT_NE(session_, 0u);
    scope_recorder::start_recording(session_);
  }
  ~ScopeAttribution() override {
    scope_recorder::stop_recording();
    scope_recorder::release();
  }

  Call call() const { return {gettid(), base::monotonic_ns() - start_ns_}; }
  // "outer", "outer (inherited)" or "" for none.
  std::string scope_of(const Call& call) {
    const backend::ScopeRef ref = collector_.scope_at(call.thread, call.time_ns);
    if (ref.scope == 0) return ref.inherited ? "none (inherited)" : "";
    collector_.announce_open();
    for (const auto& row : log_.rows(format::Kind::Scope)) {
      if (row[format::scope_column::kId] == ref.scope) {
        return text(row[format::scope_column::kName], ref.inherited);
      }
    }
    for (const auto& row : log_.rows(format::Kind::ScopeOpen)) {
      if (row[format::scope_open_column::kId] == ref.scope) {
        return text(row[format::scope_open_column::kName], ref.inherited);
      }
    }
    return "not in the log";
  }
  std::string text(int64_t name, bool inherited) const {
    return log_.text(format::Dict::Name, name) + (inherited ? " (inherited)" : "");
  }

  FakeLogWriter log_;
  const uint32_t session_;
  const int64_t start_ns_ = base::monotonic_ns();
  ScopeCollector collector_{log_, session_, start_ns_, true};
};

TEST_F(ScopeAttribution, Nested) {
  const Call before = call();
  Call in_outer, in_inner, in_outer_again;
  GFL_SCOPE("outer") {
    in_outer = call();
    GFL_SCOPE("inner") { in_inner = call(); }
    in_outer_again = call();
  }
  const Call after = call();
  collector_.drain();
  EXPECT_EQ(scope_of(before), "");
  EXPECT_EQ(scope_of(in_outer), "outer");
  EXPECT_EQ(scope_of(in_inner), "inner");
  EXPECT_EQ(scope_of(in_outer_again), "outer");
  EXPECT_EQ(scope_of(after), "");
}

TEST_F(ScopeAttribution, OpenScopesHoldToo) {
  ScopedMonitor outer("outer");
  const Call early = call();
  ScopedMonitor opened_after_the_call("inner");
  collector_.drain();
  EXPECT_EQ(scope_of(early), "outer");
  EXPECT_EQ(scope_of(call()), "inner");
}

TEST_F(ScopeAttribution, BoundariesAreExact) {
  GFL_SCOPE("work") {}
  collector_.drain();
  const auto row = log_.rows(format::Kind::Scope).at(0);
  const int64_t start = row[format::scope_column::kStart];
  const int64_t end = start + row[format::scope_column::kDuration];
  ASSERT_GT(end, start);
  EXPECT_EQ(scope_of({gettid(), start - 1}), "");
  EXPECT_EQ(scope_of({gettid(), start}), "work");
  EXPECT_EQ(scope_of({gettid(), end - 1}), "work");
  EXPECT_EQ(scope_of({gettid(), end}), "");
}

TEST_F(ScopeAttribution, EndsOutOfOrder) {
  auto a = std::make_unique<ScopedMonitor>("a");
  auto b = std::make_unique<ScopedMonitor>("b");
  a.reset();
  const Call in_b = call();
  auto c = std::make_unique<ScopedMonitor>("c");
  b.reset();
  const Call in_c = call();
  c.reset();
  const Call after = call();
  collector_.drain();
  EXPECT_EQ(scope_of(in_b), "b");
  EXPECT_EQ(scope_of(in_c), "c");
  EXPECT_EQ(scope_of(after), "");
}

TEST_F(ScopeAttribution, EndedByAnotherThread) {
  ScopedMonitor outer("outer");
  auto handed_over = std::make_unique<ScopedMonitor>("handed over");
  const Call inside = call();
  Call by_the_other;
  std::thread([&] {
    by_the_other = call();
    handed_over.reset();
  }).join();
  const Call after = call();
  collector_.drain();
  EXPECT_EQ(scope_of(inside), "handed over");
  EXPECT_EQ(scope_of(by_the_other), "handed over (inherited)");
  EXPECT_EQ(scope_of(after), "outer");
}

// As PyTorch's backward pass: its threads open no scope of their own.
TEST_F(ScopeAttribution, ThreadsWithoutScopesInherit) {
  Call backward, backward_inner;
  GFL_SCOPE("step") {
    std::thread([&] { backward = call(); }).join();
    GFL_SCOPE("loss") {
      std::thread([&] { backward_inner = call(); }).join();
    }
  }
  Call later;
  std::thread([&] { later = call(); }).join();
  collector_.drain();
  EXPECT_EQ(scope_of(backward), "step (inherited)");
  EXPECT_EQ(scope_of(backward_inner), "loss (inherited)");
  EXPECT_EQ(scope_of(later), "");
}

TEST_F(ScopeAttribution, TwoThreadsWithScopesGiveNothingToAThird) {
  std::barrier meet(2);
  Call of_worker;
  std::thread worker([&] {
    GFL_SCOPE("worker") {
      of_worker = call();
      meet.arrive_and_wait();
      meet.arrive_and_wait();
    }
    meet.arrive_and_wait();
  });
  meet.arrive_and_wait();
  const Call mine_without = call();
  ScopedMonitor mine("mine");
  const Call mine_with = call();
  Call third;
  std::thread([&] { third = call(); }).join();
  meet.arrive_and_wait();
  meet.arrive_and_wait();
  const Call alone = {third.thread, call().time_ns};
  worker.join();
  collector_.drain();
  EXPECT_EQ(scope_of(of_worker), "worker");
  EXPECT_EQ(scope_of(mine_without), "worker (inherited)");
  EXPECT_EQ(scope_of(mine_with), "mine");
  EXPECT_EQ(scope_of(third), "");
  EXPECT_EQ(scope_of(alone), "mine (inherited)");
}

TEST_F(ScopeAttribution, AThreadThatEndsLeavesItsScopes) {
  Call inside;
  ScopedMonitor* left_open = nullptr;
  std::thread([&] {
    left_open = new ScopedMonitor("left open");
    inside = call();
  }).join();
  collector_.drain();
  EXPECT_EQ(scope_of(inside), "left open");
  EXPECT_EQ(scope_of({inside.thread, call().time_ns}), "");  // a new thread of the same id
  EXPECT_EQ(scope_of(call()), "");
  delete left_open;
}

TEST_F(ScopeAttribution, WhatADroppedScopeHeldBelongsToTheOneAround) {
  ScopedMonitor outer("outer");
  uint64_t opened = 0;
  while (collector_.dropped() == 0 && opened < ScopeRing::kEvents) {
    GFL_SCOPE("inner") { ++opened; }
  }
  ASSERT_GT(collector_.dropped(), 0u);
  Call inside;
  GFL_SCOPE("has no room") { inside = call(); }
  collector_.drain();
  EXPECT_EQ(scope_of(inside), "outer");
}

TEST_F(ScopeAttribution, ManyThreadsMeanwhile) {
  constexpr int kThreads = 4, kScopes = 2'000;
  std::vector<std::vector<Call>> calls(kThreads);
  std::atomic<int> running{kThreads};
  std::atomic<uint64_t> drains{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "of thread " + std::to_string(t);
      for (int i = 0; i < kScopes; ++i) {
        GFL_SCOPE(name) { calls[t].push_back(call()); }
        if (i % 200 != 0) continue;
        // No ring overflows, however slow the machine is.
        for (const uint64_t before = drains; drains < before + 2;) std::this_thread::yield();
      }
      --running;
    });
  }
  while (running > 0) {
    collector_.drain();
    ++drains;
  }
  for (std::thread& thread : threads) thread.join();
  collector_.drain();
  ASSERT_EQ(collector_.dropped(), 0u);
  std::map<int64_t, int64_t> names;
  for (const auto& row : log_.rows(format::Kind::Scope)) {
    names[row[format::scope_column::kId]] = row[format::scope_column::kName];
  }
  for (int t = 0; t < kThreads; ++t) {
    int64_t last = 0;
    for (const Call& one : calls[t]) {
      const backend::ScopeRef ref = collector_.scope_at(one.thread, one.time_ns);
      ASSERT_FALSE(ref.inherited);
      ASSERT_GT(ref.scope, last);  // each call has a scope of its own
      last = ref.scope;
      ASSERT_EQ(text(names.at(ref.scope), false), "of thread " + std::to_string(t));
    }
  }
  EXPECT_EQ(collector_.unknown(), 0u);
}

}  // namespace
}  // namespace gpufl::capture
