-- SPDX-License-Identifier: Apache-2.0
-- A store's catalogue as the first version made it, with one session and one key. It stays as it is:
-- tests/e2e/hosting_recovery_test.py starts today's server on it.
PRAGMA journal_mode = WAL;
CREATE TABLE schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL);
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
INSERT INTO schema_version VALUES ('catalogue', 1), ('people', 1);
INSERT INTO workspaces VALUES (1, 'default', NULL, 1794800000000);
INSERT INTO sessions VALUES (1, 1, '20261115T025201.878899Z-5534e996bde20d62', 0, 81920, 1794800000000);
INSERT INTO keys VALUES (1, 1, 'set by the test', 'test', 0, 'gpufl admin', 1794800000000, 0, 0, 0);
