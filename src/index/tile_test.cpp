// SPDX-License-Identifier: Apache-2.0
// Tiles against an oracle that holds every event and adds them up one by one.
#include "index/tile.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "index/oracle.hpp"
#include "index/random_session.hpp"
#include "index/session_index.hpp"

namespace gpufl::index {
namespace {

namespace fs = std::filesystem;
using testing::Oracle;
using testing::Span;

bool goes_on() { return true; }

using EventId = std::tuple<TrackKey, int64_t, int64_t, uint64_t, uint32_t, uint32_t>;

class TileTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  fs::path dir() const { return temp_.path() / "session"; }
  fs::path cache() const { return temp_.path() / "cache"; }

  // Asks for random stretches and compares all of them.
  void compare(const IndexedSession& session, int requests) {
    const Oracle oracle(dir());
    std::mt19937_64 random(GetParam());
    const auto below = [&](int64_t bound) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
    };
    ASSERT_FALSE(session.span.empty());
    const int64_t length = session.span.last - session.span.first + 2'000;
    for (int i = 0; i < requests; ++i) {
      TileRequest request;
      request.width = static_cast<uint32_t>(1 + below(300));
      request.max_events = static_cast<size_t>(below(3) == 0 ? 0 : below(500));
      const int64_t span = 1 + below(below(2) == 0 ? length : 1 + length / (1 + below(5'000)));
      request.from = session.span.first - 1'000 + below(length);
      request.to = request.from + span;
      request.tracks = oracle.tracks();
      request.tracks.push_back({TrackKind::Fills, 77});  // of which there is nothing
      const auto tile = make_tile(session.windows, request, session.open_until());
      ASSERT_TRUE(tile) << tile.status().text();
      ASSERT_EQ(tile->tracks.size(), request.tracks.size());
      EXPECT_TRUE(tile->tracks.back().rows.empty());
      for (size_t track = 0; track + 1 < tile->tracks.size(); ++track) {
        compare_track(oracle, request, *tile, tile->tracks[track]);
      }
    }
  }

  void compare_track(const Oracle& oracle, const TileRequest& request, const Tile& tile,
                     const TileTrack& track) {
    std::multiset<Span> listed;
    bool is_all_listed = true;
    bool has_listed = false;
    std::map<int64_t, std::pair<uint64_t, uint64_t>> steps;  // of rows that are summed up
    for (const TileRow& row : track.rows) {
      EXPECT_LE(row.row, kMaxRows);
      if (row.is_exact) {
        has_listed = true;
        int64_t end = INT64_MIN;
        for (const TileEvent& event : row.events) {
          if (event.is_open) continue;
          listed.insert({event.start, event.end});
          EXPECT_LE(end, event.start) << "events of a row overlap";
          end = event.end;
          remember_row(track.key, event, row.row);
        }
        continue;
      }
      is_all_listed = false;
      EXPECT_EQ(row.shift, tile.shift);
      for (const Bucket& step : row.steps) {
        steps[step.at].first += step.count;
        steps[step.at].second += step.busy;
      }
    }
    if (is_all_listed) {
      EXPECT_EQ(listed, oracle.within(track.key, request.from, request.to));
      return;
    }
    // Rows that are listed count as well; a step may begin before the range and end after it.
    const int64_t first = request.from >> tile.shift;
    const int64_t last = (request.to - 1) >> tile.shift;
    for (int64_t at = first; at <= last; ++at) {
      const int64_t from = at << tile.shift;
      const int64_t to = (at + 1) << tile.shift;
      auto [count, busy] = steps[at];
      for (const Span& span : listed) {
        if (span.start >= from && span.start < to) ++count;
        const int64_t part = std::min(span.end, to) - std::max(span.start, from);
        if (part > 0) busy += static_cast<uint64_t>(part);
      }
      // Rows that are listed have nothing of a step that lies outside the range.
      if (has_listed && (from < request.from || to > request.to)) continue;
      EXPECT_EQ(std::pair(count, busy), oracle.sums(track.key, from, to))
          << to_string(track.key.kind) << " step " << at << " of 2^" << tile.shift;
    }
  }

  // Whatever the range, an event is in the same row.
  void remember_row(const TrackKey& key, const TileEvent& event, uint32_t row) {
    const EventId id{
        key, event.start, event.end, event.place.window, event.place.line, event.place.row};
    const auto [known, is_new] = rows_.emplace(id, row);
    EXPECT_EQ(known->second, row);
  }

  format::testing::TempDir temp_;
  std::map<EventId, uint32_t> rows_;
};

TEST_P(TileTest, EqualsAddingUpEveryEvent) {
  testing::RandomSession session(dir(), GetParam());
  session.open_scope();
  for (int i = 0; i < 30; ++i) session.add(200);
  session.close_scope();
  session.close();
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  ASSERT_TRUE(index.session()->problems.empty()) << index.session()->problems[0];
  EXPECT_GT(index.session()->windows.size(), 4U);
  compare(*index.session(), 60);
}

TEST_P(TileTest, FollowsASessionThatGrows) {
  testing::RandomSession session(dir(), GetParam(), 60'000);
  SessionIndex index(dir(), cache());
  for (int i = 0; i < 12; ++i) {
    session.add(120);
    ASSERT_TRUE(index.update(goes_on));
    rows_.clear();  // sealing moves lines, and rows are given anew
    compare(*index.session(), 6);
  }
  session.close();
  ASSERT_TRUE(index.update(goes_on));
  rows_.clear();
  compare(*index.session(), 40);
}

TEST_P(TileTest, ReadsWhatAKilledProcessLeft) {
  testing::RandomSession session(dir(), GetParam());
  session.open_scope();
  for (int i = 0; i < 6; ++i) session.add(150);
  session.kill();
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  compare(*index.session(), 40);
  TileRequest request{0, session.now(), 100, {{TrackKind::Scopes, 500}}};
  const auto tile = make_tile(index.session()->windows, request, session.now());
  ASSERT_TRUE(tile);
  ASSERT_EQ(tile->tracks[0].rows.size(), 1U);
  ASSERT_EQ(tile->tracks[0].rows[0].events.size(), 1U);
  EXPECT_TRUE(tile->tracks[0].rows[0].events[0].is_open);
  EXPECT_EQ(tile->tracks[0].rows[0].events[0].start, 5);
}

// Sealing puts the rows of ended scopes before those that say they were open.
TEST_P(TileTest, AScopeThatEndedInItsWindowIsNotOpen) {
  testing::RandomSession session(dir(), GetParam(), 10'000'000);
  session.open_scope();
  session.add(150);
  session.close_scope();
  session.close();
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  EXPECT_TRUE(open_scopes(index.session()->windows, session.now()).empty());
  compare(*index.session(), 10);
}

TEST_P(TileTest, IsTheSameFromAnIndexThatIsMadeAgain) {
  testing::RandomSession session(dir(), GetParam());
  for (int i = 0; i < 10; ++i) session.add(200);
  session.close();
  const auto damage = [&](const fs::path& file, int how) {
    std::string bytes = format::testing::read_text(file);
    if (how == 0) fs::remove(file);
    if (how == 1) format::testing::write_text(file, bytes.substr(0, bytes.size() / 2));
    if (how == 2) bytes[8] = 99;  // another version
    if (how == 3) bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] + 1);
    if (how >= 2) format::testing::write_text(file, bytes);
  };
  for (int how = 0; how < 4; ++how) {
    {
      SessionIndex index(dir(), cache());
      ASSERT_TRUE(index.update(goes_on));
      compare(*index.session(), 10);
    }
    for (const auto& entry : fs::directory_iterator(cache())) damage(entry.path(), how);
  }
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  compare(*index.session(), 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TileTest, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace gpufl::index
