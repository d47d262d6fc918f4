// SPDX-License-Identifier: Apache-2.0
#include "server/catalogue.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <set>
#include <thread>
#include <utility>

#include "base/eventually.hpp"
#include "format/test_session.hpp"
#include "server/session_json.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::eventually;
using format::testing::TempDir;
using format::testing::test_header;
using format::testing::test_options;
using format::testing::write_text;

class CatalogueTest : public ::testing::Test {
 protected:
  std::unique_ptr<format::LogWriter> begin(const std::string& folder, const std::string& id,
                                           const std::string& run = "run-1") {
    format::SessionHeader header = test_header();
    header.session_id = id;
    header.run_id = run;
    auto writer = format::LogWriter::create(test_options(logs_.path() / folder), header);
    EXPECT_TRUE(writer) << writer.status().text();
    return std::move(*writer);
  }
  void record(const std::string& folder, const std::string& id) {
    EXPECT_TRUE(begin(folder, id)->close(1000, {}).is_ok());
  }
  void start(std::chrono::milliseconds pace = std::chrono::milliseconds(1)) {
    catalogue_.emplace(
        fs::canonical(logs_.path()), pace, [this](const std::vector<Change>& changes) {
          const std::lock_guard lock(mutex_);
          for (const Change& change : changes) {
            changes_.insert(std::string(to_string(change.what)) + " " + change.session->id);
          }
        });
    catalogue_->sessions();  // waits for the first look
  }
  bool has_seen(const std::string& change) {
    const std::lock_guard lock(mutex_);
    return changes_.contains(change);
  }

  TempDir logs_;
  std::mutex mutex_;
  std::set<std::string> changes_;
  std::optional<Catalogue> catalogue_;
};

TEST_F(CatalogueTest, FollowsASessionFromItsFirstLineToItsEnd) {
  start();
  EXPECT_TRUE(catalogue_->sessions().empty());
  auto writer = begin("a", "a");
  ASSERT_TRUE(eventually([&] { return has_seen("appeared a"); }));
  ASSERT_TRUE(
      eventually([&] { return catalogue_->find("a") && catalogue_->find("a")->is_live(); }));
  writer->write(format::testing::scope_rows(*writer, 1, 100, 0));
  ASSERT_TRUE(writer->flush(2000));
  ASSERT_TRUE(eventually([&] { return has_seen("grew a"); }));
  ASSERT_TRUE(writer->close(5000, {}).is_ok());
  ASSERT_TRUE(eventually([&] { return has_seen("ended a"); }));
  EXPECT_EQ(catalogue_->find("a")->listed.duration_ns, 5000);
  EXPECT_EQ(catalogue_->find("a")->listed.state, "complete");
  writer.reset();
  fs::remove_all(logs_.path() / "a");
  ASSERT_TRUE(eventually([&] { return has_seen("removed a"); }));
  EXPECT_FALSE(catalogue_->find("a"));
}

TEST_F(CatalogueTest, ReadsAgainOnlyWhatHasChanged) {
  record("a", "a");
  record("b", "b");
  start();
  const SessionPtr a = catalogue_->find("a"), b = catalogue_->find("b");
  ASSERT_TRUE(a && b);
  write_text(logs_.path() / "b" / "symbols.ndjson", "{}\n");
  ASSERT_TRUE(eventually([&] { return catalogue_->find("b") != b; }));
  EXPECT_EQ(catalogue_->find("a"), a);
  EXPECT_EQ(catalogue_->find("b")->id, "b");
}

TEST_F(CatalogueTest, HostileIdsBecomeHarmlessOnes) {
  const std::string hostile[] = {
      "../../etc/passwd",       "a/b",      ".",  "..", "", std::string(5000, 'x'),
      std::string("nul\0l", 5), "<script>", "a b"};
  int i = 0;
  for (const std::string& id : hostile) {
    auto writer = begin("f" + std::to_string(i++), id, id);
    EXPECT_TRUE(writer->close(1000, {}).is_ok());
  }
  start();
  const auto sessions = catalogue_->sessions();
  ASSERT_EQ(sessions.size(), std::size(hostile));
  for (const SessionPtr& session : sessions) {
    EXPECT_LE(session->id.size(), 128U);
    EXPECT_EQ(session->id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              std::string::npos)
        << session->id;
    EXPECT_EQ(catalogue_->find(session->id), session);
  }
  for (const std::string& id : hostile) EXPECT_FALSE(catalogue_->find(id)) << id;
}

TEST_F(CatalogueTest, OfTwoWithOneIdTheFirstKeepsIt) {
  record("m", "same");
  start();
  const SessionPtr first = catalogue_->find("same");
  record("a", "same");
  ASSERT_TRUE(eventually([&] { return catalogue_->sessions().size() == 2; }));
  EXPECT_EQ(catalogue_->find("same"), first);
  for (const SessionPtr& session : catalogue_->sessions()) {
    EXPECT_EQ(session->id.starts_with("x-"), session != first) << session->id;
  }
}

TEST_F(CatalogueTest, WhatCannotBeReadIsListedAndFollowed) {
  fs::create_directory(logs_.path() / "new");
  write_text(logs_.path() / "new" / "system.log", "");
  start();
  ASSERT_EQ(catalogue_->sessions().size(), 1U);
  EXPECT_EQ(catalogue_->find("new")->listed.state, "unreadable");
  EXPECT_TRUE(session_json(*catalogue_->find("new"), {}).find("problem"));
  // Its first line comes, and the folder's own time does not change by that.
  write_text(logs_.path() / "new" / "system.log", test_header().to_json().dump() + "\n");
  const std::string id = test_header().session_id;
  ASSERT_TRUE(eventually([&] { return catalogue_->find(id) != nullptr; }));
  EXPECT_FALSE(catalogue_->find(id)->listed.has_end);
}

TEST_F(CatalogueTest, LinksLeadNowhere) {
  const TempDir elsewhere;
  fs::create_directory(logs_.path() / "real");
  record("real", "real");
  fs::rename(logs_.path() / "real", elsewhere.path() / "real");
  fs::create_directory_symlink(elsewhere.path() / "real", logs_.path() / "real");
  start();
  EXPECT_TRUE(catalogue_->sessions().empty());
  EXPECT_FALSE(catalogue_->find("real"));
}

// With no other look than the first.
TEST_F(CatalogueTest, WhatIsReportedIsLookedAtAtOnce) {
  record("a", "a");
  start(std::chrono::hours(1));
  const SessionPtr a = catalogue_->find("a");
  ASSERT_TRUE(a);
  const fs::path folder = fs::canonical(logs_.path());
  auto writer = begin("b", "b");
  catalogue_->look_soon(folder / "b");
  ASSERT_TRUE(eventually([&] { return has_seen("appeared b"); }));
  EXPECT_TRUE(catalogue_->find("b")->is_live());
  writer->write(format::testing::scope_rows(*writer, 1, 100, 0));
  ASSERT_TRUE(writer->flush(2000));
  catalogue_->look_soon(folder / "b");
  ASSERT_TRUE(eventually([&] { return has_seen("grew b"); }));
  ASSERT_TRUE(writer->close(5000, {}).is_ok());
  writer.reset();
  catalogue_->look_soon(folder / "b");
  ASSERT_TRUE(eventually([&] { return has_seen("ended b"); }));
  ASSERT_EQ(catalogue_->sessions().size(), 2U);
  fs::remove_all(logs_.path() / "b");
  catalogue_->look_soon(folder / "b");
  ASSERT_TRUE(eventually([&] { return has_seen("removed b"); }));
  EXPECT_FALSE(catalogue_->find("b"));
  ASSERT_EQ(catalogue_->sessions().size(), 1U);
  EXPECT_EQ(catalogue_->sessions().front(), a) << "of others nothing is looked at";
}

// The system gives both changes the same time. One of later on stands for the step of its clock.
TEST_F(CatalogueTest, WhatComesRightAfterTheEndIsSeen) {
  record("a", "a");
  const fs::path folder = fs::canonical(logs_.path());
  const auto later = fs::last_write_time(folder / "a") + std::chrono::hours(1);
  fs::last_write_time(folder / "a", later);
  start(std::chrono::hours(1));
  write_text(folder / "a" / "symbols.ndjson", "{}\n");
  fs::last_write_time(folder / "a", later);
  catalogue_->look_soon(folder / "a");
  EXPECT_TRUE(eventually([&] { return has_seen("grew a"); }));
}

// Its folder goes, and comes back while the look that missed it has not come to its end.
TEST_F(CatalogueTest, ChangesAreToldInTheirOrder) {
  constexpr int kOthers = 100, kRounds = 10;
  record("a", "a");
  for (int i = 0; i < kOthers; ++i) record("s" + std::to_string(i), "s" + std::to_string(i));
  const TempDir elsewhere;
  const fs::path here = fs::canonical(logs_.path()) / "a", away = elsewhere.path() / "a";
  std::vector<std::string> told;
  Catalogue catalogue(here.parent_path(), std::chrono::milliseconds(1),
                      [&](const std::vector<Change>& changes) {
                        const std::lock_guard lock(mutex_);
                        for (const Change& change : changes) {
                          if (change.session->id == "a") told.emplace_back(to_string(change.what));
                        }
                      });
  catalogue.sessions();  // waits for the first look
  std::vector<std::string> expected;
  for (int round = 0; round < kRounds; ++round) {
    fs::rename(here, away);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (catalogue.find("a") && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    fs::rename(away, here);
    catalogue.look_soon(here);
    expected.insert(expected.end(), {"removed", "appeared"});
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex_);
      return told.size() >= expected.size();
    }));
    const std::lock_guard lock(mutex_);
    ASSERT_EQ(told, expected);
  }
}

// What happens while too much waits has its turn with all the others.
TEST_F(CatalogueTest, ReportsAreBounded) {
  const fs::path folder = fs::canonical(logs_.path());
  std::promise<void> is_held, may_go_on;
  bool holds = true;  // the first time
  std::set<std::string> told;
  Catalogue catalogue(folder, std::chrono::milliseconds(1),
                      [&](const std::vector<Change>& changes) {
                        {
                          const std::lock_guard lock(mutex_);
                          for (const Change& change : changes) told.insert(change.session->id);
                          if (!std::exchange(holds, false)) return;
                        }
                        is_held.set_value();
                        may_go_on.get_future().wait();
                      });
  catalogue.sessions();
  record("a", "a");
  is_held.get_future().wait();
  for (size_t i = 0; i < Catalogue::kMostReported; ++i) {
    EXPECT_TRUE(catalogue.look_soon(folder / std::to_string(i)));
  }
  record("z", "z");
  EXPECT_FALSE(catalogue.look_soon(folder / "z"));
  EXPECT_TRUE(catalogue.look_soon(folder / "0")) << "it is looked at anyway";
  may_go_on.set_value();
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex_);
    return told.contains("z");
  }));
  EXPECT_EQ(catalogue.sessions().size(), 2U) << "nobody hears of what is no session";
}

TEST_F(CatalogueTest, TheNewestIsTheFirstWhateverChanges) {
  for (const char* id : {"a", "b", "c"}) record(id, id);
  start();
  for (const char* id : {"b", "a", "c"}) {
    const SessionPtr before = catalogue_->find(id);
    write_text(logs_.path() / id / "symbols.ndjson", "{}\n");
    ASSERT_TRUE(eventually([&] { return catalogue_->find(id) != before; }));
    const auto sessions = catalogue_->sessions();
    ASSERT_EQ(sessions.size(), 3U);
    for (size_t i = 1; i < sessions.size(); ++i) {
      EXPECT_FALSE(is_older(sessions[i - 1]->listed.found, sessions[i]->listed.found));
    }
  }
}

TEST_F(CatalogueTest, ASessionItselfCanBeTheFolder) {
  record("a", "a");
  catalogue_.emplace(fs::canonical(logs_.path() / "a"), std::chrono::milliseconds(1), nullptr);
  ASSERT_EQ(catalogue_->sessions().size(), 1U);
  EXPECT_EQ(catalogue_->find("a")->name, ".");
}

}  // namespace
}  // namespace gpufl::server
