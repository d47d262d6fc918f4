// SPDX-License-Identifier: Apache-2.0
#include "store/health.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "store/folder_lock.hpp"
#include "store/inspect.hpp"
#include "store/people.hpp"
#include "store/test_faults.hpp"
#include "store/test_health.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using base::TempDir;
using format::Channel;
using testing::Fault;
using testing::FaultyBlobs;
using testing::HealthText;
using testing::kSecond_ns;
using testing::kStart_s;
using testing::live_piece;
using testing::session_id;
using testing::TestReading;
using testing::window_piece;
using What = Outcome::What;

constexpr int64_t kNow_ms = (kStart_s + 4 * 3600) * 1000;
constexpr int64_t kOneDay_ms = kDay_s * 1000;

class HealthTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start(std::unique_ptr<BlobStore> blobs = nullptr, const WindowBounds& bounds = {}) {
    store_.reset();
    StoreLimits limits;
    limits.health.pace = std::chrono::hours(1);  // tests say when
    limits.health.window = bounds;
    auto opened = testing::open_store(folder_.path(), limits, std::move(blobs));
    ASSERT_TRUE(opened) << opened.status().text();
    store_ = std::move(*opened);
  }
  What send(int session, uint64_t number, const HealthText& text, int64_t workspace = 1) {
    return store_
        ->take(window_piece(*store_, session_id(session), Channel::System, number, text.text(),
                            workspace))
        .what;
  }
  What send_live(int session, uint64_t number, const HealthText& text, uint64_t from = 0) {
    return store_
        ->take(live_piece(session_id(session), Channel::System, number, from,
                          text.text().substr(from)))
        .what;
  }
  void pack(int64_t now_ms = kNow_ms) {
    const Status packed = store_->health().pack_all(now_ms);
    ASSERT_TRUE(packed) << packed.text();
  }
  HealthAnswer read(int64_t device = 1, int64_t from_s = kStart_s - 3600,
                    int64_t to_s = kStart_s + 3 * 3600, size_t points = 14'400) {
    const auto answer = store_->health().read({.workspace = 1,
                                               .device = device,
                                               .from_s = from_s,
                                               .to_s = to_s,
                                               .points = points,
                                               .metrics = {},
                                               .now_s = kNow_ms / 1000});
    EXPECT_TRUE(answer) << answer.status().text();
    return answer ? *answer : HealthAnswer();
  }
  // What is known of each second, by what the clock showed.
  std::map<int64_t, HealthBucket> seconds(const std::string& metric, int64_t device = 1) {
    const HealthAnswer answer = read(device);
    EXPECT_EQ(answer.step_s, 1);
    std::map<int64_t, HealthBucket> found;
    for (const auto& [name, series] : answer.series) {
      if (name.metric != metric) continue;
      for (const HealthBucket& one : series) found[answer.from_s + one.at] = one;
    }
    return found;
  }
  uint64_t count(const std::string& metric, int64_t device = 1) {
    uint64_t count = 0;
    for (const auto& [at, bucket] : seconds(metric, device)) count += bucket.count;
    return count;
  }
  static void fill(HealthText& text, int64_t from_s, int64_t count) {
    std::vector<TestReading> readings;
    for (int64_t i = from_s; i < from_s + count; ++i) {
      readings.push_back({i * kSecond_ns, 0, "power_mw", 1000 + i});
    }
    text.add(readings);
  }
  static HealthText one_each_second(int session, uint64_t number, int64_t from_s, int64_t count) {
    HealthText text(session_id(session), number);
    fill(text, from_s, count);
    return text;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code error;
    const fs::path top = folder_.path() / "workspaces/1/health";
    for (const auto& entry : fs::recursive_directory_iterator(top, error)) {
      if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(top).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  uint64_t problems() const {
    const auto found = check_store(folder_.path(), [](const std::string&) {});
    return found ? found->problems : UINT64_MAX;
  }

  TempDir folder_;
  std::unique_ptr<SessionStore> store_;
};

TEST_F(HealthTest, ReadingsOfAWindowAreInEveryLevel) {
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 1200)), What::Stored);
  pack();
  const auto devices = store_->health().devices(1);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().host, "node1");
  EXPECT_EQ(devices->front().uuid, "GPU-0");
  EXPECT_EQ(devices->front().name, "Test GPU");
  EXPECT_EQ(devices->front().last_ms, (kStart_s + 1199) * 1000);
  const auto found = seconds("power_mw");
  ASSERT_EQ(found.size(), 1200U);
  EXPECT_EQ(found.at(kStart_s + 17),
            (HealthBucket{found.at(kStart_s + 17).at, 1, 1017, 1017, 1017}));
  const std::map<size_t, int64_t> steps = {{14'400, 1}, {1440, 10}, {240, 60},
                                           {24, 600},   {4, 3600},  {3, 7200}};
  for (const auto& [points, step_s] : steps) {
    const HealthAnswer answer = read(1, kStart_s - 3600, kStart_s + 3 * 3600, points);
    EXPECT_GE(answer.step_s, step_s);
    EXPECT_LE(answer.step_s, 2 * step_s) << "where buckets do not begin with the range";
    ASSERT_EQ(answer.series.size(), 1U);
    const HealthSeries& series = answer.series.begin()->second;
    EXPECT_LE(series.back().at, points);
    uint64_t count = 0;
    int64_t least = INT64_MAX, most = 0, sum = 0;
    for (const HealthBucket& one : series) {
      count += one.count;
      sum += one.sum;
      least = std::min(least, one.least);
      most = std::max(most, one.most);
    }
    EXPECT_EQ(count, 1200U) << points;
    EXPECT_EQ(sum, 1200 * 1000 + 1199 * 600);
    EXPECT_EQ(least, 1000);
    EXPECT_EQ(most, 2199);
  }
  EXPECT_EQ(problems(), 0U);
}

TEST_F(HealthTest, TheSameWindowAgainChangesNothing) {
  const HealthText text = one_each_second(1, 1, 0, 100);
  ASSERT_EQ(send(1, 1, text), What::Stored);
  pack();
  const auto before = files();
  EXPECT_EQ(before.size(), kHealthLevels);
  ASSERT_EQ(send(1, 1, text), What::Known);
  pack();
  EXPECT_EQ(files(), before);
  // Its sender sends it again once all of it has gone.
  auto people = People::open(catalogue_file(folder_.path()));
  ASSERT_TRUE(people &&
              (*people)->set_retention(1, {.keep_days = {}, .keep_bytes = {}, .deleted_days = 0}));
  ASSERT_TRUE(store_->set_deleted(1, session_id(1), true));
  ASSERT_TRUE(store_->apply_retention(base::wall_ns() / 1'000'000 + kOneDay_ms));
  EXPECT_EQ(count("power_mw"), 100U) << "readings are the GPU's, and stay";
  ASSERT_TRUE(store_->set_deleted(1, session_id(1), false));
  ASSERT_EQ(send(1, 1, text), What::Stored);
  pack();
  EXPECT_EQ(count("power_mw"), 100U);
}

TEST_F(HealthTest, LinesGiveWayToTheirWindow) {
  HealthText text = one_each_second(1, 1, 0, 50);
  ASSERT_EQ(send_live(1, 1, text), What::Stored);
  pack();
  EXPECT_EQ(count("power_mw"), 50U);
  const uint64_t sent = text.text().size();
  text.add({{50 * kSecond_ns, 0, "power_mw", 7}});
  ASSERT_EQ(send_live(1, 1, text, sent), What::Stored);
  pack();
  EXPECT_EQ(count("power_mw"), 51U);
  start();
  pack();
  EXPECT_EQ(count("power_mw"), 51U) << "after a restart the lines are read again";
  text.add({{51 * kSecond_ns, 0, "power_mw", 8}});
  ASSERT_EQ(send(1, 1, text), What::Stored);
  pack();
  const auto found = seconds("power_mw");
  EXPECT_EQ(found.size(), 52U);
  EXPECT_EQ(found.at(kStart_s + 50).sum, 7);
  const auto before = files();
  start();
  pack();
  EXPECT_EQ(files(), before) << "what is packed is not packed again";
}

TEST_F(HealthTest, WhatLinesSaidAndTheirWindowDoesNotIsForgotten) {
  HealthText lines(session_id(1), 1);
  lines.add({{0, 0, "power_mw", 1}, {7200 * kSecond_ns, 0, "power_mw", 2}});
  ASSERT_EQ(send_live(1, 1, lines), What::Stored);
  pack();
  EXPECT_EQ(count("power_mw"), 2U);
  HealthText window(session_id(1), 1);
  window.add({{0, 0, "power_mw", 1}});
  ASSERT_EQ(send(1, 1, window), What::Stored);
  pack();
  EXPECT_EQ(count("power_mw"), 1U);
  EXPECT_EQ(files().size(), kHealthLevels) << "an hour without readings has no blobs";
}

TEST_F(HealthTest, WindowsComeInAnyOrder) {
  std::vector<uint64_t> order(12);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i + 1;
  std::mt19937_64 random(1);
  std::shuffle(order.begin(), order.end(), random);
  for (const uint64_t number : order) {
    const auto from_s = static_cast<int64_t>(number - 1) * 600;
    ASSERT_EQ(send(1, number, one_each_second(1, number, from_s, 600)), What::Stored);
    if (number % 3 == 0) pack();
  }
  pack();
  const auto found = seconds("power_mw");
  ASSERT_EQ(found.size(), 7200U);
  for (const auto& [at, bucket] : found) {
    EXPECT_EQ(bucket.count, 1U);
    EXPECT_EQ(bucket.sum, 1000 + at - kStart_s);
  }
}

TEST_F(HealthTest, ReadingsAreWhereTheClockSaysAfterItWasSet) {
  HealthText text(session_id(1), 1);
  // Readings may stand before the line that says what their time is.
  text.add({{10 * kSecond_ns, 0, "power_mw", 1},
            {20 * kSecond_ns, 0, "power_mw", 2},
            {30 * kSecond_ns, 0, "power_mw", 3}});
  text.clock(9 * kSecond_ns, (kStart_s + 9) * kSecond_ns + 5'000'000);  // has drifted, by a little
  text.clock(20 * kSecond_ns, (kStart_s + 20 + 3600) * kSecond_ns);     // set on by an hour
  text.clock(30 * kSecond_ns, (kStart_s + 30 - 60) * kSecond_ns);       // and back
  ASSERT_EQ(send(1, 1, text), What::Stored);
  pack();
  std::map<int64_t, int64_t> found;
  for (const auto& [at, bucket] : seconds("power_mw")) found[at - kStart_s] = bucket.sum;
  EXPECT_EQ(found, (std::map<int64_t, int64_t>{{10, 1}, {3620, 2}, {-30, 3}}));
}

TEST_F(HealthTest, TwoSessionsOnOneGpuAreOneDevice) {
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 10)), What::Stored);
  ASSERT_EQ(send(2, 1, one_each_second(2, 1, 5, 10)), What::Stored);
  pack();
  EXPECT_EQ(store_->health().devices(1)->size(), 1U);
  const auto found = seconds("power_mw");
  EXPECT_EQ(found.size(), 15U);
  EXPECT_EQ(found.at(kStart_s + 7).count, 2U);
}

TEST_F(HealthTest, EventsAndFormerNamesArePackedToo) {
  HealthText text(session_id(1), 1, 2);
  text.add({{0, 1, "sm_clock_mhz", 1500},
            {0, 1, "throttle_reasons_bits", 4},
            {1, 1, "throttle_reasons_bits", 1}});
  text.line(R"({"type":"event","time":5,"name":"xid","device":1,"code":79,"text":"fell off"})");
  text.line(R"({"type":"event","time":6,"name":"xid","device":1,"code":79,"text":"fell off"})");
  ASSERT_EQ(send(1, 1, text), What::Stored);
  pack();
  const auto devices = store_->health().devices(1);
  ASSERT_EQ(devices->size(), 2U);
  const HealthAnswer answer = read(devices->at(1).id);
  ASSERT_EQ(answer.series.size(), 3U);
  EXPECT_EQ(answer.series.at({"compute_clock_mhz", 0}).front().sum, 1500);
  EXPECT_EQ(answer.series.at({"xid_events", 79}).front().count, 2U);
  EXPECT_EQ(answer.series.at({"clock_limits_bits", 0}).front().most, 5);
  EXPECT_EQ(answer.series.at({"clock_limits_bits", 0}).front().least, 0);
}

TEST_F(HealthTest, WhatCannotBeIsDroppedAndCounted) {
  start(nullptr, {.buckets = 1'000'000, .hours = 3, .series = 2});
  HealthText text(session_id(1), 1);
  text.add({{0, 0, "a", 1},
            {0, 0, "b", 1},
            {0, 0, "c", 1},  // a series too many
            {0, 9, "a", 1},  // no such GPU
            {INT64_MAX, 0, "a", 1},
            {-5, 0, "a", 1},                           // no such time
            {10 * kOneDay_ms * 1'000'000, 0, "a", 1},  // to come
            {3600 * kSecond_ns, 0, "a", 1},
            {7200 * kSecond_ns, 0, "a", 1},
            {10'800 * kSecond_ns, 0, "a", 1}});  // an hour too many
  ASSERT_EQ(send(1, 1, text), What::Stored);
  HealthText nothing(session_id(2), 1, 0);
  ASSERT_EQ(send(2, 1, nothing), What::Stored);
  pack();
  EXPECT_EQ(store_->health().counts(1).dropped, 6U);
  EXPECT_EQ(store_->health().counts(1).readings, 4U);
  EXPECT_EQ(count("a"), 3U);
}

TEST_F(HealthTest, OtherWorkspacesHaveTheirOwn) {
  ASSERT_TRUE((*People::open(catalogue_file(folder_.path())))->add_workspace("second"));
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 10)), What::Stored);
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 20), 2), What::Stored);
  pack();
  const auto first = store_->health().devices(1), second = store_->health().devices(2);
  ASSERT_EQ(first->size(), 1U);
  ASSERT_EQ(second->size(), 1U);
  EXPECT_NE(first->front().id, second->front().id);
  EXPECT_EQ(count("power_mw", first->front().id), 10U);
  const auto foreign = store_->health().read({.workspace = 1,
                                              .device = second->front().id,
                                              .from_s = kStart_s,
                                              .to_s = kStart_s + 60,
                                              .points = 60,
                                              .metrics = {},
                                              .now_s = kNow_ms / 1000});
  EXPECT_EQ(foreign.status().code(), Code::NotFound);
}

TEST_F(HealthTest, WhateverCallFailsNothingIsLostOrCountedTwice) {
  bool has_failed = true;
  // Every call of the first blob, and some of the others.
  for (int call = 0; has_failed; call += call < 4 ? 1 : 5) {
    SCOPED_TRACE(call);
    ASSERT_LT(call, 100);
    const TempDir folder;
    StoreLimits limits;
    limits.health.pace = std::chrono::hours(1);
    auto blobs = FolderBlobs::open(folder.path());
    ASSERT_TRUE(blobs);
    auto fault = std::make_shared<Fault>();
    auto store = testing::open_store(folder.path(), limits,
                                     std::make_unique<FaultyBlobs>(std::move(*blobs), fault));
    ASSERT_TRUE(store);
    has_failed = false;
    for (uint64_t number = 1; number <= 2; ++number) {
      const auto from_s = static_cast<int64_t>(number - 1) * 300;
      HealthText text(session_id(1), number);
      fill(text, from_s, 300);
      fault->calls_left = -1;
      ASSERT_EQ(
          (*store)
              ->take(window_piece(**store, session_id(1), Channel::System, number, text.text()))
              .what,
          What::Stored);
      if (number == 2) fault->calls_left = call;
      has_failed = !(*store)->health().pack_all(kNow_ms);
    }
    store->reset();
    // As a kill leaves it: a blob that nobody tells of.
    const fs::path orphan = folder.path() / "workspaces/1/health/498531/1.1.77";
    fs::create_directories(orphan.parent_path());
    format::testing::write_text(orphan, "half");
    auto again = testing::open_store(folder.path(), limits);
    ASSERT_TRUE(again);
    EXPECT_FALSE(fs::exists(orphan));
    ASSERT_TRUE((*again)->health().pack_all(kNow_ms));
    const auto answer = (*again)->health().read({.workspace = 1,
                                                 .device = 1,
                                                 .from_s = kStart_s,
                                                 .to_s = kStart_s + 3600,
                                                 .points = 60,
                                                 .metrics = {},
                                                 .now_s = kNow_ms / 1000});
    ASSERT_TRUE(answer) << answer.status().text();
    ASSERT_EQ(answer->series.size(), 1U);
    uint64_t count = 0;
    for (const auto& one : answer->series.begin()->second) count += one.count;
    EXPECT_EQ(count, 600U);
    const auto found = check_store(folder.path(), [](const std::string&) {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->problems, 0U);
  }
}

TEST_F(HealthTest, EachLevelIsKeptForAsLongAsSomebodySaid) {
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 100)), What::Stored);
  pack();
  const int64_t used = store_->admission().used(1);
  auto people = People::open(catalogue_file(folder_.path()));
  Retention retention;
  retention.health_days = {1, 2, 3, 0, 5};
  ASSERT_TRUE(people && (*people)->set_retention(1, retention));
  EXPECT_EQ(*(*people)->retention_of(1), retention);
  ASSERT_TRUE(store_->health().apply_retention(kNow_ms));
  EXPECT_EQ(files().size(), 4U) << "one level is not kept at all";
  EXPECT_LT(store_->admission().used(1), used);
  ASSERT_TRUE(store_->health().apply_retention(kNow_ms + 2 * kOneDay_ms));
  EXPECT_EQ(files().size(), 2U);
  // Late readings go where there still is a place for them.
  ASSERT_EQ(send(1, 2, one_each_second(1, 2, 100, 100)), What::Stored);
  pack(kNow_ms + 2 * kOneDay_ms);
  EXPECT_EQ(files().size(), 2U);
  const HealthAnswer answer = read();
  EXPECT_EQ(answer.level_s, 1) << "what is asked for by a clock that is behind";
  const auto late = store_->health().read({.workspace = 1,
                                           .device = 1,
                                           .from_s = kStart_s,
                                           .to_s = kStart_s + 600,
                                           .points = 600,
                                           .metrics = {"power_mw", "other"},
                                           .now_s = kNow_ms / 1000 + 2 * kOneDay_ms / 1000});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->level_s, 60) << "the finest that is kept for so long";
  uint64_t count = 0;
  for (const auto& one : late->series.begin()->second) count += one.count;
  EXPECT_EQ(count, 200U);
  ASSERT_TRUE(store_->health().apply_retention(kNow_ms + 6 * kOneDay_ms));
  EXPECT_TRUE(files().empty());
  ASSERT_TRUE(store_->health().apply_retention(base::wall_ns() / 1'000'000 + 6000 * kOneDay_ms));
  EXPECT_TRUE(store_->health().devices(1)->empty());
}

TEST_F(HealthTest, AStoreOfBeforeIsPackedOnceItIsOpen) {
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 100)), What::Stored);
  store_.reset();
  {
    auto database =
        sqlite::Database::open(catalogue_file(folder_.path()), sqlite::Database::Mode::Durable);
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->run_script(testing::kWithoutHealth));
    ASSERT_TRUE(
        (*database)->run_script("UPDATE schema_version SET version = 4 WHERE part = 'catalogue'"));
  }
  start();
  pack();
  EXPECT_EQ(count("power_mw"), 100U);
}

TEST_F(HealthTest, CheckFindsDamageAndBackupHasAll) {
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 100)), What::Stored);
  pack();
  EXPECT_EQ(problems(), 0U);
  const fs::path target = folder_.path() / "backup";
  ASSERT_TRUE(copy_store(folder_.path(), target));
  const fs::path blob = folder_.path() / "workspaces/1/health" / files().front();
  format::testing::write_text(blob, "other bytes");
  EXPECT_EQ(problems(), 1U);
  fs::remove(blob);
  EXPECT_EQ(problems(), 1U);
  const auto whole = check_store(target, [](const std::string&) {});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->problems, 0U);
  EXPECT_GE(whole->blobs, kHealthLevels + 1);
}

TEST_F(HealthTest, TheServersOwnThreadPacksWhatArrives) {
  store_.reset();
  StoreLimits limits;
  limits.health.pace = std::chrono::milliseconds(10);
  auto opened = testing::open_store(folder_.path(), limits);
  ASSERT_TRUE(opened);
  store_ = std::move(*opened);
  ASSERT_EQ(send(1, 1, one_each_second(1, 1, 0, 100)), What::Stored);
  EXPECT_TRUE(base::eventually([&] { return store_->health().counts(1).windows == 1; }));
}

}  // namespace
}  // namespace gpufl::store
