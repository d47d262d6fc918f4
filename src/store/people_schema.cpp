// SPDX-License-Identifier: Apache-2.0
#include "store/people_schema.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace gpufl::store {
namespace {

constexpr const char* kPeopleTables = R"(
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, password TEXT NOT NULL DEFAULT '',
  is_disabled INTEGER NOT NULL DEFAULT 0, created_ms INTEGER NOT NULL);
CREATE TABLE roles (
  user INTEGER NOT NULL REFERENCES users (id), workspace INTEGER NOT NULL REFERENCES workspaces (id),
  role INTEGER NOT NULL, PRIMARY KEY (user, workspace)) WITHOUT ROWID;
CREATE TABLE keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL REFERENCES workspaces (id),
  hash TEXT NOT NULL UNIQUE, label TEXT NOT NULL, scope INTEGER NOT NULL, made_by TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL DEFAULT 0,
  is_revoked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE logins (
  hash TEXT PRIMARY KEY, user INTEGER NOT NULL REFERENCES users (id), expires_ms INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE invitations (
  hash TEXT PRIMARY KEY, user INTEGER NOT NULL REFERENCES users (id), expires_ms INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL, time_ms INTEGER NOT NULL,
  actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL);
CREATE INDEX audit_by_workspace ON audit (workspace, id);
)";

constexpr const char* kIdentityTables = R"(
CREATE TABLE identities (
  issuer TEXT NOT NULL, subject TEXT NOT NULL, user INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (issuer, subject)) WITHOUT ROWID;
CREATE TABLE expected_identities (
  claim INTEGER NOT NULL, value TEXT NOT NULL, user INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (claim, value)) WITHOUT ROWID;
ALTER TABLE invitations ADD COLUMN makes_admin INTEGER NOT NULL DEFAULT 0;
CREATE TABLE directory_number (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
INSERT INTO directory_number VALUES (1, 0);
)";

// Links end with their session, whoever takes that away, and in a copy of the store: one that was
// ended since must not count again.
constexpr const char* kShareTables = R"(
CREATE TABLE sharing (workspace INTEGER PRIMARY KEY REFERENCES workspaces (id));
CREATE TABLE shares (
  id TEXT PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions (id),
  token_hash TEXT NOT NULL UNIQUE, cookie_hash TEXT NOT NULL UNIQUE, with_source INTEGER NOT NULL,
  with_command INTEGER NOT NULL, with_files INTEGER NOT NULL, made_by TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL DEFAULT 0,
  is_revoked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX shares_by_session ON shares (session);
CREATE TRIGGER shares_end_with_session AFTER UPDATE OF is_deleted ON sessions
  WHEN NEW.is_deleted = 1
  BEGIN UPDATE shares SET is_revoked = 1 WHERE session = NEW.id AND is_revoked = 0; END;
CREATE TRIGGER shares_end_in_copies AFTER UPDATE OF generation ON store
  BEGIN UPDATE shares SET is_revoked = 1 WHERE is_revoked = 0; END;
)";

// Likewise logins that were ended since, and links that have set a password already.
constexpr const char* kEndsInCopies = R"(
CREATE TRIGGER logins_end_in_copies AFTER UPDATE OF generation ON store
  BEGIN DELETE FROM logins; DELETE FROM invitations; END;
)";

// When a key or a link was used last changes under load, and nobody waits for it.
std::string counting_triggers(std::span<const std::string_view> tables) {
  constexpr std::string_view kKeyColumns = " OF is_revoked, expires_ms, scope, label";
  constexpr std::string_view kShareColumns = " OF is_revoked, expires_ms";
  std::string script;
  const auto add = [&](std::string_view table, std::string_view event, std::string_view columns) {
    script += "CREATE TRIGGER " + std::string(table) + "_" + std::string(event) + " AFTER " +
              std::string(event) + std::string(columns) + " ON " + std::string(table) +
              " BEGIN UPDATE directory_number SET number = number + 1; END;\n";
  };
  for (const std::string_view table : tables) {
    add(table, "INSERT", "");
    add(table, "DELETE", "");
    add(table, "UPDATE", table == "keys" ? kKeyColumns : table == "shares" ? kShareColumns : "");
  }
  return script;
}

}  // namespace

base::Status check_people_schema(sqlite::Database& database, Schema schema) {
  constexpr std::array<std::string_view, 7> kCounted = {
      "workspaces", "users", "roles", "keys", "logins", "identities", "expected_identities"};
  constexpr std::array<std::string_view, 2> kCountedShares = {"sharing", "shares"};
  const std::string identities = kIdentityTables + counting_triggers(kCounted);
  const std::string shares = kShareTables + counting_triggers(kCountedShares);
  const std::array steps = {kPeopleTables, identities.c_str(), shares.c_str(), kEndsInCopies};
  constexpr const char* kPart = "people";
  return schema == Schema::Update ? sqlite::migrate(database, kPart, steps)
                                  : sqlite::expect_version(database, kPart, steps);
}

base::Result<int64_t> directory_number(sqlite::Database& database) {
  int64_t number = 0;
  base::Status asked = database.query("SELECT number FROM directory_number", {},
                                      [&](const sqlite::Row& row) { number = row.integer(0); });
  if (!asked) return asked;
  return number;
}

}  // namespace gpufl::store
