// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"
#include "store/folder_blobs.hpp"
#include "store/session_store.hpp"
#include "store/sqlite_catalogue.hpp"

// For tests: a store in a folder, and a session as pieces.
namespace gpufl::store::testing {

inline std::string session_id(int number) {
  std::string digits = std::to_string(number);
  return "20261115T034512Z-" + std::string(16 - digits.size(), '0') + digits;
}

inline std::string sha256_of_text(std::string_view text) {
  base::Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// A folder as a server has it, with one workspace, whose number is 1.
inline base::Result<std::unique_ptr<SessionStore>> open_store(
    const std::filesystem::path& folder, const StoreLimits& limits = {},
    std::unique_ptr<BlobStore> blobs = nullptr) {
  auto catalogue = SqliteCatalogue::open(folder / "catalogue.db");
  if (!catalogue) return catalogue.status();
  const auto workspaces = (*catalogue)->workspaces();
  if (!workspaces) return workspaces.status();
  if (workspaces->empty()) {
    const auto added = (*catalogue)->add_workspace("first");
    if (!added) return added.status();
  }
  if (!blobs) {
    auto opened = FolderBlobs::open(folder);
    if (!opened) return opened.status();
    blobs = std::move(*opened);
  }
  return SessionStore::open(std::move(blobs), std::move(*catalogue), folder / "journal", limits);
}

// A session of the writer's own, with as many scopes in each of its windows.
inline void write_session(const std::filesystem::path& dir, const std::string& id, int windows,
                          int64_t scopes) {
  format::SessionHeader header = format::testing::test_header();
  header.session_id = id;
  format::LogOptions options = format::testing::test_options(dir);
  options.window_bytes = 1;
  auto writer = format::LogWriter::create(options, header);
  for (int i = 0; i < windows; ++i) {
    (*writer)->write(format::testing::scope_rows(**writer, i * scopes + 1, scopes, i * 1000));
    (void)(*writer)->flush(i * 1000);
  }
  (void)(*writer)->close(1'000'000, {});
}

inline Piece piece_of(PieceKind kind, const std::string& session, int64_t workspace = 1) {
  Piece piece;
  piece.workspace = workspace;
  piece.session = session;
  piece.kind = kind;
  piece.sender = "test";
  return piece;
}

inline Piece with_blob(SessionStore& store, Piece piece, std::string_view bytes) {
  auto blob = store.receive();
  if (blob && (*blob)->append(bytes)) piece.blob = std::move(*blob);
  piece.sha256 = sha256_of_text(bytes);
  piece.version = bytes.size();
  return piece;
}

inline Piece window_piece(SessionStore& store, const std::string& session, format::Channel channel,
                          uint64_t number, std::string_view bytes, int64_t workspace = 1) {
  Piece piece = piece_of(PieceKind::Window, session, workspace);
  piece.channel = channel;
  piece.number = number;
  return with_blob(store, std::move(piece), bytes);
}

inline Piece live_piece(const std::string& session, format::Channel channel, uint64_t number,
                        uint64_t offset, std::string text, int64_t workspace = 1) {
  Piece piece = piece_of(PieceKind::Live, session, workspace);
  piece.channel = channel;
  piece.number = number;
  piece.offset = offset;
  piece.text = std::move(text);
  return piece;
}

// Takes from a catalogue what came with packed health and later.
inline constexpr const char* kWithoutHealth = R"(
DROP INDEX sessions_by_workspace; DROP INDEX sessions_kept;
ALTER TABLE sessions DROP COLUMN has_ended;
DROP TABLE health; DROP TABLE devices; DROP TABLE health_places; DROP INDEX windows_unpacked;
ALTER TABLE windows DROP COLUMN is_packed;
ALTER TABLE workspaces DROP COLUMN health_1s_days;
ALTER TABLE workspaces DROP COLUMN health_10s_days;
ALTER TABLE workspaces DROP COLUMN health_1min_days;
ALTER TABLE workspaces DROP COLUMN health_10min_days;
ALTER TABLE workspaces DROP COLUMN health_1h_days;)";

// The first lines of a window that is being written, and more behind them.
inline std::string live_text(const std::string& session, format::Channel channel, uint64_t number,
                             int lines) {
  format::SessionHeader header = format::testing::test_header();
  header.session_id = session;
  base::Json first = header.to_json();
  first.set("channel", format::to_string(channel)).set("window", number);
  std::string text = first.dump() + "\n";
  for (int i = 0; i < lines; ++i) {
    text += R"({"type":"event","time":)" + std::to_string(i) + R"(,"name":"x"})" + "\n";
  }
  return text;
}

}  // namespace gpufl::store::testing
