// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_catalogue.hpp"

#include <array>
#include <utility>

#include "base/clock.hpp"
#include "format/session_files.hpp"

namespace gpufl::store {
namespace {

using base::Status;
using sqlite::Row;

constexpr int64_t kNsPerMs = 1'000'000;

constexpr std::array kSteps = {
    R"(
CREATE TABLE workspaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, quota_bytes INTEGER,
  created_ms INTEGER NOT NULL);
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL, is_deleted INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
  arrived_ms INTEGER NOT NULL, UNIQUE (workspace, name));
CREATE TABLE windows (
  session INTEGER NOT NULL REFERENCES sessions (id), channel TEXT NOT NULL,
  number INTEGER NOT NULL, state INTEGER NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (session, channel, number)) WITHOUT ROWID;
CREATE TABLE files (
  session INTEGER NOT NULL REFERENCES sessions (id), kind TEXT NOT NULL, version INTEGER NOT NULL,
  sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (session, kind)) WITHOUT ROWID;
CREATE TABLE session_modules (
  session INTEGER NOT NULL REFERENCES sessions (id), hash TEXT NOT NULL,
  PRIMARY KEY (session, hash)) WITHOUT ROWID;
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL REFERENCES workspaces (id),
  session TEXT NOT NULL, what TEXT NOT NULL, sha256 TEXT NOT NULL, reason TEXT NOT NULL,
  sender TEXT NOT NULL, bytes INTEGER NOT NULL, arrived_ms INTEGER NOT NULL,
  UNIQUE (workspace, session, what, sha256));
)"};

int64_t now_ms() { return base::wall_ns() / kNsPerMs; }

StoredSession session_in(const Row& row) {
  return {.id = row.integer(0),
          .workspace = row.integer(1),
          .name = std::string(row.text(2)),
          .is_deleted = row.integer(3) != 0,
          .bytes = static_cast<uint64_t>(row.integer(4))};
}

// One of a channel that this version does not know cannot have been kept by it.
StoredWindow window_in(const Row& row) {
  return {.channel = format::find_channel(row.text(0)).value_or(format::Channel::System),
          .number = static_cast<uint64_t>(row.integer(1)),
          .state = static_cast<WindowState>(row.integer(2)),
          .sha256 = std::string(row.text(3)),
          .bytes = static_cast<uint64_t>(row.integer(4))};
}

StoredFile file_in(const Row& row) {
  return {.kind = std::string(row.text(0)),
          .version = static_cast<uint64_t>(row.integer(1)),
          .sha256 = std::string(row.text(2)),
          .bytes = static_cast<uint64_t>(row.integer(3))};
}

}  // namespace

std::string_view to_string(WindowState state) {
  switch (state) {
    case WindowState::Sealed: return "sealed";
    case WindowState::Live: return "live";
    case WindowState::Final: break;
  }
  return "final";
}

base::Result<std::unique_ptr<SqliteCatalogue>> SqliteCatalogue::open(
    const std::filesystem::path& file) {
  auto database = sqlite::Database::open(file, sqlite::Database::Mode::Durable);
  if (!database) return database.status();
  if (Status current = sqlite::migrate(**database, "catalogue", kSteps); !current) return current;
  return std::unique_ptr<SqliteCatalogue>(new SqliteCatalogue(std::move(*database)));
}

Status SqliteCatalogue::transact(const std::function<Status()>& work) {
  sqlite::Transaction transaction(*database_);
  if (Status done = work(); !done) return done;
  return transaction.commit();
}

base::Result<std::vector<Workspace>> SqliteCatalogue::workspaces() {
  std::vector<Workspace> found;
  const Status asked = database_->query(
      "SELECT id, name, quota_bytes FROM workspaces ORDER BY name", {}, [&](const Row& row) {
        Workspace workspace{row.integer(0), std::string(row.text(1)), {}};
        if (row.has(2)) workspace.quota_bytes = static_cast<uint64_t>(row.integer(2));
        found.push_back(std::move(workspace));
      });
  if (!asked) return asked;
  return found;
}

base::Result<int64_t> SqliteCatalogue::add_workspace(std::string_view name) {
  const Status added =
      database_->run("INSERT INTO workspaces (name, created_ms) VALUES (?, ?)", {name, now_ms()});
  if (!added) return added;
  return database_->last_insert_id();
}

Status SqliteCatalogue::set_quota(int64_t workspace, std::optional<uint64_t> bytes) {
  std::optional<int64_t> value;
  if (bytes) value = static_cast<int64_t>(*bytes);
  return database_->run("UPDATE workspaces SET quota_bytes = ? WHERE id = ?", {value, workspace});
}

base::Result<uint64_t> SqliteCatalogue::bytes_of(int64_t workspace) {
  uint64_t bytes = 0;
  const Status asked = database_->query(
      "SELECT coalesce(sum(bytes), 0) FROM sessions WHERE workspace = ?", {workspace},
      [&](const Row& row) { bytes = static_cast<uint64_t>(row.integer(0)); });
  if (!asked) return asked;
  return bytes;
}

base::Result<std::optional<StoredSession>> SqliteCatalogue::find_session(int64_t workspace,
                                                                         std::string_view name) {
  std::optional<StoredSession> found;
  const Status asked = database_->query(
      "SELECT id, workspace, name, is_deleted, bytes FROM sessions WHERE workspace = ? AND name = "
      "?",
      {workspace, name}, [&](const Row& row) { found = session_in(row); });
  if (!asked) return asked;
  return found;
}

base::Result<int64_t> SqliteCatalogue::add_session(int64_t workspace, std::string_view name) {
  const Status added =
      database_->run("INSERT INTO sessions (workspace, name, arrived_ms) VALUES (?, ?, ?)",
                     {workspace, name, now_ms()});
  if (!added) return added;
  return database_->last_insert_id();
}

Status SqliteCatalogue::set_deleted(int64_t session, bool is_deleted) {
  return database_->run("UPDATE sessions SET is_deleted = ? WHERE id = ?",
                        {int64_t{is_deleted}, session});
}

Status SqliteCatalogue::add_bytes(int64_t session, int64_t bytes) {
  return database_->run("UPDATE sessions SET bytes = bytes + ? WHERE id = ?", {bytes, session});
}

Status SqliteCatalogue::each_session(const SessionVisitor& see) {
  return database_->query("SELECT id, workspace, name, is_deleted, bytes FROM sessions", {},
                          [&](const Row& row) { see(session_in(row)); });
}

base::Result<std::optional<StoredWindow>> SqliteCatalogue::find_window(int64_t session,
                                                                       format::Channel channel,
                                                                       uint64_t number) {
  std::optional<StoredWindow> found;
  const Status asked = database_->query(
      "SELECT channel, number, state, sha256, bytes FROM windows WHERE session = ? AND channel = ? "
      "AND number = ?",
      {session, format::to_string(channel), static_cast<int64_t>(number)},
      [&](const Row& row) { found = window_in(row); });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::put_window(int64_t session, const StoredWindow& window) {
  return database_->run(
      "INSERT OR REPLACE INTO windows VALUES (?, ?, ?, ?, ?, ?)",
      {session, format::to_string(window.channel), static_cast<int64_t>(window.number),
       static_cast<int64_t>(window.state), window.sha256, static_cast<int64_t>(window.bytes)});
}

base::Result<std::optional<StoredFile>> SqliteCatalogue::find_file(int64_t session,
                                                                   std::string_view kind) {
  std::optional<StoredFile> found;
  const Status asked = database_->query(
      "SELECT kind, version, sha256, bytes FROM files WHERE session = ? AND kind = ?",
      {session, kind}, [&](const Row& row) { found = file_in(row); });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::put_file(int64_t session, const StoredFile& file) {
  return database_->run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
                        {session, file.kind, static_cast<int64_t>(file.version), file.sha256,
                         static_cast<int64_t>(file.bytes)});
}

base::Result<bool> SqliteCatalogue::has_module(int64_t session, std::string_view hash) {
  bool found = false;
  const Status asked =
      database_->query("SELECT 1 FROM session_modules WHERE session = ? AND hash = ?",
                       {session, hash}, [&](const Row&) { found = true; });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::add_module(int64_t session, std::string_view hash) {
  return database_->run("INSERT INTO session_modules VALUES (?, ?)", {session, hash});
}

base::Result<SessionContents> SqliteCatalogue::contents(int64_t session) {
  SessionContents contents;
  Status asked = database_->query(
      "SELECT channel, number, state, sha256, bytes FROM windows WHERE session = ?", {session},
      [&](const Row& row) { contents.windows.push_back(window_in(row)); });
  if (asked) {
    asked = database_->query("SELECT kind, version, sha256, bytes FROM files WHERE session = ?",
                             {session},
                             [&](const Row& row) { contents.files.push_back(file_in(row)); });
  }
  if (asked) {
    asked = database_->query("SELECT hash FROM session_modules WHERE session = ?", {session},
                             [&](const Row& row) { contents.modules.emplace_back(row.text(0)); });
  }
  if (!asked) return asked;
  return contents;
}

base::Result<int64_t> SqliteCatalogue::set_aside(const SetAside& what) {
  const Status added = database_->run(
      "INSERT INTO quarantine (workspace, session, what, sha256, reason, sender, bytes, "
      "arrived_ms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      {what.workspace, what.session, what.what, what.sha256, what.reason, what.sender,
       static_cast<int64_t>(what.bytes), now_ms()});
  if (!added) return added;
  int64_t id = 0;
  const Status asked = database_->query(
      "SELECT id FROM quarantine WHERE workspace = ? AND session = ? AND what = ? AND sha256 = ?",
      {what.workspace, what.session, what.what, what.sha256},
      [&](const Row& row) { id = row.integer(0); });
  if (!asked) return asked;
  return id;
}

base::Result<std::vector<SetAside>> SqliteCatalogue::list_aside(int64_t workspace) {
  std::vector<SetAside> found;
  const Status asked = database_->query(
      "SELECT id, workspace, session, what, sha256, reason, sender, bytes, arrived_ms FROM "
      "quarantine WHERE workspace = ? ORDER BY id DESC",
      {workspace}, [&](const Row& row) {
        found.push_back({.id = row.integer(0),
                         .workspace = row.integer(1),
                         .session = std::string(row.text(2)),
                         .what = std::string(row.text(3)),
                         .sha256 = std::string(row.text(4)),
                         .reason = std::string(row.text(5)),
                         .sender = std::string(row.text(6)),
                         .bytes = static_cast<uint64_t>(row.integer(7)),
                         .arrived_ms = row.integer(8)});
      });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::forget_aside(int64_t id) {
  return database_->run("DELETE FROM quarantine WHERE id = ?", {id});
}

}  // namespace gpufl::store
