// SPDX-License-Identifier: Apache-2.0
#include "store/session_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/eventually.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/seal.hpp"
#include "format/verify.hpp"
#include "sqlite/database.hpp"
#include "store/test_pieces.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using base::TempDir;
using format::Channel;
using format::testing::read_text;
using format::testing::write_text;
using testing::live_piece;
using testing::live_text;
using testing::session_id;
using testing::window_piece;
using What = Outcome::What;

class SessionStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }
  void start(const StoreLimits& limits = {}) {
    store_.reset();
    auto opened = testing::open_store(folder_.path(), limits);
    ASSERT_TRUE(opened) << opened.status().text();
    store_ = std::move(*opened);
  }
  fs::path session_folder(int64_t number, int64_t workspace = 1) const {
    return folder_.path() / session_prefix(workspace, number);
  }
  int64_t add_workspace(const std::string& name) {
    auto catalogue = SqliteCatalogue::open(folder_.path() / "catalogue.db");
    return *(*catalogue)->add_workspace(name);
  }
  // All files of a session's folder, as an uploader sends them.
  void send(const fs::path& dir, const std::string& id) {
    for (const std::string& name : format::testing::file_names(dir)) {
      const std::string bytes = read_text(dir / name);
      const auto parsed = format::parse_file_name(name);
      Piece piece =
          parsed ? window_piece(*store_, id, *parsed->channel, parsed->window, bytes)
                 : testing::with_blob(*store_, testing::piece_of(PieceKind::Manifest, id), bytes);
      const Outcome outcome = store_->take(std::move(piece));
      EXPECT_EQ(outcome.what, What::Stored) << name << ": " << outcome.why;
    }
  }
  SessionStatus status_of(const std::string& id, int64_t workspace = 1) {
    auto status = store_->status(workspace, id);
    EXPECT_TRUE(status && *status);
    return status && *status ? **status : SessionStatus();
  }
  std::vector<SetAside> aside() { return *store_->set_aside(1); }

  TempDir folder_, logs_;
  std::unique_ptr<SessionStore> store_;
  const std::string id_ = session_id(1);
};

TEST_F(SessionStoreTest, ASessionIsKeptByteForByteAndReadsAsBefore) {
  testing::write_session(logs_.path() / "s", id_, 3, 50);
  send(logs_.path() / "s", id_);
  for (const std::string& name : format::testing::file_names(logs_.path() / "s")) {
    EXPECT_EQ(read_text(session_folder(1) / name), read_text(logs_.path() / "s" / name)) << name;
  }
  const auto before = format::verify_session(logs_.path() / "s");
  const auto after = format::verify_session(session_folder(1));
  EXPECT_EQ(after.verdict, before.verdict);
  EXPECT_EQ(after.rows, before.rows);
  EXPECT_GT(after.rows.at("scope"), 100U);
  EXPECT_EQ(status_of(id_).contents.files.size(), 1U);
}

TEST_F(SessionStoreTest, TheSameBytesAreKnownAndOthersAreSetAside) {
  testing::write_session(logs_.path() / "s", id_, 1, 5);
  testing::write_session(logs_.path() / "t", id_, 1, 6);
  const std::string name = format::sealed_file_name(Channel::Scope, 1);
  const std::string bytes = read_text(logs_.path() / "s" / name);
  const std::string others = read_text(logs_.path() / "t" / name);
  const auto send_bytes = [&](const std::string& sent) {
    return store_->take(window_piece(*store_, id_, Channel::Scope, 1, sent)).what;
  };
  EXPECT_EQ(send_bytes(bytes), What::Stored);
  EXPECT_EQ(send_bytes(bytes), What::Known);
  EXPECT_EQ(send_bytes(others), What::Conflict);
  EXPECT_EQ(send_bytes(others), What::Conflict);
  EXPECT_EQ(read_text(session_folder(1) / name), bytes);
  ASSERT_EQ(aside().size(), 1U) << "the same conflict twice is one";
  EXPECT_EQ(aside()[0].what, "window scope 1");
  EXPECT_EQ(read_text(folder_.path() / aside_name(1, aside()[0].id)), others);
}

TEST_F(SessionStoreTest, WhatIsNotWhatItSaysIsSetAsideWithTheReason) {
  testing::write_session(logs_.path() / "s", id_, 1, 5);
  const std::string good =
      read_text(logs_.path() / "s" / format::sealed_file_name(Channel::Scope, 1));
  const auto reason_of = [&](Piece piece) {
    const Outcome outcome = store_->take(std::move(piece));
    EXPECT_EQ(outcome.what, What::Quarantined);
    return outcome.why;
  };
  EXPECT_EQ(reason_of(window_piece(*store_, session_id(2), Channel::Scope, 1, good)),
            "it is of another session");
  EXPECT_EQ(reason_of(window_piece(*store_, id_, Channel::Scope, 2, good)), "it is another window");
  EXPECT_EQ(reason_of(window_piece(*store_, id_, Channel::Device, 1, good)),
            "it is another window");
  EXPECT_EQ(reason_of(window_piece(*store_, id_, Channel::Scope, 1, "{\"type\":\"event\"}\n")),
            "it does not begin with a session line");
  EXPECT_EQ(reason_of(window_piece(*store_, id_, Channel::Scope, 1, "")), "it is empty");
  EXPECT_NE(reason_of(window_piece(*store_, id_, Channel::Scope, 1, good.substr(0, 40))), "");
  Piece told = window_piece(*store_, id_, Channel::Scope, 1, good);
  told.told_sha256 = std::string(64, '0');
  EXPECT_NE(reason_of(std::move(told)).find("SHA-256"), std::string::npos);
  Piece module = testing::piece_of(PieceKind::Module, id_);
  module.hash = "0123456789abcdef";
  EXPECT_NE(reason_of(testing::with_blob(*store_, std::move(module), good)), "");
  EXPECT_EQ(aside().size(), 8U);
  const auto status = store_->status(1, id_);
  ASSERT_TRUE(status);
  EXPECT_FALSE(*status) << "what was refused makes no session";
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, 1, good)).what, What::Stored);
}

TEST_F(SessionStoreTest, AWindowThatUnpacksToFarTooMuchIsRefused) {
  const auto pack = [&](const std::string& text) {
    EXPECT_TRUE(format::write_module(logs_.path() / "packed", text));
    return read_text(logs_.path() / "packed");
  };
  std::string bomb = pack(live_text(id_, Channel::Scope, 1, 0));
  const std::string packed = pack(std::string(size_t{64} << 20, '\0'));
  for (int i = 0; i < 70; ++i) bomb += packed;  // 4.4 GB in some 500 kB
  const Outcome outcome = store_->take(window_piece(*store_, id_, Channel::Scope, 1, bomb));
  EXPECT_EQ(outcome.what, What::Quarantined);
  EXPECT_EQ(outcome.why, "it holds too much text");
}

TEST_F(SessionStoreTest, LiveLinesGiveWayToTheirWindow) {
  const std::string text = live_text(id_, Channel::System, 1, 20);
  const std::string more = "{\"type\":\"event\",\"time\":99,\"name\":\"y\"}\n";
  Outcome outcome = store_->take(live_piece(id_, Channel::System, 1, 0, text));
  EXPECT_EQ(outcome.what, What::Stored);
  EXPECT_EQ(outcome.end, text.size());
  EXPECT_TRUE(format::is_locked(session_folder(1))) << "readers see that it is being recorded";
  outcome = store_->take(live_piece(id_, Channel::System, 1, text.size() + 5, more));
  EXPECT_EQ(outcome.what, What::Behind);
  EXPECT_EQ(outcome.end, text.size());
  // Sent again with more behind it, as after an answer that was lost.
  const size_t half = text.rfind('{');
  outcome = store_->take(live_piece(id_, Channel::System, 1, half, text.substr(half) + more));
  EXPECT_EQ(outcome.what, What::Stored);
  EXPECT_EQ(outcome.end, text.size() + more.size());
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Known);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, half, more)).what, What::Conflict);
  const fs::path raw = session_folder(1) / format::raw_file_name(Channel::System, 1);
  EXPECT_EQ(read_text(raw), text + more);
  EXPECT_EQ(status_of(id_).contents.windows.at(0).bytes, text.size() + more.size());

  write_text(logs_.path() / "raw", text + more);
  ASSERT_TRUE(format::seal_window(logs_.path() / "raw", logs_.path() / "sealed"));
  const std::string sealed = read_text(logs_.path() / "sealed");
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::System, 1, sealed)).what,
            What::Stored);
  EXPECT_FALSE(fs::exists(raw));
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Superseded);
  EXPECT_EQ(status_of(id_).contents.windows.at(0).state, WindowState::Sealed);
}

TEST_F(SessionStoreTest, ASealedWindowThatHasTheEndEndsTheSession) {
  const fs::path recorded = logs_.path() / "s";
  testing::write_session(recorded, id_, 2, 10);
  EXPECT_EQ(
      store_->take(live_piece(id_, Channel::Scope, 9, 0, live_text(id_, Channel::Scope, 9, 1)))
          .what,
      What::Stored);
  EXPECT_TRUE(format::is_locked(session_folder(1)));
  uint64_t last = 1;
  while (fs::exists(recorded / format::sealed_file_name(Channel::System, last + 1))) ++last;
  const auto send = [&](Channel channel, uint64_t number) {
    const std::string bytes = read_text(recorded / format::sealed_file_name(channel, number));
    return store_->take(window_piece(*store_, id_, channel, number, bytes)).what;
  };
  EXPECT_EQ(send(Channel::Scope, 1), What::Stored);
  EXPECT_TRUE(format::is_locked(session_folder(1))) << "more may come";
  EXPECT_EQ(send(Channel::System, last), What::Stored);
  EXPECT_FALSE(format::is_locked(session_folder(1)));
  EXPECT_EQ(
      store_->take(live_piece(id_, Channel::Scope, 8, 0, live_text(id_, Channel::Scope, 8, 1)))
          .what,
      What::Stored);
  EXPECT_FALSE(format::is_locked(session_folder(1))) << "lines that came late begin nothing";
}

TEST_F(SessionStoreTest, TellsOfEachSessionThatChanged) {
  std::mutex mutex;
  std::vector<std::pair<int64_t, fs::path>> told;
  store_->tell_of_changes([&](int64_t workspace, const fs::path& folder) {
    const std::lock_guard lock(mutex);
    told.emplace_back(workspace, folder);
  });
  const auto has_told = [&](size_t times) {
    return base::eventually([&] {
      const std::lock_guard lock(mutex);
      return told.size() == times;
    });
  };
  const std::string text = live_text(id_, Channel::System, 1, 2);
  ASSERT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  ASSERT_TRUE(has_told(1));
  EXPECT_EQ(told[0], std::pair(int64_t{1}, session_folder(1).parent_path()));
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Known);
  ASSERT_TRUE(store_->set_deleted(1, id_, true));
  ASSERT_TRUE(has_told(2)) << "of what was known nobody is told";
  ASSERT_TRUE(store_->set_deleted(1, id_, false));
  ASSERT_TRUE(has_told(3));
  store_->tell_of_changes({});
  const std::string more = text + "{\"type\":\"event\",\"time\":9,\"name\":\"y\"}\n";
  for (const What what : {What::Stored, What::Known}) {
    EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, more)).what, what);
  }
  EXPECT_TRUE(has_told(3));
}

TEST_F(SessionStoreTest, LinesOfAnotherSessionOrTornOnesAreRefused) {
  const std::string text = live_text(session_id(2), Channel::System, 1, 1);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Quarantined);
  const std::string torn = live_text(id_, Channel::System, 1, 1) + "{\"ty";
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, torn)).what, What::Quarantined);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 5, "{}\n")).what, What::Behind);
  EXPECT_FALSE(*store_->status(1, id_));
}

TEST_F(SessionStoreTest, AFinalTextIsReplacedByASealedCopyOfTheSameRowsOnly) {
  testing::write_session(logs_.path() / "s", id_, 1, 300);
  // The text of the window, as a writer that died leaves it: batches smaller than sealed ones.
  format::SessionHeader header = format::testing::test_header();
  header.session_id = id_;
  auto writer =
      format::LogWriter::create(format::testing::test_options(logs_.path() / "w"), header);
  for (int i = 0; i < 20; ++i) {
    (*writer)->write(format::testing::scope_rows(**writer, 1 + i * 10, 10, i * 1000));
    ASSERT_TRUE((*writer)->flush(i));
  }
  const std::string text = read_text(logs_.path() / "w" / format::live_file_name(Channel::Scope));
  const size_t half = text.find('\n', text.size() / 2) + 1;
  EXPECT_EQ(store_->take(live_piece(id_, Channel::Scope, 1, 0, text.substr(0, half))).what,
            What::Stored);
  Piece last = live_piece(id_, Channel::Scope, 1, half, text.substr(half));
  last.is_final = true;
  last.told_sha256 = std::string(64, 'a');
  EXPECT_EQ(store_->take(std::move(last)).what, What::Quarantined);
  EXPECT_EQ(status_of(id_).contents.windows.at(0).bytes, half) << "nothing of it was kept";
  const auto send_last = [&] {
    Piece piece = live_piece(id_, Channel::Scope, 1, half, text.substr(half));
    piece.is_final = true;
    piece.told_sha256 = testing::sha256_of_text(text);
    return store_->take(std::move(piece)).what;
  };
  EXPECT_EQ(send_last(), What::Stored);
  EXPECT_EQ(send_last(), What::Known);
  EXPECT_EQ(status_of(id_).contents.windows.at(0).state, WindowState::Final);
  EXPECT_FALSE(format::is_locked(session_folder(1)));

  const std::string other =
      read_text(logs_.path() / "s" / format::sealed_file_name(Channel::Scope, 1));
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, 1, other)).what,
            What::Conflict);
  write_text(logs_.path() / "raw", text);
  ASSERT_TRUE(format::seal_window(logs_.path() / "raw", logs_.path() / "sealed"));
  const std::string sealed = read_text(logs_.path() / "sealed");
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, 1, sealed)).what, What::Stored);
  EXPECT_EQ(read_text(session_folder(1) / format::sealed_file_name(Channel::Scope, 1)), sealed);
  EXPECT_FALSE(fs::exists(session_folder(1) / format::raw_file_name(Channel::Scope, 1)));
}

TEST_F(SessionStoreTest, OlderFilesNeverReplaceNewerOnes) {
  const std::string older = live_text(id_, Channel::System, 1, 1);
  const std::string newer = live_text(id_, Channel::System, 1, 2);
  const auto send_symbols = [&](const std::string& bytes) {
    return store_
        ->take(testing::with_blob(*store_, testing::piece_of(PieceKind::Symbols, id_), bytes))
        .what;
  };
  EXPECT_EQ(send_symbols(newer), What::Stored);
  EXPECT_EQ(send_symbols(older), What::Superseded);
  EXPECT_EQ(send_symbols(newer), What::Known);
  EXPECT_EQ(read_text(session_folder(1) / format::kSymbolFileName), newer);
  const std::string newest = live_text(id_, Channel::System, 1, 3);
  EXPECT_EQ(send_symbols(newest), What::Stored);
  EXPECT_EQ(read_text(session_folder(1) / format::kSymbolFileName), newest);
}

TEST_F(SessionStoreTest, AModuleIsThereOnceForAWorkspaceAndNeverForAnother) {
  const int64_t second = add_workspace("second");
  const std::string image(5000, 'm');
  const std::string hash = format::module_hash(image);
  ASSERT_TRUE(format::write_module(logs_.path() / "module", image));
  const std::string bytes = read_text(logs_.path() / "module");
  const auto send_module = [&](const std::string& session, int64_t workspace) {
    Piece piece = testing::piece_of(PieceKind::Module, session, workspace);
    piece.hash = hash;
    return store_->take(testing::with_blob(*store_, std::move(piece), bytes)).what;
  };
  EXPECT_EQ(send_module(id_, 1), What::Stored);
  EXPECT_EQ(send_module(id_, 1), What::Known);
  EXPECT_EQ(send_module(session_id(2), 1), What::Stored);
  EXPECT_EQ(send_module(id_, second), What::Stored);
  const auto inode = [&](const fs::path& folder) {
    struct stat info{};
    EXPECT_EQ(
        ::stat((folder / format::kModuleFolder / format::module_file_name(hash)).c_str(), &info),
        0);
    return info.st_ino;
  };
  EXPECT_EQ(inode(session_folder(1)), inode(session_folder(2)));
  EXPECT_NE(inode(session_folder(1)), inode(session_folder(3, second)));
  const auto image_again = format::read_module(session_folder(2), hash);
  ASSERT_TRUE(image_again);
  EXPECT_EQ(*image_again, image);
}

TEST_F(SessionStoreTest, ADeletedSessionIsGoneUntilThatIsUndone) {
  const std::string text = live_text(id_, Channel::System, 1, 3);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  ASSERT_TRUE(store_->set_deleted(1, id_, true));
  EXPECT_FALSE(fs::exists(session_folder(1)));
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, text.size(), "{}\n")).what,
            What::Gone);
  EXPECT_TRUE(status_of(id_).session.is_deleted);
  start();
  EXPECT_TRUE(status_of(id_).session.is_deleted);
  ASSERT_TRUE(store_->set_deleted(1, id_, false));
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, text.size(), "{}\n")).what,
            What::Stored);
  EXPECT_EQ(read_text(session_folder(1) / format::raw_file_name(Channel::System, 1)),
            text + "{}\n");
  EXPECT_EQ(store_->set_deleted(1, session_id(9), true).code(), Code::NotFound);
}

TEST_F(SessionStoreTest, WorkspacesShareNothing) {
  const int64_t second = add_workspace("second");
  const std::string text = live_text(id_, Channel::System, 1, 3);
  const std::string other = live_text(id_, Channel::System, 1, 4);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  EXPECT_FALSE(*store_->status(second, id_));
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, other, second)).what, What::Stored);
  EXPECT_EQ(status_of(id_).contents.windows.at(0).bytes, text.size());
  EXPECT_EQ(status_of(id_, second).contents.windows.at(0).bytes, other.size());
  ASSERT_TRUE(store_->set_deleted(second, id_, true));
  EXPECT_FALSE(status_of(id_).session.is_deleted);
}

TEST_F(SessionStoreTest, AFullQuotaStopsOneWorkspaceOnly) {
  const int64_t second = add_workspace("second");
  const std::string text = live_text(id_, Channel::System, 1, 100);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  ASSERT_TRUE((*SqliteCatalogue::open(folder_.path() / "catalogue.db"))->set_quota(1, text.size()));
  start();
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, text.size(), "{}\n")).what,
            What::Full);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text, second)).what, What::Stored);
}

TEST_F(SessionStoreTest, OldThingsSetAsideMakeRoomForNewOnes) {
  start({.aside = 3});
  for (uint64_t i = 1; i <= 5; ++i) {
    store_->take(window_piece(*store_, id_, Channel::Scope, i, "junk"));
  }
  ASSERT_EQ(aside().size(), 3U);
  EXPECT_EQ(aside()[0].what, "window scope 5");
  EXPECT_EQ(format::testing::file_names(folder_.path() / "workspaces/1/quarantine").size(), 3U);
}

TEST_F(SessionStoreTest, AStartRemovesWhatNobodyWasToldOf) {
  testing::write_session(logs_.path() / "s", id_, 2, 5);
  send(logs_.path() / "s", id_);
  const auto files = format::testing::file_names(session_folder(1));
  store_.reset();
  write_text(session_folder(1) / format::sealed_file_name(Channel::Scope, 77), "x");
  write_text(session_folder(1) / format::raw_file_name(Channel::Scope, 1), "x");
  fs::create_directories(session_folder(99));
  write_text(session_folder(99) / "manifest.ndjson", "x");
  fs::create_directories(folder_.path() / "workspaces/1/quarantine");
  write_text(folder_.path() / aside_name(1, 5), "x");
  write_text(folder_.path() / "incoming/7", "x");
  start();
  EXPECT_EQ(format::testing::file_names(session_folder(1)), files);
  EXPECT_FALSE(fs::exists(session_folder(99)));
  EXPECT_FALSE(fs::exists(folder_.path() / aside_name(1, 5)));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "incoming"));
}

TEST_F(SessionStoreTest, AStartPutsAFileInItsPlaceThatTheCatalogueTellsOf) {
  const std::string older = live_text(id_, Channel::System, 1, 1);
  const std::string newer = live_text(id_, Channel::System, 1, 2);
  const fs::path file = session_folder(1) / format::kManifestName;
  const fs::path coming = coming_name(file.string());
  const auto send_manifest = [&](const std::string& bytes) {
    return store_
        ->take(testing::with_blob(*store_, testing::piece_of(PieceKind::Manifest, id_), bytes))
        .what;
  };
  EXPECT_EQ(send_manifest(older), What::Stored);
  EXPECT_EQ(send_manifest(newer), What::Stored);
  EXPECT_EQ(read_text(file), newer);
  EXPECT_FALSE(fs::exists(coming));
  store_.reset();
  // Killed behind the commit, and in the next try before it.
  write_text(file, older);
  write_text(coming, newer);
  start();
  EXPECT_EQ(read_text(file), newer);
  EXPECT_FALSE(fs::exists(coming));
  store_.reset();
  write_text(coming, older);
  start();
  EXPECT_EQ(read_text(file), newer);
  EXPECT_FALSE(fs::exists(coming));
  EXPECT_EQ(send_manifest(newer), What::Known);
}

TEST_F(SessionStoreTest, OneVersionHasOneText) {
  const std::string short_text = live_text(id_, Channel::System, 1, 1);
  const std::string long_text = live_text(id_, Channel::System, 1, 2);
  std::string other = short_text;
  other[other.size() - 4] = 'z';
  const auto send_manifest = [&](const std::string& bytes) {
    Piece piece = testing::with_blob(*store_, testing::piece_of(PieceKind::Manifest, id_), bytes);
    piece.version = 7;
    return store_->take(std::move(piece)).what;
  };
  EXPECT_EQ(send_manifest(short_text), What::Stored);
  EXPECT_EQ(send_manifest(short_text), What::Known);
  EXPECT_EQ(send_manifest(other), What::Conflict);
  EXPECT_EQ(send_manifest(long_text), What::Stored) << "it has grown while two looked at it";
  EXPECT_EQ(send_manifest(short_text), What::Superseded);
  EXPECT_EQ(read_text(session_folder(1) / format::kManifestName), long_text);
  ASSERT_EQ(aside().size(), 1U);
  EXPECT_EQ(aside()[0].what, "manifest");
  ASSERT_EQ(status_of(id_).refused.size(), 1U);
  EXPECT_EQ(status_of(id_).refused[0].sha256, testing::sha256_of_text(other));
}

TEST_F(SessionStoreTest, LiveLinesAreLookedAtOneByOne) {
  const std::string text = live_text(id_, Channel::System, 1, 1);
  start({.text_bytes = text.size() + 40});
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  for (const char* line : {"\n", "x\n", "[]\n", "{\n", "{}}\n", "{\"a\":\"}\n", "{\"a\":1}x\n",
                           "{\"a\":\"\t\"}\n", "{}\n{\n", "{}"}) {
    EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, text.size(), line)).what,
              What::Quarantined)
        << line;
  }
  const std::string good = R"({"type":"x","a":["}\"{",{}]})"
                           "\n";
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, text.size(), good)).what,
            What::Stored);
  const Outcome longer =
      store_->take(live_piece(id_, Channel::System, 1, text.size() + good.size(), good + "{}\n"));
  EXPECT_EQ(longer.what, What::Quarantined) << "there is a bound on a text";
  EXPECT_EQ(longer.why, "the text of this window is too long");
}

TEST_F(SessionStoreTest, AModuleIsSharedByWhatIsInIt) {
  const std::string image(20'000, 'm');
  const std::string hash = format::module_hash(image);
  ASSERT_TRUE(format::write_module(logs_.path() / "m", image));
  const std::string bytes = read_text(logs_.path() / "m");
  // The same image packed otherwise stands for two images of one hash.
  const std::string other = bytes + std::string("\x50\x2a\x4d\x18\0\0\0\0", 8);
  const auto send_module = [&](const std::string& session, const std::string& sent) {
    Piece piece = testing::piece_of(PieceKind::Module, session);
    piece.hash = hash;
    return store_->take(testing::with_blob(*store_, std::move(piece), sent)).what;
  };
  EXPECT_EQ(send_module(id_, bytes), What::Stored);
  EXPECT_EQ(send_module(id_, other), What::Conflict);
  EXPECT_EQ(send_module(session_id(2), other), What::Stored);
  const std::string file =
      std::string(format::kModuleFolder) + "/" + format::module_file_name(hash);
  EXPECT_EQ(read_text(session_folder(1) / file), bytes);
  EXPECT_EQ(read_text(session_folder(2) / file), other);
  store_.reset();
  write_text(folder_.path() / module_name(1, std::string(64, 'a')), "nobody was told of it");
  start();
  EXPECT_EQ(format::testing::file_names(folder_.path() / "workspaces/1/modules").size(), 2U);
}

TEST_F(SessionStoreTest, WhatComesTogetherDoesNotOvershootTheQuota) {
  constexpr int kSenders = 12;
  std::vector<Piece> pieces;
  for (int i = 0; i < kSenders; ++i) {
    const std::string id = session_id(10 + i);
    pieces.push_back(
        window_piece(*store_, id, Channel::Scope, 1, live_text(id, Channel::Scope, 1, 500)));
  }
  const uint64_t size = pieces[0].blob->size();
  {
    auto catalogue = SqliteCatalogue::open(folder_.path() / "catalogue.db");
    ASSERT_TRUE((*catalogue)->set_quota(1, size * 5 / 2));
  }
  EXPECT_TRUE(base::eventually([&] {
    std::string why;
    return store_->reserve(1, size * 3, false, why) == nullptr;
  }));
  std::atomic<int> stored = 0;
  std::vector<std::thread> threads;
  for (Piece& piece : pieces) {
    threads.emplace_back([&, sent = &piece] {
      stored += store_->take(std::move(*sent)).what == What::Stored ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored, 2);
}

TEST_F(SessionStoreTest, AWindowThatReplacesItsLinesNeedsNoRoom) {
  const std::string text = live_text(id_, Channel::System, 1, 200);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  ASSERT_TRUE((*SqliteCatalogue::open(folder_.path() / "catalogue.db"))->set_quota(1, text.size()));
  start();
  std::string why;
  EXPECT_EQ(store_->reserve(1, 10, false, why), nullptr);
  EXPECT_EQ(why, "the workspace has used its quota");
  EXPECT_NE(store_->reserve(1, text.size(), true, why), nullptr);
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::System, 1, text)).what, What::Stored);
  EXPECT_EQ(store_->admission().used(1), static_cast<int64_t>(text.size()));
  EXPECT_EQ(store_->reserve(1, 10, false, why), nullptr);
  ASSERT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, 1, "junk")).what,
            What::Quarantined);
  EXPECT_EQ(store_->admission().used(1), static_cast<int64_t>(text.size()) + 4)
      << "what is set aside counts";
}

// As a store of the first version of the catalogue was.
TEST_F(SessionStoreTest, AnOlderStoreIsBroughtUpToDateAndOnlyByAServer) {
  const std::string image(20'000, 'm');
  ASSERT_TRUE(format::write_module(logs_.path() / "m", image));
  Piece piece = testing::piece_of(PieceKind::Module, id_);
  piece.hash = format::module_hash(image);
  const std::string bytes = read_text(logs_.path() / "m");
  EXPECT_EQ(store_->take(testing::with_blob(*store_, std::move(piece), bytes)).what, What::Stored);
  store_.reset();
  const fs::path modules = folder_.path() / "workspaces/1/modules";
  fs::rename(folder_.path() / module_name(1, testing::sha256_of_text(bytes)),
             modules / format::module_file_name(format::module_hash(image)));
  {
    auto database =
        sqlite::Database::open(folder_.path() / "catalogue.db", sqlite::Database::Mode::Durable);
    ASSERT_TRUE((*database)->run_script(testing::kWithoutHealth));
    const Status older = (*database)->run_script(R"(
DROP TABLE store; DROP TABLE modules; DROP INDEX session_modules_by_content;
ALTER TABLE session_modules DROP COLUMN sha256;
ALTER TABLE workspaces DROP COLUMN keep_days; ALTER TABLE workspaces DROP COLUMN keep_bytes;
ALTER TABLE workspaces DROP COLUMN deleted_days; ALTER TABLE sessions DROP COLUMN is_pinned;
ALTER TABLE sessions DROP COLUMN is_purged; ALTER TABLE sessions DROP COLUMN changed_ms;
ALTER TABLE sessions DROP COLUMN deleted_ms; UPDATE sessions SET bytes = 1000;
UPDATE schema_version SET version = 1 WHERE part = 'catalogue';)");
    ASSERT_TRUE(older) << older.text();
  }
  const fs::path file = folder_.path() / "catalogue.db";
  const auto looked = SqliteCatalogue::open(file, Schema::Expect);
  EXPECT_EQ(looked.status().code(), Code::Unavailable);
  EXPECT_EQ(SqliteCatalogue::open(file, Schema::Expect).status().code(), Code::Unavailable)
      << "looking at it changes nothing";
  start();
  EXPECT_TRUE(SqliteCatalogue::open(file, Schema::Expect));
  EXPECT_EQ(read_text(folder_.path() / module_name(1, testing::sha256_of_text(bytes))), bytes);
  EXPECT_EQ(format::testing::file_names(modules).size(), 1U);
  ASSERT_EQ(status_of(id_).contents.modules.size(), 1U);
  EXPECT_EQ(status_of(id_).contents.modules[0].sha256, testing::sha256_of_text(bytes));
  EXPECT_EQ(store_->admission().used(1), 1000) << "it was counted with its session before";
}

TEST_F(SessionStoreTest, LinesThatOnlyTheJournalHasComeBack) {
  const std::string text = live_text(id_, Channel::System, 1, 3);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, text)).what, What::Stored);
  // As a loss of power leaves it: the file was not synced, the journal was.
  const fs::path kept = folder_.path() / "kept";
  fs::copy(folder_.path() / "journal", kept);
  store_.reset();
  fs::remove_all(folder_.path() / "journal");
  fs::rename(kept, folder_.path() / "journal");
  fs::remove(session_folder(1) / format::raw_file_name(Channel::System, 1));
  // A record that was cut short was not acknowledged.
  fs::resize_file(folder_.path() / "journal/1", fs::file_size(folder_.path() / "journal/1") + 30);
  start();
  EXPECT_EQ(read_text(session_folder(1) / format::raw_file_name(Channel::System, 1)), text);
  EXPECT_EQ(fs::file_size(folder_.path() / "journal/2"), 0U);
  EXPECT_FALSE(fs::exists(folder_.path() / "journal/1"));
}

TEST_F(SessionStoreTest, AJournalStaysUntilTheFilesOfItsLinesAreSynced) {
  const fs::path folder = folder_.path() / "turning";
  LiveJournal journal(folder);
  ASSERT_TRUE(journal.turn());
  const auto add = [&](int64_t session, std::string_view text) {
    journal.add({session, Channel::System, 1, 0, text});
    ASSERT_TRUE(journal.sync());
  };
  const auto replayed = [&] {
    std::string all;
    EXPECT_TRUE(journal.replay([&](const LiveLines& lines) -> base::Status {
      all += std::to_string(lines.session) + std::string(lines.text);
      return {};
    }));
    return all;
  };
  add(1, "a");
  EXPECT_FALSE(journal.has_older());
  ASSERT_TRUE(journal.turn());
  EXPECT_TRUE(journal.has_older());
  EXPECT_EQ(journal.bytes(), 0U);
  add(2, "b");
  EXPECT_EQ(replayed(), "1a2b");
  ASSERT_TRUE(journal.drop_older());
  EXPECT_FALSE(journal.has_older());
  EXPECT_EQ(replayed(), "2b");
}

TEST_F(SessionStoreTest, JournalsGiveWayWhileLinesCome) {
  start({.journal_bytes = 2000});
  constexpr int kSessions = 50;
  std::vector<std::string> texts;
  for (int i = 0; i < kSessions; ++i) {
    const std::string id = session_id(i);
    texts.push_back(live_text(id, Channel::System, 1, 3));
    ASSERT_EQ(store_->take(live_piece(id, Channel::System, 1, 0, texts.back())).what, What::Stored);
  }
  EXPECT_TRUE(base::eventually(
      [&] { return format::testing::file_names(folder_.path() / "journal").size() == 1; }));
  EXPECT_FALSE(fs::exists(folder_.path() / "journal/1"));
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_EQ(read_text(session_folder(i + 1) / format::raw_file_name(Channel::System, 1)),
              texts[static_cast<size_t>(i)]);
  }
}

TEST_F(SessionStoreTest, ManySendersAreCommittedTogether) {
  constexpr int kSenders = 16, kWindows = 12;
  std::vector<std::thread> threads;
  std::atomic<int> stored = 0;
  for (int sender = 0; sender < kSenders; ++sender) {
    threads.emplace_back([&, sender] {
      const std::string id = session_id(100 + sender);
      for (uint64_t window = 1; window <= kWindows; ++window) {
        const std::string text = live_text(id, Channel::Scope, window, 3);
        Piece piece = window_piece(*store_, id, Channel::Scope, window, text);
        stored += store_->take(std::move(piece)).what == What::Stored ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored, kSenders * kWindows);
  for (int sender = 0; sender < kSenders; ++sender) {
    EXPECT_EQ(status_of(session_id(100 + sender)).contents.windows.size(), size_t{kWindows});
  }
  EXPECT_EQ(store_->counts().pieces, uint64_t{kSenders * kWindows});
  EXPECT_LE(store_->counts().commits, uint64_t{kSenders * kWindows});
}

TEST_F(SessionStoreTest, AFolderThatIsTakenAwayStopsNobodyForLong) {
  const std::string text = live_text(id_, Channel::Scope, 1, 3);
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, 1, text)).what, What::Stored);
  // Its window is in, and then its lines are removed, which the next sync is about.
  const std::string lines = live_text(id_, Channel::System, 1, 1);
  EXPECT_EQ(store_->take(live_piece(id_, Channel::System, 1, 0, lines)).what, What::Stored);
  EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::System, 1, lines)).what, What::Stored);
  fs::remove_all(session_folder(1));
  const std::string other = session_id(2);
  const std::string more = live_text(other, Channel::Scope, 1, 3);
  const auto send_other = [&] {
    return store_->take(window_piece(*store_, other, Channel::Scope, 1, more)).what;
  };
  if (send_other() != What::Stored) {
    EXPECT_EQ(send_other(), What::Stored);
  }
}

TEST_F(SessionStoreTest, AStoreOfALaterVersionIsLeftAlone) {
  store_.reset();
  {
    auto database =
        sqlite::Database::open(folder_.path() / "catalogue.db", sqlite::Database::Mode::Durable);
    ASSERT_TRUE((*database)->run("UPDATE schema_version SET version = 1000"));
  }
  EXPECT_EQ(testing::open_store(folder_.path()).status().code(), Code::TooNew);
}

TEST(PieceTest, OnlyIdsOfTheGrammarAreSessions) {
  EXPECT_TRUE(is_session_id("20261115T034512.000250Z-1f2e3d4c5b6a7988"));
  EXPECT_TRUE(is_session_id("20261115T034512Z-1f2e3d4c5b6a7988"));
  for (const char* text :
       {"", "s1", "..", "20261115T034512Z-1f2e3d4c5b6a798", "20261115T034512Z-1f2e3d4c5b6a79880",
        "20261115T034512Z-1F2E3D4C5B6A7988", "20261115T034512Z/1f2e3d4c5b6a7988",
        "20261115T034512.00025Z-1f2e3d4c5b6a7988", "../15T034512Z-1f2e3d4c5b6a7988",
        "20261115T034512Z-1f2e3d4c5b6a7988\n"}) {
    EXPECT_FALSE(is_session_id(text)) << text;
  }
}

}  // namespace
}  // namespace gpufl::store
