// SPDX-License-Identifier: Apache-2.0
#include "store/inspect.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "format/module_files.hpp"
#include "store/test_pieces.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::TempDir;
using format::Channel;
using testing::live_piece;
using testing::live_text;
using testing::session_id;
using testing::window_piece;
using What = Outcome::What;

class InspectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = testing::open_store(data());
    ASSERT_TRUE(opened) << opened.status().text();
    store_ = std::move(*opened);
  }
  const fs::path& data() {
    if (data_.empty()) {
      data_ = folder_.path() / "data";
      fs::create_directory(data_);
    }
    return data_;
  }
  // One of everything that a store keeps.
  void fill() {
    const auto send = [&](Piece piece, What wanted) {
      const Outcome outcome = store_->take(std::move(piece));
      EXPECT_EQ(outcome.what, wanted) << outcome.why;
    };
    const std::string text = live_text(id_, Channel::Scope, 1, 3);
    send(window_piece(*store_, id_, Channel::Scope, 1, text), What::Stored);
    send(live_piece(id_, Channel::Scope, 2, 0, live_text(id_, Channel::Scope, 2, 3)), What::Stored);
    send(testing::with_blob(*store_, testing::piece_of(PieceKind::Manifest, id_), text),
         What::Stored);
    ASSERT_TRUE(format::write_module(folder_.path() / "m", "image"));
    Piece module = testing::piece_of(PieceKind::Module, id_);
    module.hash = format::module_hash("image");
    send(testing::with_blob(*store_, std::move(module),
                            format::testing::read_text(folder_.path() / "m")),
         What::Stored);
    send(window_piece(*store_, id_, Channel::Device, 1, "junk"), What::Quarantined);
    const std::string gone = session_id(2);
    send(live_piece(gone, Channel::Scope, 1, 0, live_text(gone, Channel::Scope, 1, 1)),
         What::Stored);
    ASSERT_TRUE(store_->set_deleted(1, gone, true));
  }
  Inspection check(const fs::path& folder) {
    said_.clear();
    const auto found = check_store(folder, [&](const std::string& line) { said_ += line + "\n"; });
    EXPECT_TRUE(found) << found.status().text();
    return found ? *found : Inspection();
  }

  TempDir folder_;
  fs::path data_;
  std::unique_ptr<SessionStore> store_;
  std::string said_;
  const std::string id_ = session_id(1);
};

TEST_F(InspectTest, FindsWhatIsMissingAndWhatHasChanged) {
  fill();
  const Inspection whole = check(data());
  EXPECT_EQ(whole.problems, 0U) << said_;
  EXPECT_EQ(whole.sessions, 2U);
  EXPECT_EQ(whole.blobs, 7U);
  store_.reset();  // else the journal has the lines, too
  const fs::path session = data() / session_prefix(1, 1);
  format::testing::write_text(session / "scope.1.log.zst", "changed");
  fs::remove(session / "scope.2.log");
  EXPECT_EQ(check(data()).problems, 2U);
  EXPECT_NE(said_.find(id_ + ": scope.1.log.zst has other bytes"), std::string::npos) << said_;
  EXPECT_NE(said_.find(id_ + ": scope.2.log is missing"), std::string::npos) << said_;
}

TEST_F(InspectTest, ACopyIsAStoreThatGoesOn) {
  fill();
  const fs::path copy = folder_.path() / "copy";
  const auto made = copy_store(data(), copy);
  ASSERT_TRUE(made) << made.status().text();
  EXPECT_EQ(made->blobs, 7U) << "those of the store, and its journal";
  EXPECT_EQ(copy_store(data(), copy).status().code(), Code::InvalidArgument);
  EXPECT_EQ(check(copy).problems, 0U) << said_;
  auto other = testing::open_store(copy);
  ASSERT_TRUE(other) << other.status().text();
  const auto status = (*other)->status(1, id_);
  ASSERT_TRUE(status && *status);
  EXPECT_EQ((*status)->contents.windows.size(), 2U);
  EXPECT_EQ((*status)->contents.windows.at(1).bytes, live_text(id_, Channel::Scope, 2, 3).size());
  EXPECT_TRUE((*(*other)->status(1, session_id(2)))->session.is_deleted);
  EXPECT_EQ((*other)->set_aside(1)->size(), 1U);
  const std::string text = live_text(id_, Channel::Scope, 1, 3);
  EXPECT_EQ((*other)->take(window_piece(**other, id_, Channel::Scope, 1, text)).what, What::Known);
}

TEST_F(InspectTest, ACopyIsThereOnceItIsWhole) {
  fill();
  const fs::path window = data() / session_prefix(1, 1) / "scope.1.log.zst";
  const fs::path elsewhere = folder_.path() / "elsewhere";
  const fs::path copy = folder_.path() / "copies/monday/";
  fs::create_directory(copy.parent_path().parent_path());
  fs::rename(window, elsewhere);
  EXPECT_EQ(copy_store(data(), copy).status().code(), Code::NotFound);
  EXPECT_TRUE(fs::is_empty(folder_.path() / "copies"));
  fs::rename(elsewhere, window);
  EXPECT_TRUE(copy_store(data(), copy));
  EXPECT_EQ(check(copy).problems, 0U) << said_;
  // What was killed in the middle is somebody's to look at.
  fs::rename(folder_.path() / "copies/monday", folder_.path() / "copies/tuesday.partial");
  const auto again = copy_store(data(), folder_.path() / "copies/tuesday");
  EXPECT_NE(again.status().message().find("tuesday.partial exists already"), std::string::npos);
}

// As a loss of power leaves it: what was not synced is gone.
TEST_F(InspectTest, ACopyHasLinesThatAreOnlyInTheJournal) {
  const std::string text = live_text(id_, Channel::Scope, 1, 9);
  const std::string other = live_text(id_, Channel::Scope, 2, 3);
  ASSERT_EQ(store_->take(live_piece(id_, Channel::Scope, 1, 0, text)).what, What::Stored);
  ASSERT_EQ(store_->take(live_piece(id_, Channel::Scope, 2, 0, other)).what, What::Stored);
  const fs::path cut = folder_.path() / "cut", copy = folder_.path() / "copy";
  fs::copy(data(), cut, fs::copy_options::recursive);
  fs::resize_file(cut / session_prefix(1, 1) / "scope.1.log", 100);
  fs::remove(cut / session_prefix(1, 1) / "scope.2.log");
  EXPECT_EQ(check(cut).problems, 0U) << said_;
  const auto made = restore_store(cut, copy, [](const std::string&) {});
  ASSERT_TRUE(made) << made.status().text();
  const auto opened = testing::open_store(copy);
  ASSERT_TRUE(opened) << opened.status().text();
  EXPECT_EQ(format::testing::read_text(copy / session_prefix(1, 1) / "scope.1.log"), text);
  EXPECT_EQ(format::testing::read_text(copy / session_prefix(1, 1) / "scope.2.log"), other);
}

TEST_F(InspectTest, FindsDamageOfLinesSharedModulesAndWhatWasSetAside) {
  fill();
  store_.reset();
  const auto spoil = [](const fs::path& file) {
    std::string bytes = format::testing::read_text(file);
    bytes.replace(bytes.size() / 2, 30, std::string(30, '\0'));
    format::testing::write_text(file, bytes);
  };
  const auto only_file_in = [](const fs::path& folder) {
    return folder / format::testing::file_names(folder).at(0);
  };
  spoil(data() / session_prefix(1, 1) / "scope.2.log");
  EXPECT_EQ(check(data()).problems, 1U) << said_;
  EXPECT_NE(said_.find("scope.2.log"), std::string::npos) << said_;
  fs::remove(only_file_in(data() / "workspaces/1/modules"));
  EXPECT_EQ(check(data()).problems, 2U) << said_;
  format::testing::write_text(only_file_in(data() / "workspaces/1/quarantine"), "changed");
  EXPECT_EQ(check(data()).problems, 3U) << said_;
}

// Lines give way to windows, and files to newer ones, while it is copied.
TEST_F(InspectTest, CopiesWhileOthersSend) {
  std::atomic<uint64_t> acknowledged = 0;
  std::atomic<bool> is_over = false;
  std::thread sender([&] {
    for (uint64_t number = 1; !is_over; ++number) {
      const std::string text = live_text(id_, Channel::Scope, number, 3);
      EXPECT_EQ(store_->take(live_piece(id_, Channel::Scope, number, 0, text)).what, What::Stored);
      Piece manifest =
          testing::with_blob(*store_, testing::piece_of(PieceKind::Manifest, id_), text);
      manifest.version = number;
      EXPECT_EQ(store_->take(std::move(manifest)).what, What::Stored);
      EXPECT_EQ(store_->take(window_piece(*store_, id_, Channel::Scope, number, text)).what,
                What::Stored);
      acknowledged = number;
    }
  });
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = acknowledged;
    const fs::path copy = folder_.path() / ("copy" + std::to_string(i));
    const auto made = copy_store(data(), copy);
    EXPECT_TRUE(made) << made.status().text();
    if (!made) break;
    auto opened = testing::open_store(copy);
    EXPECT_TRUE(opened) << opened.status().text();
    if (!opened) break;
    EXPECT_EQ(check(copy).problems, 0U) << said_;
    const auto status = (*opened)->status(1, id_);
    const bool is_there = status && *status;
    EXPECT_TRUE(is_there || before == 0);
    if (is_there) {
      EXPECT_GE((*status)->contents.windows.size(), before);
    }
    while (acknowledged < before + 3) std::this_thread::yield();
  }
  is_over = true;
  sender.join();
  EXPECT_EQ(check(data()).problems, 0U) << said_;
}

}  // namespace
}  // namespace gpufl::store
