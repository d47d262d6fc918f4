// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

// "a 20, b ?": each counter with its increase, in the order in which they are listed.
std::string text_of(const ScopeCounters& counters, const Tables& tables) {
  std::string text;
  for (const ScopeCounter& counter : counters.list) {
    text += (text.empty() ? "" : ", ") + tables.name(counter.name) + " " +
            (counter.growth ? std::to_string(counter.growth->increase) : "?");
  }
  return text;
}

ScopeCounters increases(const CounterCurves& curves, const Intervals& spans, size_t most_unknown) {
  const Intervals* const sets[] = {&spans};
  return curves.increases(spans, curves.sampled_in(sets)[0], most_unknown);
}

TEST(ScopeCounters, OnlySomeOfTheUnknownAreListed) {
  TestSession session;
  for (const char* const name : {"d", "b", "known", "a", "c"}) {
    session.counter(name, 0, 0);
    session.counter(name, 1000, 10);
  }
  session.counter("known", 100, 1);
  session.counter("known", 400, 9);
  const SessionData data = session.finish();
  const CounterCurves curves(data.tables);
  const ScopeCounters found = increases(curves, {{100, 400}}, 2);
  EXPECT_EQ(text_of(found, data.tables), "a ?, b ?, known 8");
  EXPECT_EQ(found.unknown, 4u);
}

// By the definition, of every counter in every span.
std::string defined_increases(const Tables& tables, const Intervals& spans) {
  std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> curves;
  const Samples& samples = tables.counters;
  for (size_t row = 0; row < samples.rows(); ++row) {
    curves[tables.name(samples.metric[row])].emplace_back(samples.time[row], samples.value[row]);
  }
  std::string text;
  for (const auto& [name, curve] : curves) {
    // Between which values it is at a time.
    const auto at = [&curve = curve](int64_t time) {
      const auto after = std::find_if(curve.begin(), curve.end(),
                                      [&](const auto& sample) { return sample.first > time; });
      if (after == curve.begin()) return std::pair(after->second, after->second);
      const auto before = after - 1;
      const bool is_exact = after == curve.end() || before->first == time;
      return std::pair(before->second, is_exact ? before->second : after->second);
    };
    int64_t least = 0, most = 0;
    for (const Interval& span : spans) {
      least += std::max<int64_t>(0, at(span.end).first - at(span.start).second);
      most += at(span.end).second - at(span.start).first;
    }
    if (most <= 0) continue;
    const bool is_known =
        static_cast<double>(most - least) <= CounterCurves::kMaxDoubt * static_cast<double>(most);
    text += (text.empty() ? "" : ", ") + name + " " +
            (is_known ? std::to_string(least + (most - least) / 2) : "?");
  }
  return text;
}

// Some grow all the time, some for a while, some stand still or go down in between.
TEST(ScopeCounters, AreWhatTheDefinitionSays) {
  std::mt19937 random(11);
  const auto draw = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from));
  };
  size_t known = 0, unknown = 0;
  for (int round = 0; round < 300; ++round) {
    TestSession session;
    for (int counter = 0; counter < 6; ++counter) {
      int64_t time = draw(0, 400), value = draw(0, 100);
      const int64_t samples = draw(1, 40), step = draw(1, 60);
      for (int64_t i = 0; i < samples; ++i) {
        session.counter("counter " + std::to_string(counter), time, value);
        time += draw(1, 2 * step);
        value += draw(counter == 0 ? -20 : counter == 1 ? 0 : 1, 50);
      }
    }
    const SessionData data = session.finish();
    const CounterCurves curves(data.tables);
    std::vector<Intervals> sets(8);
    std::vector<const Intervals*> views;
    for (Intervals& spans : sets) {
      int64_t at = draw(-100, 1000);
      for (int64_t i = draw(0, 60), length = draw(2, 200); i > 0; --i) {
        const int64_t end = at + draw(1, length);
        add_in_order(spans, at, end);
        at = end + draw(1, length);
      }
      views.push_back(&spans);
    }
    const auto sampled = curves.sampled_in(views);
    for (size_t i = 0; i < sets.size(); ++i) {
      const ScopeCounters found = curves.increases(sets[i], sampled[i], SIZE_MAX);
      EXPECT_EQ(text_of(found, data.tables), defined_increases(data.tables, sets[i]));
      unknown += found.unknown;
      known += found.list.size() - found.unknown;
    }
  }
  EXPECT_GT(known, 200u);
  EXPECT_GT(unknown, 200u);
}

}  // namespace
}  // namespace gpufl::analysis
