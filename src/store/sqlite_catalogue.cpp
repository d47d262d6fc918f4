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

constexpr const char* kPart = "catalogue";
constexpr int64_t kNsPerMs = 1'000'000;

constexpr const char* first_tables() {
  return R"(
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
)";
}

constexpr const char* add_modules_by_content() {
  return R"(
CREATE TABLE modules (
  workspace INTEGER NOT NULL REFERENCES workspaces (id), sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL, PRIMARY KEY (workspace, sha256)) WITHOUT ROWID;
ALTER TABLE session_modules ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
CREATE INDEX session_modules_by_content ON session_modules (sha256);
)";
}

constexpr const char* add_retention() {
  return R"(
ALTER TABLE workspaces ADD COLUMN keep_days INTEGER;
ALTER TABLE workspaces ADD COLUMN keep_bytes INTEGER;
ALTER TABLE workspaces ADD COLUMN deleted_days INTEGER NOT NULL DEFAULT 30;
ALTER TABLE sessions ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN is_purged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN changed_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN deleted_ms INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET changed_ms = arrived_ms;
UPDATE sessions SET deleted_ms = unixepoch() * 1000 WHERE is_deleted = 1;
)";
}

constexpr const char* add_generation() {
  return R"(
CREATE TABLE store (generation TEXT NOT NULL);
INSERT INTO store VALUES (lower(hex(randomblob(16))));
)";
}

// Windows that came before are packed once the store is open.
constexpr const char* add_health() {
  return R"(
ALTER TABLE windows ADD COLUMN is_packed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX windows_unpacked ON windows (session, number)
  WHERE channel = 'system' AND is_packed = 0;
ALTER TABLE workspaces ADD COLUMN health_1s_days INTEGER NOT NULL DEFAULT 7;
ALTER TABLE workspaces ADD COLUMN health_10s_days INTEGER NOT NULL DEFAULT 30;
ALTER TABLE workspaces ADD COLUMN health_1min_days INTEGER NOT NULL DEFAULT 90;
ALTER TABLE workspaces ADD COLUMN health_10min_days INTEGER NOT NULL DEFAULT 365;
ALTER TABLE workspaces ADD COLUMN health_1h_days INTEGER NOT NULL DEFAULT 1825;
CREATE TABLE devices (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL REFERENCES workspaces (id),
  host TEXT NOT NULL, uuid TEXT NOT NULL, name TEXT NOT NULL, seen_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL, UNIQUE (workspace, host, uuid));
CREATE TABLE health (
  device INTEGER NOT NULL REFERENCES devices (id), level_s INTEGER NOT NULL,
  hour INTEGER NOT NULL, version INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (device, level_s, hour)) WITHOUT ROWID;
CREATE INDEX health_by_hour ON health (level_s, hour);
CREATE TABLE health_places (
  session INTEGER NOT NULL REFERENCES sessions (id), number INTEGER NOT NULL,
  device INTEGER NOT NULL, hour INTEGER NOT NULL,
  PRIMARY KEY (session, number, device, hour)) WITHOUT ROWID;
)";
}

// What was purged leaves a row for ever, and nobody may have to read all of them.
constexpr const char* add_session_indexes() {
  return R"(
CREATE INDEX sessions_by_workspace ON sessions (workspace);
CREATE INDEX sessions_kept ON sessions (workspace) WHERE is_purged = 0;
)";
}

constexpr const char* add_ends() {
  return R"(
ALTER TABLE sessions ADD COLUMN has_ended INTEGER NOT NULL DEFAULT 0;
)";
}

constexpr std::array kSteps = {
    first_tables(), add_modules_by_content(), add_retention(), add_generation(),
    add_health(),   add_session_indexes(),    add_ends()};

constexpr const char* kSessionColumns =
    "SELECT id, workspace, name, is_deleted, bytes, is_pinned, is_purged, changed_ms, deleted_ms, "
    "has_ended FROM sessions";
constexpr const char* kAsideColumns =
    "SELECT id, workspace, session, what, sha256, reason, sender, bytes, arrived_ms FROM "
    "quarantine WHERE workspace = ?";

int64_t now_ms() { return base::wall_ns() / kNsPerMs; }

StoredSession session_in(const Row& row) {
  return {.id = row.integer(0),
          .workspace = row.integer(1),
          .name = std::string(row.text(2)),
          .is_deleted = row.integer(3) != 0,
          .bytes = static_cast<uint64_t>(row.integer(4)),
          .is_pinned = row.integer(5) != 0,
          .is_purged = row.integer(6) != 0,
          .changed_ms = row.integer(7),
          .deleted_ms = row.integer(8),
          .has_ended = row.integer(9) != 0};
}

Workspace workspace_in(const Row& row) {
  Workspace workspace{row.integer(0), std::string(row.text(1)), {}, {}};
  if (row.has(2)) workspace.quota_bytes = static_cast<uint64_t>(row.integer(2));
  if (row.has(3)) workspace.retention.keep_days = row.integer(3);
  if (row.has(4)) workspace.retention.keep_bytes = static_cast<uint64_t>(row.integer(4));
  workspace.retention.deleted_days = row.integer(5);
  for (size_t level = 0; level < kHealthLevels; ++level) {
    workspace.retention.health_days[level] = row.integer(6 + level);
  }
  return workspace;
}

SharedModule shared_module_in(const Row& row) {
  return {std::string(row.text(0)), static_cast<uint64_t>(row.integer(1))};
}

SetAside aside_in(const Row& row) {
  return {.id = row.integer(0),
          .workspace = row.integer(1),
          .session = std::string(row.text(2)),
          .what = std::string(row.text(3)),
          .sha256 = std::string(row.text(4)),
          .reason = std::string(row.text(5)),
          .sender = std::string(row.text(6)),
          .bytes = static_cast<uint64_t>(row.integer(7)),
          .arrived_ms = row.integer(8)};
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
    const std::filesystem::path& file, Schema schema) {
  auto database = sqlite::Database::open(file, sqlite::Database::Mode::Durable);
  if (!database) return database.status();
  const Status current = schema == Schema::Update
                             ? sqlite::migrate(**database, kPart, kSteps)
                             : sqlite::expect_version(**database, kPart, kSteps);
  if (!current) return current;
  return std::unique_ptr<SqliteCatalogue>(new SqliteCatalogue(std::move(*database)));
}

Status SqliteCatalogue::transact(const std::function<Status()>& work) {
  return sqlite::transact(*database_, work);
}

base::Result<std::string> SqliteCatalogue::generation() {
  std::string generation;
  const Status asked = database_->query("SELECT generation FROM store", {},
                                        [&](const Row& row) { generation = row.text(0); });
  if (!asked) return asked;
  return generation;
}

Status SqliteCatalogue::renew_generation() {
  return database_->run("UPDATE store SET generation = lower(hex(randomblob(16)))");
}

base::Result<std::vector<Workspace>> SqliteCatalogue::workspaces() {
  std::vector<Workspace> found;
  const Status asked = database_->query(
      "SELECT id, name, quota_bytes, keep_days, keep_bytes, deleted_days, health_1s_days, "
      "health_10s_days, health_1min_days, health_10min_days, health_1h_days FROM workspaces ORDER "
      "BY name",
      {}, [&](const Row& row) { found.push_back(workspace_in(row)); });
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

base::Result<std::optional<StoredSession>> SqliteCatalogue::find_session(int64_t workspace,
                                                                         std::string_view name) {
  std::optional<StoredSession> found;
  const Status asked =
      database_->query(std::string(kSessionColumns) + " WHERE workspace = ? AND name = ?",
                       {workspace, name}, [&](const Row& row) { found = session_in(row); });
  if (!asked) return asked;
  return found;
}

base::Result<int64_t> SqliteCatalogue::add_session(int64_t workspace, std::string_view name) {
  const int64_t now = now_ms();
  const Status added = database_->run(
      "INSERT INTO sessions (workspace, name, arrived_ms, changed_ms) VALUES (?, ?, ?, ?)",
      {workspace, name, now, now});
  if (!added) return added;
  return database_->last_insert_id();
}

Status SqliteCatalogue::set_deleted(int64_t session, bool is_deleted) {
  const int64_t now = now_ms();
  if (is_deleted) {
    return database_->run("UPDATE sessions SET is_deleted = 1, deleted_ms = ? WHERE id = ?",
                          {now, session});
  }
  return database_->run(
      "UPDATE sessions SET is_deleted = 0, deleted_ms = 0, is_purged = 0, changed_ms = ? WHERE id "
      "= ?",
      {now, session});
}

Status SqliteCatalogue::set_pinned(int64_t session, bool is_pinned) {
  return database_->run("UPDATE sessions SET is_pinned = ? WHERE id = ?",
                        {int64_t{is_pinned}, session});
}

Status SqliteCatalogue::set_ended(int64_t session) {
  return database_->run("UPDATE sessions SET has_ended = 1 WHERE id = ?", {session});
}

Status SqliteCatalogue::purge(int64_t session) {
  Status done = database_->run("DELETE FROM windows WHERE session = ?", {session});
  if (done) done = database_->run("DELETE FROM health_places WHERE session = ?", {session});
  if (done) done = database_->run("DELETE FROM files WHERE session = ?", {session});
  if (done) done = database_->run("DELETE FROM session_modules WHERE session = ?", {session});
  if (!done) return done;
  return database_->run(
      "UPDATE sessions SET is_purged = 1, is_deleted = 1, has_ended = 0, bytes = 0, deleted_ms = "
      "max(deleted_ms, ?) WHERE id = ?",
      {now_ms(), session});
}

Status SqliteCatalogue::add_bytes(int64_t session, int64_t bytes) {
  return database_->run("UPDATE sessions SET bytes = bytes + ?, changed_ms = ? WHERE id = ?",
                        {bytes, now_ms(), session});
}

Status SqliteCatalogue::each_session(const SessionVisitor& see) {
  return database_->query(kSessionColumns, {}, [&](const Row& row) { see(session_in(row)); });
}

Status SqliteCatalogue::each_kept_session(int64_t workspace, const SessionVisitor& see) {
  return database_->query(std::string(kSessionColumns) + " WHERE workspace = ? AND is_purged = 0",
                          {workspace}, [&](const Row& row) { see(session_in(row)); });
}

base::Result<std::vector<StoredSession>> SqliteCatalogue::newest_sessions(int64_t workspace,
                                                                          size_t most,
                                                                          int64_t before) {
  std::vector<StoredSession> found;
  const Status asked = database_->query(
      std::string(kSessionColumns) + " WHERE workspace = ? AND id < ? ORDER BY id DESC LIMIT ?",
      {workspace, before > 0 ? before : INT64_MAX, static_cast<int64_t>(most)},
      [&](const Row& row) { found.push_back(session_in(row)); });
  if (!asked) return asked;
  return found;
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
      "INSERT OR REPLACE INTO windows (session, channel, number, state, sha256, bytes) "
      "VALUES (?, ?, ?, ?, ?, ?)",
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

base::Result<std::optional<StoredModule>> SqliteCatalogue::find_module(int64_t session,
                                                                       std::string_view hash) {
  std::optional<StoredModule> found;
  const Status asked =
      database_->query("SELECT hash, sha256 FROM session_modules WHERE session = ? AND hash = ?",
                       {session, hash}, [&](const Row& row) {
                         found = StoredModule{std::string(row.text(0)), std::string(row.text(1))};
                       });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::put_module(int64_t session, const StoredModule& module) {
  return database_->run(
      "INSERT OR REPLACE INTO session_modules (session, hash, sha256) VALUES (?, ?, ?)",
      {session, module.hash, module.sha256});
}

base::Result<std::vector<SharedModule>> SqliteCatalogue::shared_modules(int64_t workspace) {
  std::vector<SharedModule> found;
  const Status asked =
      database_->query("SELECT sha256, bytes FROM modules WHERE workspace = ?", {workspace},
                       [&](const Row& row) { found.push_back(shared_module_in(row)); });
  if (!asked) return asked;
  return found;
}

base::Result<bool> SqliteCatalogue::has_shared_module(int64_t workspace, std::string_view sha256) {
  bool found = false;
  const Status asked = database_->query("SELECT 1 FROM modules WHERE workspace = ? AND sha256 = ?",
                                        {workspace, sha256}, [&](const Row&) { found = true; });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::add_shared_module(int64_t workspace, const SharedModule& module) {
  return database_->run("INSERT INTO modules VALUES (?, ?, ?)",
                        {workspace, module.sha256, static_cast<int64_t>(module.bytes)});
}

base::Result<std::vector<SharedModule>> SqliteCatalogue::drop_unused_modules(int64_t workspace) {
  std::vector<SharedModule> dropped;
  const Status done = database_->query(
      "DELETE FROM modules WHERE workspace = ? AND NOT EXISTS (SELECT 1 FROM session_modules JOIN "
      "sessions ON sessions.id = session_modules.session WHERE session_modules.sha256 = "
      "modules.sha256 AND sessions.workspace = modules.workspace) RETURNING sha256, bytes",
      {workspace}, [&](const Row& row) { dropped.push_back(shared_module_in(row)); });
  if (!done) return done;
  return dropped;
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
    asked = database_->query(
        "SELECT hash, sha256 FROM session_modules WHERE session = ?", {session},
        [&](const Row& row) {
          contents.modules.push_back({std::string(row.text(0)), std::string(row.text(1))});
        });
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
  const Status asked =
      database_->query(std::string(kAsideColumns) + " ORDER BY id DESC", {workspace},
                       [&](const Row& row) { found.push_back(aside_in(row)); });
  if (!asked) return asked;
  return found;
}

base::Result<std::vector<SetAside>> SqliteCatalogue::list_aside_of(int64_t workspace,
                                                                   std::string_view session) {
  std::vector<SetAside> found;
  const Status asked = database_->query(
      std::string(kAsideColumns) + " AND session = ? ORDER BY id DESC", {workspace, session},
      [&](const Row& row) { found.push_back(aside_in(row)); });
  if (!asked) return asked;
  return found;
}

Status SqliteCatalogue::forget_aside(int64_t id) {
  return database_->run("DELETE FROM quarantine WHERE id = ?", {id});
}

}  // namespace gpufl::store
