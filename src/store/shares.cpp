// SPDX-License-Identifier: Apache-2.0
// Links to one session: how they are made, found and ended.
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/constant_time.hpp"
#include "base/secret.hpp"
#include "store/people.hpp"

namespace gpufl::store {
namespace {

using base::Code;
using base::Status;
using sqlite::Row;

constexpr std::string_view kTokenPrefix = "gpfs_";
constexpr size_t kIdBytes = 8;
constexpr size_t kSecretBytes = 32;
constexpr std::string_view kCookiePrefix = "cookie of ";

int64_t wall_ms() { return base::wall_ns() / 1'000'000; }

// Of those that ended, as many as the list still shows.
Status drop_oldest_ended(sqlite::Database& database, int64_t workspace, int64_t now_ms) {
  return database.run(
      "DELETE FROM shares WHERE id IN (SELECT shares.id FROM shares JOIN sessions ON sessions.id = "
      "shares.session WHERE sessions.workspace = ?1 AND (is_revoked = 1 OR expires_ms <= ?2) ORDER "
      "BY created_ms DESC LIMIT -1 OFFSET ?3)",
      {workspace, now_ms, Share::kMostEnded});
}

}  // namespace

std::string_view share_of_token(std::string_view token) {
  if (!token.starts_with(kTokenPrefix)) return {};
  if (token.size() != kTokenPrefix.size() + 2 * (kIdBytes + kSecretBytes)) return {};
  if (token.find_first_not_of("0123456789abcdef", kTokenPrefix.size()) != std::string_view::npos) {
    return {};
  }
  return token.substr(kTokenPrefix.size(), 2 * kIdBytes);
}

std::string share_cookie(std::string_view token) {
  return hash_secret(std::string(kCookiePrefix).append(token));
}

const Share* Directory::share_named(std::string_view id, int64_t now_ms) const {
  const auto found = shares.find(id);
  if (found == shares.end() || !found->second.is_valid(now_ms)) return nullptr;
  return sharing.contains(found->second.workspace) ? &found->second : nullptr;
}

const Share* Directory::share_by_token(std::string_view token, int64_t now_ms) const {
  const std::string hash = hash_secret(token);
  const Share* share = share_named(share_of_token(token), now_ms);
  if (share == nullptr) return nullptr;
  return base::equal_in_constant_time(hash, share->token_hash) ? share : nullptr;
}

const Share* Directory::share_by_cookie(std::string_view id, std::string_view cookie,
                                        int64_t now_ms) const {
  const std::string hash = hash_secret(cookie);
  const Share* share = share_named(id, now_ms);
  if (share == nullptr) return nullptr;
  return base::equal_in_constant_time(hash, share->cookie_hash) ? share : nullptr;
}

Status People::load_shares(Directory& now) {
  Status asked = database_->query("SELECT workspace FROM sharing", {},
                                  [&](const Row& row) { now.sharing.insert(row.integer(0)); });
  if (!asked) return asked;
  return database_->query(
      "SELECT shares.id, sessions.workspace, sessions.name, with_source, with_command, with_files, "
      "made_by, created_ms, expires_ms, last_used_ms, is_revoked, token_hash, cookie_hash FROM "
      "shares JOIN sessions ON sessions.id = shares.session",
      {}, [&](const Row& row) {
        Share share{.id = std::string(row.text(0)),
                    .workspace = row.integer(1),
                    .session = std::string(row.text(2)),
                    .with_source = row.integer(3) != 0,
                    .with_command = row.integer(4) != 0,
                    .with_files = row.integer(5) != 0,
                    .made_by = std::string(row.text(6)),
                    .created_ms = row.integer(7),
                    .expires_ms = row.integer(8),
                    .last_used_ms = row.integer(9),
                    .is_revoked = row.integer(10) != 0,
                    .token_hash = std::string(row.text(11)),
                    .cookie_hash = std::string(row.text(12))};
        const User* maker = now.user_named(share.made_by);
        const auto role = maker == nullptr ? std::nullopt : maker->role_in(share.workspace);
        share.is_orphan = !role || maker->is_disabled || *role < Role::Member;
        std::string id = share.id;
        now.shares.emplace(std::move(id), std::move(share));
      });
}

Status People::set_sharing(int64_t workspace, bool is_on) {
  const std::lock_guard lock(mutex_);
  if (is_on) return change("INSERT OR IGNORE INTO sharing VALUES (?)", {workspace});
  return transact([&]() -> Status {
    Status done = database_->run("DELETE FROM sharing WHERE workspace = ?", {workspace});
    if (!done) return done;
    // What was thought to have ended does not come back when links are turned on again.
    return database_->run(
        "UPDATE shares SET is_revoked = 1 WHERE is_revoked = 0 AND session IN (SELECT id FROM "
        "sessions WHERE workspace = ?)",
        {workspace});
  });
}

base::Result<People::NewShare> People::add_share(const Share& share) {
  NewShare made;
  made.id = base::random_hex(kIdBytes);
  made.token = std::string(kTokenPrefix) + made.id + base::random_hex(kSecretBytes);
  const std::lock_guard lock(mutex_);
  const Status added = transact([&]() -> Status {
    const int64_t now_ms = wall_ms();
    bool is_on = false;
    int64_t count = 0;
    Status done = database_->query("SELECT 1 FROM sharing WHERE workspace = ?", {share.workspace},
                                   [&](const Row&) { is_on = true; });
    if (!done) return done;
    if (!is_on) return {Code::PermissionDenied, "links to sessions are off in this workspace"};
    done = database_->query(
        "SELECT count(*) FROM shares JOIN sessions ON sessions.id = shares.session WHERE "
        "sessions.workspace = ? AND is_revoked = 0 AND expires_ms > ?",
        {share.workspace, now_ms}, [&](const Row& row) { count = row.integer(0); });
    if (!done) return done;
    if (static_cast<size_t>(count) >= Share::kMostOfWorkspace) {
      return {Code::LimitReached, "a workspace has 100 links at the most; end some of them"};
    }
    done = database_->run(
        "INSERT INTO shares (id, session, token_hash, cookie_hash, with_source, with_command, "
        "with_files, made_by, created_ms, expires_ms) SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ? FROM "
        "sessions WHERE workspace = ? AND name = ? AND is_deleted = 0",
        {made.id, hash_secret(made.token), hash_secret(share_cookie(made.token)),
         int64_t{share.with_source}, int64_t{share.with_command}, int64_t{share.with_files},
         share.made_by, now_ms, share.expires_ms, share.workspace, share.session});
    if (!done) return done;
    if (database_->changed_rows() == 0) {
      return {Code::NotFound, "there is no session " + share.session};
    }
    return drop_oldest_ended(*database_, share.workspace, now_ms);
  });
  if (!added) return added;
  return made;
}

Status People::revoke_share(int64_t workspace, std::string_view id) {
  const std::lock_guard lock(mutex_);
  Status revoked = database_->run(
      "UPDATE shares SET is_revoked = 1 WHERE id = ? AND session IN (SELECT id FROM sessions WHERE "
      "workspace = ?)",
      {id, workspace});
  if (!revoked) return revoked;
  if (database_->changed_rows() == 0)
    return {Code::NotFound, "there is no link " + std::string(id)};
  return load();
}

Status People::note_share_uses(const std::map<std::string, int64_t>& time_ms_by_share) {
  if (time_ms_by_share.empty()) return {};
  const std::lock_guard lock(mutex_);
  return transact([&]() -> Status {
    for (const auto& [id, time_ms] : time_ms_by_share) {
      Status noted = database_->run(
          "UPDATE shares SET last_used_ms = max(last_used_ms, ?) WHERE id = ?", {time_ms, id});
      if (!noted) return noted;
    }
    return {};
  });
}

}  // namespace gpufl::store
