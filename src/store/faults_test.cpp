// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "format/manifest.hpp"
#include "format/seal.hpp"
#include "store/test_faults.hpp"
#include "store/test_pieces.hpp"

// What a store makes of a disk that fails and of being killed: nothing that it acknowledged is
// lost, and what it did not acknowledge can be sent again.
namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using base::TempDir;
using format::Channel;
using format::testing::read_text;
using testing::Fault;
using testing::FaultyBlobs;
using testing::live_piece;
using testing::live_text;
using testing::session_id;
using testing::window_piece;
using What = Outcome::What;

// Every row of the catalogue has its blob, and every blob its row.
void expect_whole(SessionStore& store, const fs::path& folder, const std::string& session) {
  const auto status = store.status(1, session);
  ASSERT_TRUE(status);
  if (!*status) return;
  const fs::path dir = folder / session_prefix(1, (*status)->session.id);
  std::vector<std::string> expected;
  for (const StoredWindow& window : (*status)->contents.windows) {
    const bool is_sealed = window.state == WindowState::Sealed;
    expected.push_back(blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live,
                                      window.channel, window.number, {}));
  }
  for (const StoredFile& file : (*status)->contents.files) {
    expected.push_back(blob_file_name(*find_piece_kind(file.kind), {}, 0, {}));
  }
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> found;
  if (fs::exists(dir)) found = format::testing::file_names(dir);
  std::erase(found, "lock");
  EXPECT_EQ(found, expected) << session;
}

TEST(StoreFaultsTest, WhateverCallFailsNothingIsLostAndTheNextTryIsStored) {
  const std::string id = session_id(1);
  const std::string text = live_text(id, Channel::Scope, 1, 3);
  const std::string manifest = live_text(id, Channel::System, 1, 1);
  for (const Code code : {Code::IoError, Code::LimitReached}) {
    bool has_failed = true;
    for (int call = 0; has_failed; ++call) {
      ASSERT_LT(call, 100);
      const TempDir folder;
      auto fault = std::make_shared<Fault>();
      fault->code = code;
      auto blobs = FolderBlobs::open(folder.path());
      ASSERT_TRUE(blobs);
      auto store = testing::open_store(folder.path(), {},
                                       std::make_unique<FaultyBlobs>(std::move(*blobs), fault));
      ASSERT_TRUE(store) << store.status().text();
      fault->calls_left = call;
      const auto send = [&] {
        std::vector<What> outcomes;
        const auto add = [&](Piece piece) {
          outcomes.push_back(!piece.blob && piece.kind != PieceKind::Live
                                 ? What::Failed
                                 : (*store)->take(std::move(piece)).what);
        };
        add(window_piece(**store, id, Channel::Scope, 1, text));
        add(live_piece(id, Channel::Scope, 2, 0, live_text(id, Channel::Scope, 2, 1)));
        add(testing::with_blob(**store, testing::piece_of(PieceKind::Manifest, id), manifest));
        add(window_piece(**store, id, Channel::Device, 1, "junk"));
        return outcomes;
      };
      const std::vector<What> first = send();
      has_failed = fault->calls_left < 0;
      fault->calls_left = -1;
      const std::vector<What> wanted = {What::Stored, What::Stored, What::Stored,
                                        What::Quarantined};
      const std::vector<What> again = send();
      size_t failures = 0;
      for (size_t i = 0; i < wanted.size(); ++i) {
        const bool is_done = first[i] == wanted[i];
        failures += is_done ? 0 : 1;
        if (!is_done) {
          EXPECT_TRUE(first[i] == What::Failed ||
                      (code == Code::LimitReached && first[i] == What::Full))
              << call << " " << i;
        }
        const What then = is_done && i < 3 ? What::Known : wanted[i];
        EXPECT_EQ(again[i], then) << "call " << call << ", piece " << i;
      }
      EXPECT_EQ(failures > 0, has_failed) << call;
      EXPECT_EQ(read_text(folder.path() / session_prefix(1, 1) / "scope.1.log.zst"), text);
      expect_whole(**store, folder.path(), id);
    }
  }
}

TEST(StoreFaultsTest, AFileStaysAsItWasWhereANewerOneCannotBeKept) {
  const std::string id = session_id(1);
  const std::string older = live_text(id, Channel::System, 1, 1);
  std::string newer = older;
  newer[newer.size() - 4] = 'z';  // of the same size
  bool has_failed = true;
  for (int call = 0; has_failed; ++call) {
    ASSERT_LT(call, 100);
    const TempDir folder;
    auto fault = std::make_shared<Fault>();
    auto blobs = FolderBlobs::open(folder.path());
    auto store = testing::open_store(folder.path(), {},
                                     std::make_unique<FaultyBlobs>(std::move(*blobs), fault));
    ASSERT_TRUE(store) << store.status().text();
    const auto send = [&](const std::string& bytes, uint64_t version) {
      Piece piece = testing::with_blob(**store, testing::piece_of(PieceKind::Manifest, id), bytes);
      piece.version = version;
      return piece.blob ? (*store)->take(std::move(piece)).what : What::Failed;
    };
    ASSERT_EQ(send(older, 1), What::Stored);
    fault->calls_left = call;
    const What outcome = send(newer, 2);
    has_failed = outcome != What::Stored;
    fault->calls_left = -1;
    const auto there = (*store)->status(1, id);
    const std::string& told = (*there)->contents.files.at(0).sha256;
    const fs::path file = folder.path() / session_prefix(1, 1) / format::kManifestName;
    EXPECT_EQ(told, testing::sha256_of_text(has_failed ? older : newer)) << call;
    const bool is_put = read_text(file) == (has_failed ? older : newer);
    store->reset();
    store = testing::open_store(folder.path());
    EXPECT_EQ(testing::sha256_of_text(read_text(file)), told) << call;
    // Only where the very last step has failed the next start has to do it.
    EXPECT_TRUE(is_put || !has_failed) << call;
    EXPECT_EQ(send(newer, 2), has_failed ? What::Stored : What::Known);
    EXPECT_EQ(read_text(file), newer);
  }
}

// Calls a function before it is synced: what others do while a piece is being checked.
class InterruptedBlob : public IncomingBlob {
 public:
  InterruptedBlob(IncomingPtr blob, std::function<void()> others)
      : blob_(std::move(blob)), others_(std::move(others)) {}
  Status append(std::string_view bytes) override { return blob_->append(bytes); }
  Status sync() override {
    others_();
    return blob_->sync();
  }
  uint64_t size() const override { return blob_->size(); }
  const fs::path& path() const override { return blob_->path(); }

 private:
  const IncomingPtr blob_;
  const std::function<void()> others_;
};

TEST(StoreFaultsTest, ATextThatEndsWhileItsWindowComesIsNoConflict) {
  const TempDir folder;
  auto store = testing::open_store(folder.path());
  ASSERT_TRUE(store);
  const std::string id = session_id(1);
  const std::string text = live_text(id, Channel::Scope, 1, 3);
  Piece window = window_piece(**store, id, Channel::Scope, 1, text);
  window.blob = std::make_unique<InterruptedBlob>(std::move(window.blob), [&] {
    Piece end = live_piece(id, Channel::Scope, 1, 0, text);
    end.is_final = true;
    end.told_sha256 = testing::sha256_of_text(text);
    EXPECT_EQ((*store)->take(std::move(end)).what, What::Stored);
  });
  EXPECT_EQ((*store)->take(std::move(window)).what, What::Busy);
  EXPECT_EQ((*store)->take(window_piece(**store, id, Channel::Scope, 1, text)).what, What::Stored);
  EXPECT_TRUE((*store)->set_aside(1)->empty());
}

// A store whose catalogue the test reaches, too.
struct OpenedStore {
  sqlite::Database* catalogue = nullptr;
  std::unique_ptr<SessionStore> store;
};

OpenedStore open_with_catalogue(const fs::path& folder, std::unique_ptr<BlobStore> blobs) {
  auto catalogue = SqliteCatalogue::open(folder / "catalogue.db");
  EXPECT_TRUE(catalogue && (*catalogue)->add_workspace("first"));
  sqlite::Database* database = &(*catalogue)->database();
  auto store = SessionStore::open(std::move(blobs), std::move(*catalogue), folder / "journal");
  EXPECT_TRUE(store);
  return {database, std::move(*store)};
}

// Calls a function before a file is put in place.
class InterruptedBlobs : public FaultyBlobs {
 public:
  InterruptedBlobs(std::unique_ptr<BlobStore> blobs, std::function<void()> others)
      : FaultyBlobs(std::move(blobs), std::make_shared<Fault>()), others_(std::move(others)) {}
  Status place(IncomingBlob& blob, const std::string& name) override {
    others_();
    return FaultyBlobs::place(blob, name);
  }

 private:
  const std::function<void()> others_;
};

TEST(StoreFaultsTest, WhereOthersLockTheCatalogueForTooLongNothingIsStored) {
  const TempDir folder;
  std::unique_ptr<sqlite::Database> other;
  auto blobs = FolderBlobs::open(folder.path());
  ASSERT_TRUE(blobs);
  const auto unlock = [&] { other.reset(); };
  const OpenedStore opened = open_with_catalogue(
      folder.path(), std::make_unique<InterruptedBlobs>(std::move(*blobs), unlock));
  SessionStore& store = *opened.store;
  const std::string id = session_id(1);
  const auto send = [&](uint64_t window) {
    return store
        .take(window_piece(store, id, Channel::Scope, window,
                           live_text(id, Channel::Scope, window, 3)))
        .what;
  };
  ASSERT_EQ(send(1), What::Stored);
  ASSERT_TRUE(opened.catalogue->run("PRAGMA busy_timeout = 1"));
  auto locking =
      sqlite::Database::open(folder.path() / "catalogue.db", sqlite::Database::Mode::Durable);
  ASSERT_TRUE(locking);
  other = std::move(*locking);
  ASSERT_TRUE(other->run("BEGIN IMMEDIATE"));
  EXPECT_EQ(send(2), What::Failed);
  unlock();
  expect_whole(store, folder.path(), id);
  EXPECT_EQ(send(2), What::Stored);
  expect_whole(store, folder.path(), id);
}

TEST(StoreFaultsTest, LinesWhoseCommitFailedAreNobodyElsesAfterAKill) {
  const TempDir folder;
  auto blobs = FolderBlobs::open(folder.path());
  ASSERT_TRUE(blobs);
  const OpenedStore opened = open_with_catalogue(folder.path(), std::move(*blobs));
  SessionStore& store = *opened.store;
  sqlite::Database& catalogue = *opened.catalogue;
  // What breaks a rule that is only looked at then lets the commit fail.
  ASSERT_TRUE(catalogue.run(
      "CREATE TABLE rule (of INTEGER REFERENCES workspaces (id) DEFERRABLE INITIALLY DEFERRED)"));
  ASSERT_TRUE(
      catalogue.run("CREATE TRIGGER breaks AFTER INSERT ON windows BEGIN INSERT INTO rule VALUES "
                    "(-1); END"));
  const std::string stranger = session_id(1), own = session_id(2);
  const std::string text = live_text(own, Channel::Scope, 1, 2);
  EXPECT_EQ(store
                .take(live_piece(stranger, Channel::Scope, 1, 0,
                                 live_text(stranger, Channel::Scope, 1, 50)))
                .what,
            What::Failed);
  ASSERT_TRUE(catalogue.run("DROP TRIGGER breaks"));
  EXPECT_EQ(store.take(live_piece(own, Channel::Scope, 1, 0, text)).what, What::Stored);
  // As a kill leaves it.
  const TempDir copy;
  fs::copy(folder.path(), copy.path(), fs::copy_options::recursive);
  const auto again = testing::open_store(copy.path());
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(read_text(copy.path() / session_prefix(1, 1) / "scope.1.log"), text);
}

TEST(StoreFaultsTest, ACatalogueThatIsFullRefusesAndGoesOnLater) {
  const TempDir folder;
  auto blobs = FolderBlobs::open(folder.path());
  ASSERT_TRUE(blobs);
  const OpenedStore opened = open_with_catalogue(folder.path(), std::move(*blobs));
  sqlite::Database& database = *opened.catalogue;
  const auto& store = opened.store;
  // The store is at rest while this is done.
  const auto limit_pages = [&](const std::string& pages) {
    ASSERT_TRUE(database.run("PRAGMA max_page_count = " + pages));
  };
  limit_pages("20");
  uint64_t stored = 0;
  const auto send = [&](uint64_t number) {
    const std::string id = session_id(static_cast<int>(number));
    return store->take(
        window_piece(*store, id, Channel::Scope, 1, live_text(id, Channel::Scope, 1, 1)));
  };
  Outcome outcome;
  while ((outcome = send(stored + 1)).what == What::Stored) ASSERT_LT(++stored, 5000U);
  EXPECT_EQ(outcome.what, What::Full) << outcome.why;
  EXPECT_GT(stored, 5U);
  expect_whole(*store, folder.path(), session_id(static_cast<int>(stored)));
  EXPECT_FALSE(*store->status(1, session_id(static_cast<int>(stored + 1))));
  limit_pages("100000");
  EXPECT_EQ(send(stored + 1).what, What::Stored);
  expect_whole(*store, folder.path(), session_id(static_cast<int>(stored + 1)));
}

// What a sender sends in order, as long as it lives: lines of a window, a longer manifest, the
// sealed window, and then of the next window.
constexpr int kSteps = 5;
std::string window_text(int sender, uint64_t window) {
  return live_text(session_id(sender), Channel::Scope, window, 6);
}
std::string manifest_text(int sender, uint64_t window) {
  return live_text(session_id(sender), Channel::System, 1, static_cast<int>(window));
}
size_t behind_line(const std::string& text, int lines) {
  size_t at = 0;
  while (lines-- > 0) at = text.find('\n', at) + 1;
  return at;
}
Piece step_piece(SessionStore& store, int sender, uint64_t step) {
  const std::string id = session_id(sender);
  const uint64_t window = step / kSteps + 1;
  const std::string text = window_text(sender, window);
  const size_t third = behind_line(text, 2), half = behind_line(text, 4);
  switch (step % kSteps) {
    case 0: return live_piece(id, Channel::Scope, window, 0, text.substr(0, third));
    case 1: return live_piece(id, Channel::Scope, window, third, text.substr(third, half - third));
    case 2: return live_piece(id, Channel::Scope, window, half, text.substr(half));
    case 3:
      return testing::with_blob(store, testing::piece_of(PieceKind::Manifest, id),
                                manifest_text(sender, window));
    default: return window_piece(store, id, Channel::Scope, window, text);
  }
}

constexpr int kSenders = 3;

// Sends on until it is killed, and says on `out` what was acknowledged.
[[noreturn]] void send_for_ever(const fs::path& folder, int out,
                                const std::array<uint64_t, kSenders>& from) {
  // A journal of a few hundred bytes is begun anew all the time.
  auto store = testing::open_store(folder, {.journal_bytes = 300});
  if (!store) ::_exit(3);
  std::vector<std::thread> threads;
  for (int sender = 0; sender < kSenders; ++sender) {
    threads.emplace_back([&, sender] {
      for (uint64_t step = from[static_cast<size_t>(sender)];; ++step) {
        const What what = (*store)->take(step_piece(**store, sender, step)).what;
        const bool is_there =
            what == What::Stored || what == What::Known || what == What::Superseded;
        if (!is_there) ::_exit(10 + static_cast<int>(what));
        const std::array<unsigned char, 2> acknowledged = {static_cast<unsigned char>(sender), 1};
        if (::write(out, acknowledged.data(), acknowledged.size()) != 2) ::_exit(5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ::_exit(6);
}

TEST(StoreFaultsTest, AKillAtAnyMomentLosesNothingThatWasAcknowledged) {
  const TempDir folder;
  std::mt19937 random(20261118);
  std::array<uint64_t, kSenders> acknowledged{};
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      send_for_ever(folder.path(), ends[1], acknowledged);
    }
    ::close(ends[1]);
    std::array<unsigned char, 2> got{};
    for (unsigned left = random() % 40; left > 0; --left) {
      if (::read(ends[0], got.data(), got.size()) != 2)
        break;  // it ended, which is found out below
      ++acknowledged[got[0]];
    }
    ::kill(child, SIGKILL);
    while (::read(ends[0], got.data(), got.size()) == 2) ++acknowledged[got[0]];
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);

    auto store = testing::open_store(folder.path());
    ASSERT_TRUE(store) << store.status().text();
    for (int sender = 0; sender < kSenders; ++sender) {
      expect_whole(**store, folder.path(), session_id(sender));
      const uint64_t steps = acknowledged[static_cast<size_t>(sender)];
      const auto there = (*store)->status(1, session_id(sender));
      ASSERT_TRUE(there);
      if (steps == 0) continue;
      ASSERT_TRUE(*there);
      const fs::path dir = folder.path() / session_prefix(1, (*there)->session.id);
      for (uint64_t window = 1; window <= steps / kSteps; ++window) {
        EXPECT_EQ(read_text(dir / format::sealed_file_name(Channel::Scope, window)),
                  window_text(sender, window));
      }
      // Of the window that was being written: at least what was acknowledged, and nothing else.
      const uint64_t window = steps / kSteps + 1;
      const std::string text = window_text(sender, window);
      std::string kept = read_text(dir / format::raw_file_name(Channel::Scope, window));
      if (kept.empty()) kept = read_text(dir / format::sealed_file_name(Channel::Scope, window));
      EXPECT_TRUE(text.starts_with(kept));
      const std::array<size_t, kSteps> least = {0, behind_line(text, 2), behind_line(text, 4),
                                                text.size(), text.size()};
      EXPECT_GE(kept.size(), least[steps % kSteps]) << "round " << round;
    }
    EXPECT_TRUE(fs::is_empty(folder.path() / "incoming"));
  }
  EXPECT_GT(acknowledged[0] + acknowledged[1] + acknowledged[2], 200U);
}

}  // namespace
}  // namespace gpufl::store
