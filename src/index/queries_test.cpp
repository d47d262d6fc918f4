// SPDX-License-Identifier: Apache-2.0
#include "index/queries.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/json.hpp"
#include "index/event_detail.hpp"
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
    session.open_scope();
    for (int i = 0; i < 12; ++i) session.add(150);
    session.close();
    index_ = std::make_unique<SessionIndex>(dir(), temp_.path() / "cache");
    ASSERT_TRUE(index_->update([] { return true; }));
    ASSERT_TRUE(names_.update(windows()));
  }
  fs::path dir() const { return temp_.path() / "session"; }
  const Windows& windows() const { return index_->session()->windows; }
  int64_t last() const { return index_->session()->span.last; }
  testing::Oracle all_events() const {
    testing::Oracle oracle(dir());
    oracle.add_open(last());
    return oracle;
  }

  // Asks from random moments, both ways, and from every match on.
  void compare_search(const fs::path& session, uint32_t rows) {
    SessionIndex index(session, temp_.path() / "other");
    ASSERT_TRUE(index.update([] { return true; }));
    const Windows windows = index.session()->windows;
    Names names;
    ASSERT_TRUE(names.update(windows));
    if (rows != 0) {
      EXPECT_EQ(list_tracks(windows, last())[0].rows, rows);
    }
    testing::Oracle oracle(session);
    std::mt19937_64 random(GetParam());
    for (int i = 0; i < 200; ++i) {
      const std::vector<uint32_t> wanted = names.matching("kernel_" + std::to_string(random() % 5));
      ASSERT_EQ(wanted.size(), 1U);
      const std::multiset<int64_t>& starts = oracle.starts(wanted[0]);
      ASSERT_FALSE(starts.empty());
      SearchRequest request{wanted, {TrackKind::Kernels, TrackKind::Scopes, TrackKind::Markers}};
      request.after = static_cast<int64_t>(
          random() % static_cast<uint64_t>(index.session()->span.last + 1'000));
      request.is_backward = i % 2 == 1;
      const auto outcome = search(windows, request, last(), nullptr);
      ASSERT_TRUE(outcome) << outcome.status().text();
      EXPECT_EQ(outcome->count, starts.size());
      std::optional<int64_t> expected;
      const auto at = starts.lower_bound(request.after);
      if (!request.is_backward && at != starts.end()) expected = *at;
      if (request.is_backward && at != starts.begin()) expected = *std::prev(at);
      ASSERT_EQ(outcome->found.has_value(), expected.has_value());
      if (expected) {
        EXPECT_EQ(outcome->found->event.start, *expected);
      }
    }
  }

  format::testing::TempDir temp_;
  std::unique_ptr<SessionIndex> index_;
  Names names_;
};

TEST_P(QueriesTest, TracksAreThoseOfTheLog) {
  const testing::Oracle oracle = all_events();
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
  const testing::Oracle oracle = all_events();
  const std::vector<TrackKey> tracks = oracle.tracks();
  std::mt19937_64 random(GetParam());
  uint64_t reaching = 0;
  for (int i = 0; i < 30; ++i) {
    const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(last()));
    const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(last()));
    const int64_t from = std::min(a, b);
    const int64_t to = std::max(a, b) + 1;
    const auto sums = sum_range(windows(), tracks, from, to, last(), nullptr);
    ASSERT_TRUE(sums);
    for (const TrackSum& sum : *sums) {
      EXPECT_EQ(std::pair(sum.count, sum.busy_ns), oracle.sums(sum.key, from, to));
      EXPECT_EQ(sum.reaching, oracle.reaching(sum.key, from, to));
      reaching += sum.reaching;
      uint64_t count = 0;
      for (const NameSum& name : sum.names) count += name.count + name.reaching;
      EXPECT_EQ(count, sum.count + sum.reaching);
      EXPECT_TRUE(sum.has_all_names);
    }
  }
  EXPECT_GT(reaching, 0U);
}

TEST_P(QueriesTest, ATrackThatIsNamedTwiceIsOne) {
  const testing::Oracle oracle = all_events();
  const TrackKey key = oracle.tracks().front();
  const auto sums = sum_range(windows(), std::vector{key, key}, 0, last(), last(), nullptr);
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 1U);
  EXPECT_GT(sums->front().count, 0U);
  const auto tile = make_tile(windows(), {0, last(), 10, {key, key}}, last());
  ASSERT_TRUE(tile);
  ASSERT_EQ(tile->tracks.size(), 1U);
  EXPECT_FALSE(tile->tracks[0].rows.empty());
}

TEST_P(QueriesTest, ARangeThatEndsBeforeItBeginsIsRefused) {
  for (const auto& [from, to] :
       {std::pair<int64_t, int64_t>{5, 5}, {9, 3}, {0, INT64_MAX}, {INT64_MIN, 0}}) {
    EXPECT_EQ(sum_range(windows(), {}, from, to, last(), nullptr).status().code(),
              base::Code::InvalidArgument);
    EXPECT_EQ(list_events(windows(), {{}, from, to}, last(), nullptr).status().code(),
              base::Code::InvalidArgument);
  }
}

TEST_P(QueriesTest, SearchStepsThroughEveryMatch) {
  const std::vector<uint32_t> names = names_.matching("KERNEL_0");
  ASSERT_EQ(names.size(), 1U);
  testing::Oracle oracle(dir());
  std::multiset<int64_t> starts = oracle.starts(names[0]);
  starts.insert(5);  // the scope that is open
  SearchRequest request{names, {TrackKind::Kernels, TrackKind::Scopes, TrackKind::Markers}};
  // Those that begin at the same time are found once.
  const std::set<int64_t> wanted(starts.begin(), starts.end());
  std::vector<int64_t> forward;
  while (true) {
    const auto outcome = search(windows(), request, last(), nullptr);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->count, starts.size());
    if (!outcome->found) break;
    forward.push_back(outcome->found->event.start);
    request.after = forward.back() + 1;
  }
  EXPECT_EQ(forward, std::vector<int64_t>(wanted.begin(), wanted.end()));
  std::vector<int64_t> backward;
  request.is_backward = true;
  request.after = INT64_MAX;
  while (true) {
    const auto found = search(windows(), request, last(), nullptr);
    ASSERT_TRUE(found);
    if (!found->found) break;
    backward.push_back(found->found->event.start);
    request.after = backward.back();
  }
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(forward, backward);
  EXPECT_TRUE(names_.matching("no such name").empty());
}

using Listed = std::multiset<std::tuple<TrackKey, int64_t, int64_t>>;

// Page after page, as far as there is one.
Listed list_all(const Windows& windows, EventsRequest request, int64_t open_until, int& pages) {
  Listed listed;
  for (pages = 0; pages < 100'000;) {
    const auto page = list_events(windows, request, open_until, nullptr);
    EXPECT_TRUE(page) << page.status().text();
    if (!page) break;
    ++pages;
    for (const FoundEvent& found : page->events) {
      EXPECT_GE(found.event.start, request.starts_from);
      listed.emplace(found.key, found.event.start, found.event.end);
    }
    if (!page->next) break;
    EXPECT_GT(*page->next, request.starts_from);
    request.starts_from = *page->next;
  }
  return listed;
}

TEST_P(QueriesTest, PagesOfEventsAreAllOfThem) {
  const testing::Oracle oracle = all_events();
  Listed wanted;
  for (const auto& [key, spans] : oracle.events()) {
    for (const auto& span : spans) wanted.emplace(key, span.start, span.end);
  }
  int pages = 0;
  EXPECT_EQ(
      list_all(windows(), {oracle.tracks(), -1, INT64_MAX / 4, INT64_MIN, 100}, last(), pages),
      wanted);
  EXPECT_GT(pages, 10);
}

TEST_P(QueriesTest, PagesOfANameAreAllThatAreCalledSo) {
  const std::vector<uint32_t> names = names_.kernels_called("kernel_0");
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names_.kernels_called("kernel_").empty());
  EventsRequest request{{}, -1, INT64_MAX / 4, INT64_MIN, 100};
  for (const TrackInfo& track : list_tracks(windows(), last())) {
    if (track.key.kind == TrackKind::Kernels) request.tracks.push_back(track.key);
  }
  int pages = 0;
  const Listed all = list_all(windows(), request, last(), pages);
  request.labels = names;
  const Listed called = list_all(windows(), request, last(), pages);
  std::set<int64_t> starts;
  for (const auto& [key, start, end] : called) {
    EXPECT_TRUE(all.contains({key, start, end}));
    starts.insert(start);
  }
  // Scopes and markers may have the same name.
  SearchRequest search_for{names, {TrackKind::Kernels}};
  const auto outcome = search(windows(), search_for, last(), nullptr);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->count, called.size());
  while (true) {
    const auto next = search(windows(), search_for, last(), nullptr);
    ASSERT_TRUE(next);
    if (!next->found) break;
    EXPECT_EQ(starts.count(next->found->event.start), 1U);
    search_for.after = next->found->event.start + 1;
  }
}

TEST_P(QueriesTest, PagesHaveWhatReachesIntoTheRange) {
  const testing::Oracle oracle = all_events();
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 25; ++i) {
    const auto from = static_cast<int64_t>(random() % static_cast<uint64_t>(last()));
    const auto to = from + 1 + static_cast<int64_t>(random() % 20'000'000);
    Listed wanted;
    for (const TrackKey& key : oracle.tracks()) {
      for (const auto& span : oracle.within(key, from, to))
        wanted.emplace(key, span.start, span.end);
    }
    int pages = 0;
    const size_t most = 1 + random() % 40;
    EXPECT_EQ(list_all(windows(), {oracle.tracks(), from, to, INT64_MIN, most}, last(), pages),
              wanted);
    // The open scope is in all of them, and comes first.
    const auto page = list_events(windows(), {oracle.tracks(), from, to}, last(), nullptr);
    ASSERT_TRUE(page);
    ASSERT_FALSE(page->events.empty());
    EXPECT_TRUE(page->events[0].event.is_open);
    EXPECT_TRUE(std::is_sorted(
        page->events.begin(), page->events.end(),
        [](const FoundEvent& a, const FoundEvent& b) { return a.event.start < b.event.start; }));
  }
}

TEST_P(QueriesTest, AnEventIsTheRowOfTheLog) {
  const TrackKey key = testing::Oracle(dir()).tracks().front();
  const auto tile = make_tile(windows(), {0, last(), 64, {key}, 0}, last());
  ASSERT_TRUE(tile);
  const int64_t middle = last() / 2;
  const auto few = make_tile(windows(), {middle, middle + 200'000'000, 1600, {key}, 5000}, last());
  ASSERT_TRUE(few);
  size_t looked_at = 0;
  for (const TileRow& row : few->tracks[0].rows) {
    for (const TileEvent& event : row.events) {
      if (++looked_at > 40) return;
      const auto detail = read_event(windows(), event.place, dir(), "", last());
      ASSERT_TRUE(detail) << detail.status().text();
      const auto json = base::Json::parse(detail->row);
      ASSERT_TRUE(json) << detail->row;
      ASSERT_TRUE(detail->event);
      EXPECT_EQ(detail->event->key, key);
      EXPECT_EQ(detail->event->row, row.row);
      EXPECT_EQ(detail->event->event.start, event.start);
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
    EXPECT_EQ(read_event(windows(), place, dir(), "", last()).status().code(),
              base::Code::NotFound);
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
  for (const auto& [name, configs] : names_.by_kernel(durations.names(TrackKind::Kernels))) {
    const DurationStats stats = durations.of(TrackKind::Kernels, configs);
    EXPECT_EQ(stats.relative_error, 0);
    counted += stats.stats.count;
    added += stats.stats.total;
  }
  EXPECT_EQ(counted, events);
  EXPECT_EQ(added, total);
}

// Batches of several kinds, none in the order of its time, and one that comes late: what the file
// has later may be nearer.
TEST_P(QueriesTest, SearchFindsTheNearestWhateverTheOrderOfTheFile) {
  const fs::path mixed = temp_.path() / "mixed";
  testing::RandomSession session(mixed, GetParam(), 10'000'000);
  for (int i = 0; i < 60; ++i) {
    const int64_t begin = 1'000'000 * session.below(20);
    format::Batch scopes(format::Kind::Scope);
    format::Batch markers(format::Kind::Marker);
    for (int row = 0; row < 150; ++row) {
      const int64_t start = begin + 7'000 * row + session.below(5'000);
      session.push(scopes, {{format::scope_column::kId, 1'000 * i + row},
                            {format::scope_column::kThread, 1},
                            {format::scope_column::kName, session.name(session.below(5))},
                            {format::scope_column::kStart, start},
                            {format::scope_column::kDuration, session.below(3'000)}});
      session.push(markers, {{format::marker_column::kShape, 1},
                             {format::marker_column::kThread, 1},
                             {format::marker_column::kName, session.name(session.below(5))},
                             {format::marker_column::kStart, start},
                             {format::marker_column::kDuration, session.below(3'000)}});
    }
    session.write(session.below(2) == 0 ? scopes : markers);
  }
  session.kill();
  compare_search(mixed, 0);
}

// More at a time than a track has rows for: the rest is in the row that counts.
TEST_P(QueriesTest, SearchFindsWhatFoundNoRow) {
  const fs::path crowded = temp_.path() / "crowded";
  testing::RandomSession session(crowded, GetParam());
  format::Batch kernels(format::Kind::Kernel);
  for (int row = 0; row < 400; ++row) {
    session.push(kernels, {{format::kernel_column::kStart, 1'000 * row},
                           {format::kernel_column::kDuration, 1'000'000},
                           {format::kernel_column::kConfig, session.config(session.below(10))},
                           {format::kernel_column::kDevice, 0},
                           {format::kernel_column::kContext, 1},
                           {format::kernel_column::kStream, 7}});
  }
  session.write(kernels);
  session.close();
  compare_search(crowded, kMaxRows + 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueriesTest, ::testing::Values(5, 6));

}  // namespace
}  // namespace gpufl::index
