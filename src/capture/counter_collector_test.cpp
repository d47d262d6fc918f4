// SPDX-License-Identifier: Apache-2.0
#include "capture/counter_collector.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "capture/counters.hpp"
#include "capture/fake_log_writer.hpp"

namespace gpufl::capture {
namespace {

namespace column = format::counter_column;

struct CounterRow {
  int64_t time_ns;
  std::string name;
  int64_t value;
  bool operator==(const CounterRow&) const = default;
};

std::vector<CounterRow> rows_of(const FakeLogWriter& log) {
  std::vector<CounterRow> rows;
  for (const auto& row : log.rows(format::Kind::Counter)) {
    rows.push_back({row[column::kTime], log.text(format::Dict::Name, row[column::kName]),
                    row[column::kValue]});
  }
  return rows;
}

TEST(CounterCollector, WritesChangesAfterABaseline) {
  std::atomic<int64_t>* tokens = counters::find_or_add("baseline tokens");
  tokens->fetch_add(1000);  // before the session
  FakeLogWriter log;
  CounterCollector collector(log);
  collector.sample(100);
  EXPECT_TRUE(rows_of(log).empty());
  tokens->fetch_add(5);
  collector.sample(200);
  collector.sample(300);
  tokens->fetch_add(-2);
  collector.sample(400);
  const std::vector<CounterRow> expected = {{100, "baseline tokens", 1000},
                                            {200, "baseline tokens", 1005},
                                            {400, "baseline tokens", 1003}};
  EXPECT_EQ(rows_of(log), expected);
}

TEST(CounterCollector, CounterMadeDuringTheSessionBeginsAtZero) {
  FakeLogWriter log;
  CounterCollector collector(log);
  collector.sample(100);
  counters::find_or_add("made later")->fetch_add(7);
  collector.sample(200);
  const std::vector<CounterRow> expected = {{100, "made later", 0}, {200, "made later", 7}};
  EXPECT_EQ(rows_of(log), expected);
}

TEST(Counters, SameNameSameCounter) {
  const std::string copy = "shared";
  EXPECT_EQ(counters::find_or_add("shared"), counters::find_or_add(copy));
  EXPECT_NE(counters::find_or_add("shared"), counters::find_or_add("other"));
}

TEST(Counters, WithoutANameIsRecordedToo) {
  FakeLogWriter log;
  CounterCollector collector(log);
  counters::find_or_add("")->fetch_add(3);
  collector.sample(100);
  const auto rows = rows_of(log);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back(), (CounterRow{100, "<unnamed>", 3}));
}

TEST(Counters, ThreadsAddUp) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10'000; ++i) counters::find_or_add("added up")->fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters::find_or_add("added up")->load(), 40'000);
}

// Last: it uses the room up for the rest of the process.
TEST(CountersFull, FurtherNamesShareOneThatIsCounted) {
  FakeLogWriter log;
  CounterCollector collector(log);
  for (uint32_t i = 0; i < counters::kMaxCounters; ++i) {
    counters::find_or_add("many " + std::to_string(i));
  }
  std::atomic<int64_t>* beyond = counters::find_or_add("beyond");
  EXPECT_EQ(beyond, counters::find_or_add("further beyond"));
  EXPECT_GT(collector.overflowed(), 0u);
  beyond->fetch_add(3);
  collector.sample(100);
  const auto rows = rows_of(log);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back(), (CounterRow{100, "<overflow>", 3}));
}

// Another copy of the library, as far as its counters go.
struct OtherCopy {
  static constexpr std::string_view kNames[] = {"", "<overflow>", "shared requests", "their own"};
  static inline std::atomic<int64_t> values[4] = {};
  static inline uint32_t end = 3;

  static constexpr counters::ForeignCounters kTable = {
      [] { return end; },
      [](uint32_t id, const char** name, size_t* size) -> const std::atomic<int64_t>* {
        *name = kNames[id].data();
        *size = kNames[id].size();
        return &values[id];
      }};
};

TEST(CounterCollector, CountsWhatAnotherCopyOfTheLibraryCounts) {
  std::atomic<int64_t>* shared = counters::find_or_add("shared requests");
  OtherCopy::values[2] = 100;  // before it joined
  ASSERT_TRUE(counters::include(&OtherCopy::kTable));
  FakeLogWriter log;
  CounterCollector collector(log);
  shared->fetch_add(1);
  OtherCopy::values[2] += 10;
  collector.sample(100);
  OtherCopy::end = 4;
  OtherCopy::values[3] = 7;  // a counter made since
  collector.sample(200);
  OtherCopy::values[2] += 20;
  counters::exclude(&OtherCopy::kTable);  // takes the last of it
  OtherCopy::values[2] += 1000;
  collector.sample(300);
  const std::vector<CounterRow> expected = {{0, "shared requests", 0},
                                            {100, "shared requests", 11},
                                            {100, "their own", 0},
                                            {200, "their own", 7},
                                            {300, "shared requests", 31}};
  EXPECT_EQ(rows_of(log), expected);
}

}  // namespace
}  // namespace gpufl::capture
