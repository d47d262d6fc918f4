// SPDX-License-Identifier: Apache-2.0
#include "index/queries.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "index/names.hpp"
#include "index/oracle.hpp"
#include "index/random_session.hpp"
#include "index/session_index.hpp"

namespace gpufl::index {
namespace {

namespace fs = std::filesystem;

class QueriesTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    testing::RandomSession session(dir(), GetParam());
    for (int i = 0; i < 12; ++i) session.add(150);
    session.close();
    index_ = std::make_unique<SessionIndex>(dir(), temp_.path() / "cache");
    ASSERT_TRUE(index_->update([] { return true; }));
    ASSERT_TRUE(names_.update(windows()));
  }
  fs::path dir() const { return temp_.path() / "session"; }
  const Windows& windows() const { return index_->session()->windows; }
  int64_t last() const { return index_->session()->span.last; }

  format::testing::TempDir temp_;
  std::unique_ptr<SessionIndex> index_;
  Names names_;
};

TEST_P(QueriesTest, TracksAreThoseOfTheLog) {
  const testing::Oracle oracle(dir());
  const auto tracks = list_tracks(windows(), last());
  ASSERT_EQ(tracks.size(), oracle.tracks().size());
  for (const TrackInfo& track : tracks) {
    const auto& spans = oracle.events().at(track.key);
    EXPECT_EQ(track.events, spans.size());
    EXPECT_GE(track.rows, 1U);
    EXPECT_EQ(track.busy_ns, oracle.sums(track.key, INT64_MIN / 2, INT64_MAX / 2).second);
  }
}

TEST_P(QueriesTest, ARangeIsWhatItsEventsAddUpTo) {
  const testing::Oracle oracle(dir());
  const std::vector<TrackKey> tracks = oracle.tracks();
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 30; ++i) {
    const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(last()));
    const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(last()));
    const auto sums = sum_range(windows(), tracks, std::min(a, b), std::max(a, b) + 1, nullptr);
    ASSERT_TRUE(sums);
    for (const TrackSum& sum : *sums) {
      EXPECT_EQ(std::pair(sum.count, sum.busy_ns),
                oracle.sums(sum.key, std::min(a, b), std::max(a, b) + 1));
      uint64_t count = 0;
      for (const NameSum& name : sum.names) count += name.count;
      EXPECT_EQ(count, sum.count);
      EXPECT_TRUE(sum.has_all_names);
    }
  }
}

TEST_P(QueriesTest, SearchStepsThroughEveryMatch) {
  const std::vector<uint32_t> names = names_.matching("KERNEL_3");
  ASSERT_EQ(names.size(), 1U);
  SearchRequest request{names, {TrackKind::Kernels, TrackKind::Markers}};
  std::vector<int64_t> forward;
  while (true) {
    const auto outcome = search(windows(), request, nullptr);
    ASSERT_TRUE(outcome);
    if (!outcome->found) break;
    forward.push_back(outcome->found->event.start);
    request.after = forward.back() + 1;
  }
  const auto outcome = search(windows(), request, nullptr);
  ASSERT_TRUE(outcome);
  // Those that begin at the same time are found once.
  EXPECT_GT(forward.size(), outcome->count / 2);
  EXPECT_LE(forward.size(), outcome->count);
  EXPECT_TRUE(std::is_sorted(forward.begin(), forward.end()));
  std::vector<int64_t> backward;
  request.is_backward = true;
  request.after = INT64_MAX;
  while (true) {
    const auto found = search(windows(), request, nullptr);
    ASSERT_TRUE(found);
    if (!found->found) break;
    backward.push_back(found->found->event.start);
    request.after = backward.back();
  }
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(forward, backward);
  EXPECT_TRUE(names_.matching("no such name").empty());
}

TEST_P(QueriesTest, PagesOfEventsAreAllOfThem) {
  const testing::Oracle oracle(dir());
  const std::vector<TrackKey> tracks = oracle.tracks();
  std::multiset<std::pair<TrackKey, int64_t>> wanted;
  for (const auto& [key, spans] : oracle.events()) {
    for (const auto& span : spans) wanted.emplace(key, span.start);
  }
  std::multiset<std::pair<TrackKey, int64_t>> listed;
  int64_t from = -1;
  int pages = 0;
  for (bool is_last = false; !is_last; ++pages) {
    const auto page = list_events(windows(), tracks, from, INT64_MAX / 4, 100, nullptr);
    ASSERT_TRUE(page) << page.status().text();
    ASSERT_FALSE(page->events.empty());
    for (const FoundEvent& found : page->events) listed.emplace(found.key, found.event.start);
    is_last = !page->next;
    if (page->next) from = *page->next;
  }
  EXPECT_GT(pages, 10);
  EXPECT_EQ(listed, wanted);
}

TEST_P(QueriesTest, AnEventIsTheRowOfTheLog) {
  const testing::Oracle oracle(dir());
  const TrackKey key = oracle.tracks().front();
  const auto tile = make_tile(windows(), {0, last(), 64, {key}, 0}, last());
  ASSERT_TRUE(tile);
  const int64_t middle = last() / 2;
  const auto few = make_tile(windows(), {middle, middle + 200'000'000, 1600, {key}, 5000}, last());
  ASSERT_TRUE(few);
  size_t looked_at = 0;
  for (const TileRow& row : few->tracks[0].rows) {
    for (const TileEvent& event : row.events) {
      if (++looked_at > 40) return;
      const auto text = read_row(windows(), event.place);
      ASSERT_TRUE(text) << text.status().text();
      const auto json = base::Json::parse(*text);
      ASSERT_TRUE(json) << *text;
      EXPECT_EQ((*json)["start_ns"].as_integer(), event.start);
      EXPECT_EQ((*json)["duration_ns"].as_integer(), event.end - event.start);
      EXPECT_EQ((*json)["name"].as_string(), names_.label(key.kind, event.name).text);
    }
  }
  EXPECT_GT(looked_at, 0U);
}

TEST_P(QueriesTest, AnEventThatIsNotThereIsNotFound) {
  for (const EventPlace& place :
       {EventPlace{format::Channel::Device, 1, 0, 0}, EventPlace{format::Channel::Device, 99, 4, 0},
        EventPlace{format::Channel::Device, 1, UINT32_MAX, UINT32_MAX},
        EventPlace{format::Channel::Code, 1, 1, 1}}) {
    EXPECT_EQ(read_row(windows(), place).status().code(), base::Code::NotFound);
  }
}

TEST_P(QueriesTest, DurationsAreThoseOfTheEvents) {
  const testing::Oracle oracle(dir());
  uint64_t events = 0;
  int64_t total = 0;
  for (const auto& [key, spans] : oracle.events()) {
    if (key.kind != TrackKind::Kernels) continue;
    events += spans.size();
    for (const auto& span : spans) total += span.end - span.start;
  }
  const Durations durations = all_durations(windows());
  uint64_t counted = 0;
  int64_t added = 0;
  for (const auto& [name, configs] : names_.configs_by_name()) {
    const DurationStats stats = durations.of(TrackKind::Kernels, configs);
    EXPECT_EQ(stats.relative_error, 0);
    counted += stats.stats.count;
    added += stats.stats.total;
  }
  EXPECT_EQ(counted, events);
  EXPECT_EQ(added, total);
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueriesTest, ::testing::Values(5, 6));

}  // namespace
}  // namespace gpufl::index
