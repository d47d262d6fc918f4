// SPDX-License-Identifier: Apache-2.0
#include "agent/session_listing.hpp"

#include <gtest/gtest.h>

#include "format/manifest.hpp"
#include "format/test_session.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using format::ManifestEntry;
using namespace format::testing;

ManifestEntry entry(ManifestEntry::Event event, uint64_t window, uint64_t last = 0) {
  ManifestEntry made;
  made.event = event;
  made.window = window;
  made.last_window = last;
  made.sealed.hash = "xxh64:0000000000000000";
  return made;
}
ManifestEntry sealed(uint64_t window) { return entry(ManifestEntry::Event::Sealed, window); }
ManifestEntry deleted(uint64_t window, uint64_t last = 0) {
  return entry(ManifestEntry::Event::Deleted, window, last);
}

class SessionListingTest : public ::testing::Test {
 protected:
  uint64_t version_with(const std::vector<ManifestEntry>& entries) {
    std::string text = test_header().to_json().dump() + "\n";
    for (const ManifestEntry& one : entries) text += one.to_line();
    write_text(dir_.path() / format::kManifestName, text);
    auto session = SessionFolder::open(dir_.path());
    EXPECT_TRUE(session) << session.status().text();
    return session->list().versions.at(PieceKind::Manifest);
  }

  base::TempDir dir_;
};

TEST_F(SessionListingTest, HasOneFileForEachWindow) {
  const auto writer = make_writer(test_options(dir_.path()));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  auto session = SessionFolder::open(dir_.path());
  ASSERT_TRUE(session) << session.status().text();
  EXPECT_EQ(session->session_id(), test_header().session_id);
  const SessionListing live = session->list();
  EXPECT_TRUE(live.is_live);
  ASSERT_EQ(live.windows.size(), 2u);
  EXPECT_EQ(live.windows[0].file, "scope.log");
  EXPECT_EQ(live.windows[0].number, 1u);
  EXPECT_FALSE(live.windows[0].is_sealed);

  ASSERT_TRUE(writer->close(2000, {}));
  const SessionListing ended = session->list();
  EXPECT_FALSE(ended.is_live);
  ASSERT_EQ(ended.windows.size(), 2u);
  EXPECT_EQ(ended.windows[0].file, "scope.1.log.zst");
  EXPECT_TRUE(ended.windows[0].is_sealed);
  EXPECT_EQ(ended.windows[0].rows, 5u);
  EXPECT_EQ(ended.versions.at(PieceKind::Manifest), 3u);
  EXPECT_FALSE(ended.versions.contains(PieceKind::Symbols));
}

TEST_F(SessionListingTest, WhatIsSealedComesBeforeWhatIsNot) {
  const auto writer = make_writer(test_options(dir_.path()));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  fs::copy(dir_.path() / "scope.log", dir_.path() / "scope.1.log");
  ASSERT_TRUE(writer->close(2000, {}));
  auto session = SessionFolder::open(dir_.path());
  ASSERT_TRUE(session);
  const SessionListing listing = session->list();
  EXPECT_EQ(listing.windows[0].file, "scope.1.log.zst");
  EXPECT_EQ(listing.windows.size(), 2u);
}

TEST_F(SessionListingTest, KnowsModulesAndWhatIsBeside) {
  const auto writer = make_writer(test_options(dir_.path()));
  ASSERT_TRUE(writer->close(1000, {}));
  fs::create_directory(dir_.path() / "modules");
  write_text(dir_.path() / "modules/0123456789abcdef.cubin.zst", "x");
  write_text(dir_.path() / "modules/0123456789abcdef.cubin.zst.tmp", "x");
  write_text(dir_.path() / "symbols.ndjson", "four");
  auto session = SessionFolder::open(dir_.path());
  ASSERT_TRUE(session);
  const SessionListing listing = session->list();
  EXPECT_EQ(listing.modules, std::vector<std::string>{"0123456789abcdef"});
  EXPECT_GT(listing.versions.at(PieceKind::Symbols), 0u);
}

TEST_F(SessionListingTest, NamesWhatItCannotRead) {
  const auto writer = make_writer(test_options(dir_.path()));
  ASSERT_TRUE(writer->close(1000, {}));
  auto session = SessionFolder::open(dir_.path());
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->list().unreadable.empty());
  fs::rename(dir_.path() / "manifest.ndjson", dir_.path() / "told");
  fs::create_directory(dir_.path() / "manifest.ndjson");
  fs::create_symlink("elsewhere", dir_.path() / "symbols.ndjson");
  write_text(dir_.path() / "modules", "a file");
  write_text(dir_.path() / "scope.log", "{\"type\":\"clock\",\"time\":1}\n");
  write_text(dir_.path() / "device.log", "{\"type\":\"sess");
  const auto unreadable = session->list().unreadable;
  std::vector<std::string> names;
  for (const auto& [name, why] : unreadable) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"manifest.ndjson", "modules", "scope.log",
                                             "symbols.ndjson"}));
  EXPECT_EQ(unreadable.at("scope.log"), "its first line is not that of a session");
  for (const std::string& name : names) fs::remove(dir_.path() / name);
  fs::rename(dir_.path() / "told", dir_.path() / "manifest.ndjson");
  EXPECT_TRUE(session->list().unreadable.empty());
}

// Whoever may write into a followed folder may make files of any size, which cost no room on the
// disk.
TEST_F(SessionListingTest, ReadsLittleOfALineWithoutEnd) {
  const auto writer = make_writer(test_options(dir_.path()));
  ASSERT_TRUE(writer->close(1000, {}));
  const auto bytes_read = [] {
    const std::string io = read_text("/proc/self/io");
    return std::stoull(io.substr(io.find("rchar: ") + 7));
  };
  constexpr uint64_t kHuge = uint64_t{1} << 30;
  write_text(dir_.path() / "code.log", "{");
  fs::resize_file(dir_.path() / "code.log", kHuge);
  fs::resize_file(dir_.path() / "manifest.ndjson", uint64_t{64} << 20);
  const auto before = bytes_read();
  auto session = SessionFolder::open(dir_.path());
  ASSERT_TRUE(session) << session.status().text();
  const auto unreadable = session->list().unreadable;
  EXPECT_LT(bytes_read() - before, uint64_t{16} << 20);
  ASSERT_EQ(unreadable.size(), 2u);
  EXPECT_EQ(unreadable.at("code.log"), "its first line is not that of a session");
  EXPECT_EQ(unreadable.at("manifest.ndjson"), "a line of it is longer than any of a manifest");
}

TEST_F(SessionListingTest, ANewerFileHasALaterVersionHoweverShortItIs) {
  const auto writer = make_writer(test_options(dir_.path()));
  ASSERT_TRUE(writer->close(1000, {}));
  const fs::path file = dir_.path() / "symbols.ndjson";
  const auto version = [&](const std::string& text, std::chrono::nanoseconds age) {
    write_text(file, text);
    fs::last_write_time(file, fs::file_time_type::clock::now() - age);
    auto session = SessionFolder::open(dir_.path());
    EXPECT_TRUE(session);
    return session->list().versions.at(PieceKind::Symbols);
  };
  const uint64_t first = version("a long text", std::chrono::hours(2));
  EXPECT_LE(first, uint64_t{1} << 53) << "a server takes no more";
  EXPECT_GT(version("short", std::chrono::hours(1)), first);
  EXPECT_LT(version("put back", std::chrono::hours(3)), first);
}

// A manifest is written anew in a shorter form at times, which tells the same.
TEST_F(SessionListingTest, TheVersionOfAManifestOnlyGrows) {
  const uint64_t first = version_with({sealed(1), sealed(2)});
  const uint64_t second = version_with({sealed(1), sealed(2), deleted(1)});
  EXPECT_GT(second, first);
  const uint64_t third = version_with({sealed(1), sealed(2), deleted(1), deleted(2), sealed(3)});
  EXPECT_GT(third, second);
  EXPECT_EQ(version_with({deleted(1, 2), sealed(3)}), third);
}

TEST_F(SessionListingTest, AFolderWithoutALogIsNoSession) {
  EXPECT_EQ(SessionFolder::open(dir_.path()).status().code(), base::Code::NotFound);
  write_text(dir_.path() / "device.log", "{\"type\":\"sess");
  EXPECT_EQ(SessionFolder::open(dir_.path()).status().code(), base::Code::NotFound)
      << "not yet a line";
  EXPECT_FALSE(SessionFolder::open(dir_.path() / "absent"));
}

TEST(RowsIn, AreThoseOfBatches) {
  EXPECT_EQ(rows_in(""), 0u);
  EXPECT_EQ(
      rows_in("{\"type\":\"kernel\",\"n\":512,\"start\":[1]}\n{\"type\":\"clock\",\"time\":1}\n"
              "{\"type\":\"scope\",\"n\":3}\n"),
      515u);
  EXPECT_EQ(rows_in("{\"type\":\"event\",\"text\":\"" + std::string(80, 'x') + "\",\"n\":5}\n"),
            0u);
}

}  // namespace
}  // namespace gpufl::agent
