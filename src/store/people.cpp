// SPDX-License-Identifier: Apache-2.0
#include "store/people.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "base/constant_time.hpp"
#include "base/secret.hpp"
#include "base/sha256.hpp"
#include "store/password.hpp"
#include "store/people_schema.hpp"

namespace gpufl::store {
namespace {

using base::Code;
using base::Status;
using sqlite::Row;

constexpr std::string_view kKeyPrefix = "gpfl_";
constexpr size_t kKeyBytes = 24;
constexpr size_t kCheckDigits = 8;
constexpr size_t kLongestName = 64;
constexpr std::array<std::string_view, 3> kRoles = {"viewer", "member", "admin"};
constexpr std::array<std::string_view, 2> kScopes = {"ingest", "read"};

int64_t wall_ms() { return base::wall_ns() / 1'000'000; }

template <typename Enum, size_t kCount>
std::optional<Enum> find_in(const std::array<std::string_view, kCount>& names,
                            std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<Enum>(found - names.begin());
}

std::string check_digits(std::string_view text) {
  return hash_secret(text).substr(0, kCheckDigits);
}

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<size_t>(role)]; }
std::optional<Role> find_role(std::string_view name) { return find_in<Role>(kRoles, name); }
std::string_view to_string(Scope scope) { return kScopes[static_cast<size_t>(scope)]; }
std::optional<Scope> find_scope(std::string_view name) { return find_in<Scope>(kScopes, name); }

std::optional<Role> User::role_in(int64_t workspace) const {
  const auto found = roles.find(workspace);
  if (found == roles.end()) return {};
  return found->second;
}

// Addresses are the same in capitals; what is not ASCII is compared as it is.
std::string as_compared(Claim claim, std::string_view value) {
  std::string text(value);
  if (claim != Claim::Email) return text;
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool is_key_text(std::string_view text) {
  if (!text.starts_with(kKeyPrefix)) return false;
  if (text.size() != kKeyPrefix.size() + 2 * kKeyBytes + kCheckDigits) return false;
  const size_t end = text.size() - kCheckDigits;
  return base::equal_in_constant_time(check_digits(text.substr(0, end)), text.substr(end));
}

std::string hash_secret(std::string_view secret) {
  base::Sha256 hash;
  hash.add(secret);
  return hash.finish();
}

bool is_workspace_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

bool is_user_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// What is looked up is the hash of what was sent, so time tells nothing about a secret.
const ApiKey* Directory::key_of(std::string_view secret, int64_t now_ms) const {
  if (!is_key_text(secret)) return nullptr;
  const auto found = keys.find(hash_secret(secret));
  return found != keys.end() && found->second.is_valid(now_ms) ? &found->second : nullptr;
}

const User* Directory::user_of(std::string_view secret, int64_t now_ms) const {
  const auto login = logins.find(hash_secret(secret));
  if (login == logins.end() || now_ms >= login->second.expires_ms) return nullptr;
  const auto user = users.find(login->second.user);
  return user != users.end() && !user->second.is_disabled ? &user->second : nullptr;
}

const User* Directory::user_named(std::string_view name) const {
  for (const auto& [id, user] : users) {
    if (user.name == name) return &user;
  }
  return nullptr;
}

const std::string* Directory::name_of(int64_t workspace) const {
  for (const auto& [name, id] : workspaces) {
    if (id == workspace) return &name;
  }
  return nullptr;
}

std::optional<int64_t> Directory::user_with(const Identity& identity) const {
  const auto found = identities.find(identity);
  if (found == identities.end()) return {};
  return found->second;
}

std::optional<int64_t> Directory::expected_user(Claim claim, std::string_view value) const {
  const auto found = expected.find({claim, as_compared(claim, value)});
  if (found == expected.end()) return {};
  return found->second;
}

bool Directory::has_admin(std::string_view issuer) const {
  const auto can_log_in = [&](const User& user) {
    if (!user.password.empty()) return true;
    if (issuer.empty()) return false;
    return std::any_of(identities.begin(), identities.end(),
                       [&](const auto& one) {
                         return one.second == user.id && one.first.issuer == issuer;
                       }) ||
           std::any_of(expected.begin(), expected.end(),
                       [&](const auto& one) { return one.second == user.id; });
  };
  return std::any_of(users.begin(), users.end(), [&](const auto& one) {
    const User& user = one.second;
    return !user.is_disabled && can_log_in(user) &&
           std::any_of(user.roles.begin(), user.roles.end(),
                       [](const auto& role) { return role.second == Role::Admin; });
  });
}

base::Result<std::unique_ptr<People>> People::open(const std::filesystem::path& catalogue,
                                                   Schema schema, int64_t most_audit) {
  // Its tables refer to those of the catalogue.
  if (auto tables = SqliteCatalogue::open(catalogue, schema); !tables) return tables.status();
  auto database = sqlite::Database::open(catalogue, sqlite::Database::Mode::Durable);
  if (!database) return database.status();
  if (Status current = check_people_schema(**database, schema); !current) return current;
  std::unique_ptr<People> people(new People(std::move(*database), most_audit));
  if (Status loaded = people->refresh(); !loaded) return loaded;
  return people;
}

DirectoryPtr People::directory() const {
  const std::lock_guard lock(directory_mutex_);
  return directory_;
}

// Sessions that arrive change the file, too: the number tells whether anything of people did.
Status People::refresh() {
  const std::lock_guard lock(mutex_);
  return look_for_changes();
}

void People::refresh_unless_busy() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) (void)look_for_changes();
}

Status People::look_for_changes() {
  int64_t version = 0;
  Status asked = database_->query("PRAGMA data_version", {},
                                  [&](const Row& row) { version = row.integer(0); });
  if (!asked || version == version_) return asked;
  const auto number = directory_number(*database_);
  if (!number) return number.status();
  if (*number != number_) {
    if (Status loaded = load(); !loaded) return loaded;
  }
  version_ = version;
  return {};
}

Status People::load() {
  // Before the rest: what changes meanwhile is found the next time.
  const auto number = directory_number(*database_);
  if (!number) return number.status();
  auto now = std::make_shared<Directory>();
  Status asked = database_->query("SELECT name, id FROM workspaces", {}, [&](const Row& row) {
    now->workspaces.emplace(row.text(0), row.integer(1));
  });
  if (asked) {
    asked = database_->query("SELECT id, name, password, is_disabled FROM users", {},
                             [&](const Row& row) {
                               User& user = now->users[row.integer(0)];
                               user.id = row.integer(0);
                               user.name = row.text(1);
                               user.password = row.text(2);
                               user.is_disabled = row.integer(3) != 0;
                             });
  }
  if (asked) {
    asked = database_->query("SELECT user, workspace, role FROM roles", {}, [&](const Row& row) {
      now->users[row.integer(0)].roles[row.integer(1)] = static_cast<Role>(row.integer(2));
    });
  }
  if (asked) asked = load_keys(*now);
  if (asked) asked = load_logins(*now);
  if (asked) asked = load_shares(*now);
  if (!asked) return asked;
  publish(std::move(now));
  number_ = *number;
  return {};
}

Status People::load_keys(Directory& now) {
  std::map<std::string_view, const User*> by_name;
  for (const auto& [id, user] : now.users) by_name.emplace(user.name, &user);
  return database_->query(
      "SELECT hash, id, workspace, label, scope, made_by, created_ms, expires_ms, last_used_ms, "
      "is_revoked FROM keys",
      {}, [&](const Row& row) {
        ApiKey key{.id = row.integer(1),
                   .workspace = row.integer(2),
                   .label = std::string(row.text(3)),
                   .scope = static_cast<Scope>(row.integer(4)),
                   .made_by = std::string(row.text(5)),
                   .created_ms = row.integer(6),
                   .expires_ms = row.integer(7),
                   .last_used_ms = row.integer(8),
                   .is_revoked = row.integer(9) != 0};
        // Those of `gpufl admin`, whose name no user can have, are nobody's.
        if (const auto maker = by_name.find(key.made_by); maker != by_name.end()) {
          const auto role = maker->second->role_in(key.workspace);
          key.is_orphan = maker->second->is_disabled || !role || *role < Role::Member;
        }
        now.keys.emplace(row.text(0), std::move(key));
      });
}

Status People::load_logins(Directory& now) {
  Status asked =
      database_->query("SELECT hash, user, expires_ms FROM logins", {}, [&](const Row& row) {
        now.logins.emplace(row.text(0), Login{row.integer(1), row.integer(2)});
      });
  if (asked) {
    asked =
        database_->query("SELECT issuer, subject, user FROM identities", {}, [&](const Row& row) {
          now.identities.emplace(Identity{std::string(row.text(0)), std::string(row.text(1))},
                                 row.integer(2));
        });
  }
  if (!asked) return asked;
  return database_->query(
      "SELECT claim, value, user FROM expected_identities", {}, [&](const Row& row) {
        now.expected.emplace(std::pair(static_cast<Claim>(row.integer(0)), row.text(1)),
                             row.integer(2));
      });
}

void People::publish(std::shared_ptr<Directory> now) {
  const std::lock_guard lock(directory_mutex_);
  directory_ = std::move(now);
}

// What this program changes is known at once.
Status People::change(std::string_view sql, sqlite::Values values) {
  const Status changed = database_->run(sql, values);
  return changed ? load() : changed;
}

Status People::transact(const std::function<Status()>& work) {
  Status done = sqlite::transact(*database_, work);
  return done ? load() : done;
}

base::Result<int64_t> People::add_workspace(std::string_view name) {
  if (!is_workspace_name(name)) {
    return Status(Code::InvalidArgument,
                  "a workspace's name has lower-case letters, digits and hyphens, 64 at most");
  }
  const std::lock_guard lock(mutex_);
  if (directory()->workspaces.contains(name)) {
    return Status(Code::InvalidArgument,
                  "there is a workspace '" + std::string(name) + "' already");
  }
  const Status added =
      change("INSERT INTO workspaces (name, created_ms) VALUES (?, ?)", {name, wall_ms()});
  if (!added) return added;
  return directory()->workspaces.find(name)->second;
}

Status People::set_quota(int64_t workspace, std::optional<int64_t> bytes) {
  const std::lock_guard lock(mutex_);
  return change("UPDATE workspaces SET quota_bytes = ? WHERE id = ?", {bytes, workspace});
}

base::Result<Retention> People::retention_of(int64_t workspace) {
  const std::lock_guard lock(mutex_);
  Retention retention;
  const Status asked = database_->query(
      "SELECT keep_days, keep_bytes, deleted_days, health_1s_days, health_10s_days, "
      "health_1min_days, health_10min_days, health_1h_days FROM workspaces WHERE id = ?",
      {workspace}, [&](const Row& row) {
        if (row.has(0)) retention.keep_days = row.integer(0);
        if (row.has(1)) retention.keep_bytes = static_cast<uint64_t>(row.integer(1));
        retention.deleted_days = row.integer(2);
        for (size_t level = 0; level < kHealthLevels; ++level) {
          retention.health_days[level] = row.integer(3 + level);
        }
      });
  if (!asked) return asked;
  return retention;
}

Status People::set_retention(int64_t workspace, const Retention& retention) {
  std::optional<int64_t> bytes;
  if (retention.keep_bytes) bytes = static_cast<int64_t>(*retention.keep_bytes);
  const std::lock_guard lock(mutex_);
  return change(
      "UPDATE workspaces SET keep_days = ?, keep_bytes = ?, deleted_days = ?, health_1s_days = ?, "
      "health_10s_days = ?, health_1min_days = ?, health_10min_days = ?, health_1h_days = ? WHERE "
      "id = ?",
      {retention.keep_days, bytes, retention.deleted_days, retention.health_days[0],
       retention.health_days[1], retention.health_days[2], retention.health_days[3],
       retention.health_days[4], workspace});
}

base::Result<int64_t> People::add_user(std::string_view name) {
  if (!is_user_name(name)) {
    return Status(Code::InvalidArgument,
                  "a user's name has letters, digits and signs without spaces, 64 at most");
  }
  const std::lock_guard lock(mutex_);
  if (directory()->user_named(name) != nullptr) {
    return Status(Code::InvalidArgument, "there is a user '" + std::string(name) + "' already");
  }
  const Status added =
      change("INSERT INTO users (name, created_ms) VALUES (?, ?)", {name, wall_ms()});
  if (!added) return added;
  return directory()->user_named(name)->id;
}

Status People::set_disabled(int64_t user, bool is_disabled) {
  const std::lock_guard lock(mutex_);
  return change("UPDATE users SET is_disabled = ? WHERE id = ?", {int64_t{is_disabled}, user});
}

Status People::set_role(int64_t user, int64_t workspace, std::optional<Role> role) {
  const std::lock_guard lock(mutex_);
  if (!role) {
    return change("DELETE FROM roles WHERE user = ? AND workspace = ?", {user, workspace});
  }
  return change("INSERT OR REPLACE INTO roles VALUES (?, ?, ?)",
                {user, workspace, static_cast<int64_t>(*role)});
}

base::Result<People::NewKey> People::add_key(const ApiKey& key) {
  NewKey made;
  made.text = std::string(kKeyPrefix) + base::random_hex(kKeyBytes);
  made.text += check_digits(made.text);
  const std::string hash = hash_secret(made.text);
  const std::lock_guard lock(mutex_);
  const Status added = transact([&]() -> Status {
    const int64_t now_ms = wall_ms();
    int64_t count = 0;
    Status done = database_->query(
        "SELECT count(*) FROM keys WHERE workspace = ? AND is_revoked = 0 AND (expires_ms = 0 OR "
        "expires_ms > ?)",
        {key.workspace, now_ms}, [&](const Row& row) { count = row.integer(0); });
    if (!done) return done;
    if (count >= ApiKey::kMostOfWorkspace) {
      return {Code::LimitReached, "a workspace has 1000 keys at the most; revoke some of them"};
    }
    done = database_->run(
        "DELETE FROM keys WHERE id IN (SELECT id FROM keys WHERE workspace = ?1 AND (is_revoked = "
        "1 "
        "OR (expires_ms > 0 AND expires_ms <= ?2)) ORDER BY id DESC LIMIT -1 OFFSET ?3)",
        {key.workspace, now_ms, ApiKey::kMostEnded});
    if (!done) return done;
    return database_->run(
        "INSERT INTO keys (workspace, hash, label, scope, made_by, created_ms, expires_ms) VALUES "
        "(?, ?, ?, ?, ?, ?, ?)",
        {key.workspace, hash, key.label, static_cast<int64_t>(key.scope), key.made_by, now_ms,
         key.expires_ms});
  });
  if (!added) return added;
  made.id = directory()->keys.find(hash)->second.id;
  return made;
}

Status People::revoke_key(int64_t workspace, int64_t id) {
  const std::lock_guard lock(mutex_);
  Status revoked = database_->run("UPDATE keys SET is_revoked = 1 WHERE id = ? AND workspace = ?",
                                  {id, workspace});
  if (!revoked) return revoked;
  if (database_->changed_rows() == 0) {
    return {Code::NotFound, "there is no key " + std::to_string(id)};
  }
  return load();
}

Status People::note_uses(const std::map<int64_t, int64_t>& time_ms_by_key) {
  if (time_ms_by_key.empty()) return {};
  const std::lock_guard lock(mutex_);
  return transact([&]() -> Status {
    for (const auto& [id, time_ms] : time_ms_by_key) {
      Status noted = database_->run(
          "UPDATE keys SET last_used_ms = max(last_used_ms, ?) WHERE id = ?", {time_ms, id});
      if (!noted) return noted;
    }
    return {};
  });
}

Status People::audit(int64_t workspace, std::string_view actor, std::string_view action,
                     std::string_view subject) {
  const std::lock_guard lock(mutex_);
  Status done = database_->run(
      "INSERT INTO audit (workspace, time_ms, actor, action, subject) VALUES (?, ?, ?, ?, ?)",
      {workspace, wall_ms(), actor, action, subject});
  // Looking for the oldest takes as long as there are entries.
  const int64_t every = most_audit_ / 100 + 1;
  if (!done || database_->last_insert_id() % every != 0) return done;
  return database_->run(
      "DELETE FROM audit WHERE workspace = ?1 AND id <= (SELECT id FROM audit WHERE workspace = ?1 "
      "ORDER BY id DESC LIMIT 1 OFFSET ?2)",
      {workspace, most_audit_});
}

base::Result<std::vector<AuditEntry>> People::audit_log(int64_t workspace, int64_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<AuditEntry> entries;
  const Status asked = database_->query(
      "SELECT time_ms, actor, action, subject FROM audit WHERE workspace = ?1 OR ?1 = 0 ORDER BY "
      "id "
      "DESC LIMIT ?2",
      {workspace, most}, [&](const Row& row) {
        entries.push_back({row.integer(0), std::string(row.text(1)), std::string(row.text(2)),
                           std::string(row.text(3))});
      });
  if (!asked) return asked;
  return entries;
}

}  // namespace gpufl::store
