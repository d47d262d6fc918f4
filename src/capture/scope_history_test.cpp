// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/clock.hpp"

namespace gpufl::capture {
namespace {

using backend::ScopeRef;

// EXPECT_EQ needs both.
std::pair<int64_t, bool> as_pair(const ScopeRef& ref) { return {ref.scope, ref.inherited}; }
std::pair<int64_t, bool> own(int64_t scope) { return {scope, false}; }
std::pair<int64_t, bool> inherited(int64_t scope) { return {scope, true}; }
const std::pair<int64_t, bool> kNone{0, false};

TEST(ChangeHistory, HoldsUntilTheNextChange) {
  ChangeHistory::Budget budget = 0;
  ChangeHistory history(budget);
  EXPECT_EQ(history.at(5), 0);
  history.add(10, 1);
  history.add(20, 2);
  EXPECT_EQ(history.at(9), 0);
  EXPECT_EQ(history.at(10), 1);
  EXPECT_EQ(history.at(19), 1);
  EXPECT_EQ(history.at(20), 2);
  EXPECT_EQ(history.at(INT64_MAX), 2);
  history.add(30, 3);  // what was the newest is so no more
  EXPECT_EQ(history.at(30), 3);
  EXPECT_EQ(history.at(29), 2);
  history.add(15, 4);  // late
  EXPECT_EQ(history.at(14), 1);
  EXPECT_EQ(history.at(19), 4);
  EXPECT_EQ(history.at(20), 2);
}

TEST(ChangeHistory, WithoutBudgetTheOldestIsForgottenAndNothingElse) {
  ChangeHistory::Budget budget = ChangeHistory::kFirst;  // may double once
  ChangeHistory history(budget);
  constexpr int64_t kKept = 2 * ChangeHistory::kFirst, kAdded = 1000;
  for (int64_t i = 1; i <= kAdded; ++i) history.add(i * 10, i);
  EXPECT_EQ(budget, 0u);
  for (int64_t i = 1; i <= kAdded; ++i) {
    if (i <= kAdded - kKept) {
      ASSERT_EQ(history.at(i * 10), std::nullopt) << i;
    } else {
      ASSERT_EQ(history.at(i * 10 + 9), i);
    }
  }
  history.add(5, 77);  // of the forgotten part: still unknown, and nothing else moves
  EXPECT_EQ(history.at(6), std::nullopt);
  EXPECT_EQ(history.at((kAdded - kKept + 1) * 10), kAdded - kKept + 1);
}

TEST(ChangeHistory, WhatIsOldGivesWayBeforeBudgetIsUsed) {
  ChangeHistory::Budget budget = 1 << 20;
  ChangeHistory history(budget);
  constexpr int64_t kStep = ChangeHistory::kKeepNs / 8;
  for (int64_t i = 1; i <= 1000; ++i) history.add(i * kStep, i);
  EXPECT_EQ(budget, size_t{1} << 20);
  EXPECT_EQ(history.at(1000 * kStep - ChangeHistory::kKeepNs), 992);
}

TEST(ChangeHistory, GivesItsBudgetBack) {
  ChangeHistory::Budget budget = 1 << 20;
  {
    ChangeHistory history(budget);
    for (int64_t i = 1; i <= 1000; ++i) history.add(i, i);
    EXPECT_LT(budget, size_t{1} << 20);
  }
  EXPECT_EQ(budget, size_t{1} << 20);
}

class ScopeHistoryTest : public testing::Test {
 protected:
  std::pair<int64_t, bool> at(int64_t thread, int64_t time_ns) {
    return as_pair(history_.at(thread, time_ns));
  }
  ScopeHistory history_;
};

TEST_F(ScopeHistoryTest, AThreadWithoutScopeInheritsFromTheOnlyOneThatHasOne) {
  auto& one = history_.enter(1);
  auto& two = history_.enter(2);
  history_.change(one, 10, 0, 100);
  history_.change(one, 20, 100, 101);
  history_.change(two, 30, 0, 200);
  history_.change(one, 40, 101, 0);
  history_.change(two, 50, 200, 0);
  history_.settle(60);
  EXPECT_EQ(at(1, 9), kNone);
  EXPECT_EQ(at(1, 10), own(100));
  EXPECT_EQ(at(9, 10), inherited(100));
  EXPECT_EQ(at(2, 10), inherited(100));
  EXPECT_EQ(at(9, 20), inherited(101));
  EXPECT_EQ(at(9, 30), kNone);  // two have one
  EXPECT_EQ(at(1, 30), own(101));
  EXPECT_EQ(at(2, 30), own(200));
  EXPECT_EQ(at(9, 40), inherited(200));
  EXPECT_EQ(at(1, 40), inherited(200));
  EXPECT_EQ(at(9, 49), inherited(200));
  EXPECT_EQ(at(9, 50), kNone);
  EXPECT_EQ(history_.unknown(), 0u);
}

TEST_F(ScopeHistoryTest, AnyScopeIsOpenWhileOneThreadHasOne) {
  auto& one = history_.enter(1);
  auto& two = history_.enter(2);
  history_.change(one, 10, 0, 100);
  history_.change(two, 15, 0, 200);
  history_.change(one, 20, 100, 0);
  history_.change(two, 30, 200, 0);
  history_.settle(40);
  for (const auto& [time_ns, is_open] : std::map<int64_t, bool>{
           {9, false}, {10, true}, {15, true}, {20, true}, {29, true}, {30, false}}) {
    EXPECT_EQ(history_.is_any_open(time_ns, time_ns + 1), is_open) << time_ns;
  }
  EXPECT_EQ(history_.unknown(), 0u);
}

TEST_F(ScopeHistoryTest, AScopeWithinAnIntervalIsOpenInIt) {
  auto& one = history_.enter(1);
  for (const int64_t begin_ns : {12, 32}) {
    history_.change(one, begin_ns, 0, 100);
    history_.change(one, begin_ns + 1, 100, 0);
  }
  history_.settle(60);
  EXPECT_TRUE(history_.is_any_open(10, 20)) << "before it there was none";
  EXPECT_FALSE(history_.is_any_open(13, 20));
  EXPECT_FALSE(history_.is_any_open(20, 30));
  EXPECT_FALSE(history_.is_any_open(20, 32)) << "the end is excluded";
  EXPECT_TRUE(history_.is_any_open(20, 33));
  EXPECT_TRUE(history_.is_any_open(30, 40)) << "between others";
  EXPECT_FALSE(history_.is_any_open(33, 1000));
  EXPECT_FALSE(history_.is_any_open(0, 12));
  EXPECT_EQ(history_.unknown(), 0u);
}

TEST_F(ScopeHistoryTest, ThreadsAreReadOneAfterTheOther) {
  auto& one = history_.enter(1);
  auto& two = history_.enter(2);
  history_.change(two, 15, 0, 200);  // first all of one ring, then all of the next
  history_.change(two, 18, 200, 0);
  history_.change(one, 10, 0, 100);
  history_.change(one, 20, 100, 0);
  history_.change(one, 95, 0, 101);  // behind the mark: another ring may have something earlier
  history_.settle(90);
  history_.change(two, 92, 0, 201);
  history_.change(two, 94, 201, 0);
  history_.settle(100);
  EXPECT_EQ(at(9, 14), inherited(100));
  EXPECT_EQ(at(9, 15), kNone);
  EXPECT_EQ(at(9, 18), inherited(100));
  EXPECT_EQ(at(9, 92), inherited(201));
  EXPECT_EQ(at(9, 94), kNone);
  EXPECT_EQ(at(9, 95), inherited(101));
}

TEST_F(ScopeHistoryTest, AnIdIsUsedAgain) {
  auto& later = history_.enter(7);  // its ring is read first
  history_.change(later, 30, 0, 300);
  auto& earlier = history_.enter(7);
  history_.change(earlier, 10, 0, 100);
  history_.change(earlier, 20, 100, 0);
  history_.leave(earlier);
  history_.settle(40);
  EXPECT_EQ(at(7, 10), own(100));
  EXPECT_EQ(at(7, 20), kNone);
  EXPECT_EQ(at(9, 25), kNone);
  EXPECT_EQ(at(7, 30), own(300));
  EXPECT_EQ(at(9, 30), inherited(300));
}

TEST_F(ScopeHistoryTest, ThreadsComeAndGoForEver) {
  constexpr int64_t kThreads = 20'000;
  for (int64_t i = 1; i <= kThreads; ++i) {
    auto& thread = history_.enter(i);
    history_.change(thread, i * 10, 0, i);
    history_.change(thread, i * 10 + 5, i, 0);
    history_.leave(thread);
    history_.settle(i * 10 + 6);
  }
  EXPECT_EQ(at(kThreads, kThreads * 10), own(kThreads));
  EXPECT_EQ(at(9'999'999, kThreads * 10), inherited(kThreads));
  EXPECT_EQ(history_.unknown(), 0u);
  EXPECT_EQ(at(1, 10), kNone);  // forgotten, not "none": it is counted
  EXPECT_EQ(at(9'999'999, 10), kNone);
  EXPECT_EQ(history_.unknown(), 2u);
}

TEST_F(ScopeHistoryTest, MoreChangesThanFit) {
  auto& thread = history_.enter(1);
  constexpr int64_t kScopes = 1 << 20;
  for (int64_t i = 1; i <= kScopes; ++i) {
    history_.change(thread, i * 10, 0, i);
    history_.change(thread, i * 10 + 5, i, 0);
    if (i % 1000 == 0) history_.settle(i * 10 + 6);
  }
  history_.settle(kScopes * 10 + 6);
  EXPECT_EQ(at(1, kScopes * 10), own(kScopes));
  EXPECT_EQ(at(2, kScopes * 10 + 4), inherited(kScopes));
  EXPECT_EQ(at(1, (kScopes - 10'000) * 10), own(kScopes - 10'000));
  EXPECT_EQ(history_.unknown(), 0u);
  EXPECT_EQ(at(1, 10), kNone);
  EXPECT_EQ(history_.unknown(), 1u);
}

// Scopes of a few threads, made at random, in any nesting; the model looks through all of them.
class Model {
 public:
  explicit Model(uint32_t seed) : random_(seed) {}

  void act() {
    now_ns_ += below(3);
    const int64_t thread = 1 + below(kThreads);
    auto& open = open_[thread];
    const int64_t before = open.empty() ? 0 : open.back();
    if (open.empty() || below(2) == 0) {
      scopes_.push_back({thread, now_ns_, INT64_MAX, next_order_++});
      open.push_back(static_cast<int64_t>(scopes_.size()));
    } else {  // mostly the innermost, but not always
      const auto depth = static_cast<int64_t>(open.size());
      const auto which = open.begin() + (below(4) == 0 ? below(depth) : depth - 1);
      scopes_[static_cast<size_t>(*which - 1)].end_ns = now_ns_;
      open.erase(which);
    }
    changes_[thread].push_back({now_ns_, before, open.empty() ? 0 : open.back()});
  }
  // As a drain does: ring after ring. Some rings have gone a little further than others.
  void deliver(ScopeHistory& history, bool all) {
    const int64_t mark_ns = all ? now_ns_ + 1 : now_ns_ - 20;
    for (int64_t thread = kThreads; thread >= 1; --thread) {
      const int64_t until_ns = all ? mark_ns : mark_ns + below(20);
      auto& changes = changes_[thread];
      if (changes.empty()) continue;
      if (!entered_.contains(thread)) entered_[thread] = &history.enter(thread);
      size_t taken = 0;
      for (; taken < changes.size() && changes[taken].time_ns < until_ns; ++taken) {
        const Change& one = changes[taken];
        history.change(*entered_[thread], one.time_ns, one.before, one.after);
      }
      changes.erase(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    history.settle(mark_ns);
  }
  std::pair<int64_t, bool> at(int64_t thread, int64_t time_ns) const {
    if (const int64_t scope = innermost(thread, time_ns)) return own(scope);
    int64_t found = 0;
    for (int64_t other = 1; other <= kThreads; ++other) {
      const int64_t scope = innermost(other, time_ns);
      if (scope != 0 && found != 0) return kNone;
      if (scope != 0) found = scope;
    }
    return {found, found != 0};
  }
  int64_t now_ns() const { return now_ns_; }
  int64_t below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }
  static constexpr int64_t kThreads = 4;

 private:
  struct Scope {
    int64_t thread, start_ns, end_ns, order;
  };
  struct Change {
    int64_t time_ns, before, after;
  };

  int64_t innermost(int64_t thread, int64_t time_ns) const {
    int64_t found = 0;
    for (size_t i = 0; i < scopes_.size(); ++i) {
      const Scope& scope = scopes_[i];
      const bool is_open = scope.start_ns <= time_ns && time_ns < scope.end_ns;
      if (scope.thread == thread && is_open) found = static_cast<int64_t>(i + 1);
    }
    return found;
  }

  std::mt19937 random_;
  int64_t now_ns_ = 1;
  int64_t next_order_ = 0;
  std::vector<Scope> scopes_;
  std::map<int64_t, std::vector<int64_t>> open_;
  std::map<int64_t, std::vector<Change>> changes_;
  std::map<int64_t, ScopeHistory::Thread*> entered_;
};

TEST(ScopeHistoryModel, AgreesWithLookingThroughAllScopes) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Model model(seed);
    ScopeHistory history;
    for (int round = 0; round < 30; ++round) {
      for (int i = 0; i < (round == 0 ? 60 : 20); ++i) model.act();
      model.deliver(history, round == 29);
      const int64_t known_ns = round == 29 ? model.now_ns() + 1 : model.now_ns() - 20;
      for (int i = 0; i < 40; ++i) {
        const int64_t thread = 1 + model.below(Model::kThreads + 1);
        const int64_t time_ns = known_ns - 1 - model.below(std::min<int64_t>(known_ns, 60));
        ASSERT_EQ(as_pair(history.at(thread, time_ns)), model.at(thread, time_ns))
            << "seed " << seed << ", thread " << thread << ", time " << time_ns;
      }
    }
    EXPECT_EQ(history.unknown(), 0u);
  }
}

}  // namespace
}  // namespace gpufl::capture
