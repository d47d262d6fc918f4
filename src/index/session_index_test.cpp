// SPDX-License-Identifier: Apache-2.0
#include "index/session_index.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/json.hpp"
#include "index/names.hpp"
#include "index/queries.hpp"
#include "index/random_session.hpp"

namespace gpufl::index {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

bool goes_on() { return true; }

class SessionIndexTest : public ::testing::Test {
 protected:
  fs::path dir() const { return temp_.path() / "session"; }
  fs::path cache() const { return temp_.path() / "cache"; }

  void write_session(int stretches = 10) {
    testing::RandomSession session(dir(), 3);
    for (int i = 0; i < stretches; ++i) session.add(200);
    session.close();
  }
  // Steps of everything, from buckets.
  static base::Result<Tile> ask(const IndexedSession& session) {
    TileRequest request{session.span.first, session.span.last + 1, 8, {}, 0};
    for (const TrackInfo& track : list_tracks(session.windows, session.open_until())) {
      request.tracks.push_back(track.key);
    }
    return make_tile(session.windows, request, session.open_until());
  }
  static uint64_t events_of(const Tile& tile) {
    uint64_t events = 0;
    for (const TileTrack& track : tile.tracks) {
      for (const TileRow& row : track.rows) {
        for (const Bucket& step : row.steps) events += step.count;
        events += row.events.size();
      }
    }
    return events;
  }
  std::vector<fs::path> stored() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache())) files.push_back(entry.path());
    return files;
  }

  format::testing::TempDir temp_;
};

TEST_F(SessionIndexTest, AnIndexThatIsDeletedOrReplacedStaysReadable) {
  write_session();
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  const auto before = ask(*index.session());
  ASSERT_TRUE(before);
  // As another server on the same cache does.
  for (const fs::path& file : stored()) {
    fs::copy_file(file, file.string() + ".copy");
    fs::rename(file.string() + ".copy", file);
  }
  auto tile = ask(*index.session());
  ASSERT_TRUE(tile) << tile.status().text();
  EXPECT_EQ(events_of(*tile), events_of(*before));
  fs::remove_all(cache());
  tile = ask(*index.session());
  ASSERT_TRUE(tile) << tile.status().text();
  EXPECT_EQ(events_of(*tile), events_of(*before));
}

TEST_F(SessionIndexTest, ADamagedIndexIsMadeAgain) {
  write_session();
  uint64_t events = 0;
  for (const bool is_cut : {true, false}) {
    SessionIndex index(dir(), cache());
    ASSERT_TRUE(index.update(goes_on));
    const auto before = ask(*index.session());
    ASSERT_TRUE(before) << before.status().text();
    events = events_of(*before);
    // More often than it is stored again, too.
    for (int i = 0; i < 4; ++i) {
      for (const fs::path& file : stored()) {
        if (is_cut) {
          fs::resize_file(file, fs::file_size(file) / 2);
        } else {
          std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
          bytes.seekp(-3, std::ios::end);  // of the last block of buckets
          bytes.write("\x55\xaa", 2);
        }
      }
      const auto failed = ask(*index.session());
      if (i < 2) {
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.status().code(), base::Code::Corrupt);
      }
      // All of them are made again, although only one was met.
      ASSERT_TRUE(index.update(goes_on));
      const auto tile = ask(*index.session());
      ASSERT_TRUE(tile) << tile.status().text();
      EXPECT_EQ(events_of(*tile), events);
    }
  }
  // Nor does it matter where it is damaged before the server starts.
  for (const fs::path& file : stored()) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-3, std::ios::end);
    bytes.write("\x55\xaa", 2);
  }
  SessionIndex index(dir(), cache());
  ASSERT_TRUE(index.update(goes_on));
  ASSERT_FALSE(ask(*index.session()));
  ASSERT_TRUE(index.update(goes_on));
  const auto tile = ask(*index.session());
  ASSERT_TRUE(tile) << tile.status().text();
  EXPECT_EQ(events_of(*tile), events);
}

TEST_F(SessionIndexTest, AWindowThatTakesTooLongIsShownAsFarAsItWasRead) {
  write_session();
  int64_t now = 0;
  ReadLimits limits;
  limits.time = std::chrono::seconds(5);
  limits.clock = [&now] { return nanoseconds(now += 4'000'000'000); };
  SessionIndex index(dir(), cache(), limits);
  ASSERT_TRUE(index.update(goes_on));
  ASSERT_FALSE(index.session()->problems.empty());
  EXPECT_NE(index.session()->problems[0].find("took longer than 5 s"), std::string::npos)
      << index.session()->problems[0];
  EXPECT_TRUE(index.session()->progress.is_complete());
  EXPECT_FALSE(index.session()->windows.empty());
  // Another time there may be more of it.
  SessionIndex again(dir(), cache());
  ASSERT_TRUE(again.update(goes_on));
  EXPECT_TRUE(again.session()->problems.empty());
}

// Readers may be strangers, whom it does not concern where that is.
TEST_F(SessionIndexTest, ThatAnIndexCannotBeKeptIsSaidWithoutItsPlace) {
  write_session();
  const fs::path file = cache();
  std::ofstream(file) << "no folder";
  SessionIndex index(dir(), file);
  ASSERT_TRUE(index.update(goes_on));
  ASSERT_FALSE(index.session()->problems.empty());
  const std::string name = index.session()->windows.front()->file().path.filename().string();
  EXPECT_EQ(index.session()->problems.front(),
            "the index of " + name + " cannot be kept: Not a directory");
}

TEST_F(SessionIndexTest, ALiveWindowAtItsLimitTakesNoLineTwice) {
  testing::RandomSession session(dir(), 3, 100'000'000);
  for (int i = 0; i < 5; ++i) session.add(200);
  ReadLimits limits;
  limits.rows = 100;
  SessionIndex index(dir(), cache(), limits);
  ASSERT_TRUE(index.update(goes_on));
  const auto rows_of = [&] {
    std::map<std::pair<format::Channel, format::Kind>, uint64_t> rows;
    for (const auto& window : index.session()->windows) {
      for (const auto& [kind, count] : window->index().rows) {
        rows[{window->file().channel, kind}] += count;
      }
    }
    return rows;
  };
  session.add(200);
  ASSERT_TRUE(index.update(goes_on));
  const auto rows = rows_of();
  EXPECT_FALSE(index.session()->problems.empty());
  for (int i = 0; i < 3; ++i) {
    session.add(200);
    ASSERT_TRUE(index.update(goes_on));
    EXPECT_EQ(rows_of(), rows);
  }
}

// Whatever stops it, reading goes on behind the last line that was taken.
TEST_F(SessionIndexTest, ReadingGoesOnWhereItWasStopped) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "{\"type\":\"dict\",\"dict\":\"name\",\"ids\":[" + std::to_string(i) +
            "],\"values\":[\"n" + std::string(static_cast<size_t>(i % 90), 'x') + "\"]}\n";
  }
  const fs::path file = temp_.path() / "device.log";
  format::testing::write_text(file, text);
  IndexBuilder builder;
  ReadProgress progress;
  int calls = 0;
  base::Status status;
  do {
    int pieces = 0;
    status = read_lines(file, {}, [&] { return ++pieces > 2; }, builder, progress);
    ASSERT_LT(++calls, 100);
  } while (status.code() == base::Code::Cancelled);
  ASSERT_TRUE(status) << status.text();
  EXPECT_GT(calls, 2);
  EXPECT_EQ(builder.lines(), 20'000U);
  EXPECT_EQ(progress.text_bytes, text.size());
  const WindowIndex index = builder.snapshot();
  ASSERT_EQ(index.dict_lines.size(), 20'000U);
  for (const size_t i : {size_t{0}, size_t{7'777}, size_t{19'999}}) {
    const auto outcome = format::read_placed_lines(
        file, index.dict_lines[i], [&](std::string_view line, const format::LinePlace&) {
          EXPECT_NE(line.find("[" + std::to_string(i) + "]"), std::string::npos);
          return false;
        });
    EXPECT_TRUE(outcome.status);
  }
}

TEST_F(SessionIndexTest, AnUpdateThatMayNotBeginMoreGoesOnLater) {
  write_session(20);
  SessionIndex index(dir(), cache());
  int updates = 0;
  do {
    int begun = 0;
    ASSERT_TRUE(index.update(goes_on, [&] { return ++begun <= 1; }));
    ASSERT_LT(++updates, 1000);
  } while (!index.session()->progress.is_complete());
  EXPECT_GT(updates, 3);
  SessionIndex whole(dir(), temp_.path() / "other");
  ASSERT_TRUE(whole.update(goes_on));
  EXPECT_EQ(whole.session()->windows.size(), index.session()->windows.size());
  EXPECT_EQ(events_of(*ask(*whole.session())), events_of(*ask(*index.session())));
}

// Names of one frame, with other lines between.
class NamesTest : public SessionIndexTest {
 protected:
  static constexpr int kNames = 3'000;
  void SetUp() override {
    testing::RandomSession session(dir(), 3, 100'000'000);
    session.add(10);
    session.kill();
    std::string text;
    for (int i = 0; i < kNames; ++i) {
      text += R"({"type":"dict","dict":"name","ids":[)" + std::to_string(1'000 + i) +
              R"(],"values":["name_)" + std::to_string(i) + "_" + std::string(100, 'x') + "\"]}\n";
      if (i % 3 == 0) text += "{\"type\":\"unknown\"}\n";
    }
    for (const auto& entry : fs::directory_iterator(dir())) {
      if (entry.path().filename() != "device.log") continue;
      format::testing::write_text(entry.path(), format::testing::read_text(entry.path()) + text);
    }
    index_ = std::make_unique<SessionIndex>(dir(), cache());
    ASSERT_TRUE(index_->update(goes_on));
  }
  std::unique_ptr<SessionIndex> index_;
};

TEST_F(NamesTest, AreReadInPartsIfNeedBe) {
  Names names;
  int calls = 0;
  base::Status status;
  do {
    int pieces = 0;
    status = names.update(index_->session()->windows, [&] { return ++pieces > 2; });
    ASSERT_LT(++calls, 100);
  } while (status.code() == base::Code::Cancelled);
  ASSERT_TRUE(status) << status.text();
  EXPECT_GT(calls, 1);
  for (const int i : {0, 1, 1'500, kNames - 1}) {
    EXPECT_TRUE(
        names.text(format::Dict::Name, 1'000 + i).starts_with("name_" + std::to_string(i) + "_"));
  }
  EXPECT_EQ(names.matching("NAME_17_").size(), 1U);
}

TEST_F(NamesTest, LabelsDoNotWaitForAnUpdate) {
  Names names;
  bool was_asked = false;
  const auto status = names.update(index_->session()->windows, [&] {
    // Another thread, while lines are being read.
    std::thread([&] { was_asked = names.label(TrackKind::Scopes, 1'000).text == "?"; }).join();
    return was_asked;
  });
  EXPECT_EQ(status.code(), base::Code::Cancelled);
  EXPECT_TRUE(was_asked);
}

TEST_F(NamesTest, EveryLineOfADictionaryIsReadOnce) {
  for (const auto& window : index_->session()->windows) {
    std::set<std::string> lines;
    size_t count = 0;
    ASSERT_TRUE(window->read_dictionaries([&](std::string_view line) {
      EXPECT_NE(line.find("\"dict\""), std::string_view::npos);
      lines.emplace(line);
      ++count;
      return true;
    }));
    EXPECT_EQ(count, window->index().dict_lines.size());
    EXPECT_EQ(lines.size(), count);
  }
}

}  // namespace
}  // namespace gpufl::index
