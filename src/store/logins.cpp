// SPDX-License-Identifier: Apache-2.0
// How people show who they are: passwords, links, cookies, and what a provider of logins says.
#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "store/password.hpp"
#include "store/people.hpp"
#include "store/people_schema.hpp"

namespace gpufl::store {
namespace {

using base::Code;
using base::Status;
using sqlite::Row;

constexpr size_t kSecretBytes = 32;
constexpr size_t kLongestSubject = 255;  // OpenID Connect's own bound
constexpr size_t kLongestClaim = 254;

base::Result<std::string> hash_of_new(std::string_view password) {
  if (password.size() < kShortestPassword || password.size() > kLongestPassword) {
    return Status(Code::InvalidArgument, "a password has 12 to 1024 characters");
  }
  return hash_password(password);
}

// Also ends what the old one, or an older link, was good for.
Status put_password(sqlite::Database& database, int64_t user, const std::string& hash) {
  Status done = database.run("UPDATE users SET password = ? WHERE id = ?", {hash, user});
  if (done) done = database.run("DELETE FROM logins WHERE user = ?", {user});
  if (done) done = database.run("DELETE FROM invitations WHERE user = ?", {user});
  return done;
}

bool is_printable(std::string_view text, size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

bool can_be(Claim claim, std::string_view value) {
  if (!is_printable(value, kLongestClaim)) return false;
  const size_t at = value.find('@');
  return claim == Claim::Username ||
         (at != std::string_view::npos && at > 0 && at + 1 < value.size());
}

}  // namespace

Status People::set_password(int64_t user, std::string_view password) {
  const auto hash = hash_of_new(password);
  if (!hash) return hash.status();
  const std::lock_guard lock(mutex_);
  return transact([&] { return put_password(*database_, user, *hash); });
}

base::Result<std::string> People::log_in(int64_t user, int64_t expires_ms) {
  std::string secret = base::random_hex(kSecretBytes);
  const std::string hash = hash_secret(secret);
  const int64_t now_ms = base::wall_ns() / 1'000'000;
  const std::lock_guard lock(mutex_);
  int64_t before = 0, after = 0;
  bool has_dropped = false;
  Status done = sqlite::transact(*database_, [&]() -> Status {
    auto number = directory_number(*database_);
    if (!number) return number.status();
    before = *number;
    Status step = database_->run("DELETE FROM logins WHERE expires_ms <= ?", {now_ms});
    if (step) {
      step = database_->run(
          "DELETE FROM logins WHERE hash IN (SELECT hash FROM logins WHERE user = ? ORDER BY "
          "expires_ms DESC LIMIT -1 OFFSET ?)",
          {user, Login::kMostOfUser - 1});
      has_dropped = database_->changed_rows() > 0;
    }
    if (step) {
      step = database_->run("INSERT INTO logins VALUES (?, ?, ?)", {hash, user, expires_ms});
    }
    if (!step) return step;
    number = directory_number(*database_);
    if (number) after = *number;
    return number.status();
  });
  if (!done) return done;
  if (before != number_ || has_dropped) {
    done = load();
    if (!done) return done;
    return secret;
  }
  // Nothing else has changed, so nothing else has to be read.
  auto now = std::make_shared<Directory>(*directory());
  std::erase_if(now->logins, [&](const auto& one) { return one.second.expires_ms <= now_ms; });
  now->logins.emplace(hash, Login{user, expires_ms});
  publish(std::move(now));
  number_ = after;
  return secret;
}

Status People::log_out(std::string_view secret) {
  const std::string hash = hash_secret(secret);
  const std::lock_guard lock(mutex_);
  return change("DELETE FROM logins WHERE hash = ?", {hash});
}

base::Result<std::string> People::invite(int64_t user, int64_t expires_ms, bool makes_admin) {
  std::string secret = base::random_hex(kSecretBytes);
  const std::string hash = hash_secret(secret);
  const std::lock_guard lock(mutex_);
  const Status done = transact([&] {
    Status step = database_->run("DELETE FROM invitations WHERE user = ?", {user});
    if (!step) return step;
    return database_->run(
        "INSERT INTO invitations (hash, user, expires_ms, makes_admin) VALUES (?, ?, ?, ?)",
        {hash, user, expires_ms, int64_t{makes_admin}});
  });
  if (!done) return done;
  return secret;
}

base::Result<std::optional<People::Taken>> People::take_invitation(std::string_view secret,
                                                                   std::string_view password,
                                                                   int64_t now_ms) {
  const std::string link = hash_secret(secret);
  std::optional<Taken> taken;
  const auto look = [&](std::string_view sql) {
    taken.reset();
    return database_->query(sql, {link, now_ms}, [&](const Row& row) {
      taken = Taken{row.integer(0), row.integer(1) != 0};
    });
  };
  {
    const std::lock_guard lock(mutex_);
    const Status asked =
        look("SELECT user, makes_admin FROM invitations WHERE hash = ? AND expires_ms > ?");
    if (!asked) return asked;
  }
  if (!taken) return taken;
  const auto hash = hash_of_new(password);  // takes a while
  if (!hash) return hash.status();
  const std::lock_guard lock(mutex_);
  const Status done = transact([&]() -> Status {
    Status step = look(
        "DELETE FROM invitations WHERE hash = ? AND expires_ms > ? RETURNING user, makes_admin");
    if (!step || !taken) return step;
    step = put_password(*database_, taken->user, *hash);
    if (!step || !taken->is_made_admin) return step;
    return database_->run("INSERT OR REPLACE INTO roles SELECT ?, id, ? FROM workspaces",
                          {taken->user, static_cast<int64_t>(Role::Admin)});
  });
  if (!done) return done;
  return taken;
}

Status People::link(int64_t user, const Identity& identity) {
  if (!is_printable(identity.issuer, kLongestSubject) || identity.subject.empty() ||
      identity.subject.size() > kLongestSubject) {
    return {Code::InvalidArgument,
            "an identity is the provider's address and a subject, of at most 255 characters each"};
  }
  const std::lock_guard lock(mutex_);
  const auto known = directory()->user_with(identity);
  if (known) {
    if (*known == user) return {};
    return {Code::InvalidArgument, "that identity is linked to another user; unlink it first"};
  }
  return change("INSERT INTO identities (issuer, subject, user) VALUES (?, ?, ?)",
                {identity.issuer, identity.subject, user});
}

Status People::expect(int64_t user, Claim claim, std::string_view value) {
  if (!can_be(claim, value)) {
    return {Code::InvalidArgument, claim == Claim::Email
                                       ? "an e-mail address is NAME@HOST, without spaces"
                                       : "a name at the provider has 1 to 254 characters, without "
                                         "spaces"};
  }
  const std::string compared = as_compared(claim, value);
  const std::lock_guard lock(mutex_);
  const auto known = directory()->expected_user(claim, compared);
  if (known) {
    if (*known == user) return {};
    return {Code::InvalidArgument, "another user is expected with '" + compared + "' already"};
  }
  return change("INSERT INTO expected_identities (claim, value, user) VALUES (?, ?, ?)",
                {static_cast<int64_t>(claim), compared, user});
}

base::Result<bool> People::meet(const Identity& identity, Claim claim, std::string_view value) {
  const std::string compared = as_compared(claim, value);
  std::optional<int64_t> user;
  const std::lock_guard lock(mutex_);
  const Status done = transact([&]() -> Status {
    // A second provider's account of the same name finds nobody.
    Status step = database_->query(
        "DELETE FROM expected_identities WHERE claim = ? AND value = ? RETURNING user",
        {static_cast<int64_t>(claim), compared}, [&](const Row& row) { user = row.integer(0); });
    if (!step || !user) return step;
    step = database_->run("DELETE FROM expected_identities WHERE user = ?", {*user});
    if (!step) return step;
    return database_->run("INSERT INTO identities (issuer, subject, user) VALUES (?, ?, ?)",
                          {identity.issuer, identity.subject, *user});
  });
  if (!done) return done;
  return user.has_value();
}

Status People::unlink(int64_t user) {
  const std::lock_guard lock(mutex_);
  return transact([&] {
    Status step = database_->run("DELETE FROM identities WHERE user = ?", {user});
    if (step) step = database_->run("DELETE FROM expected_identities WHERE user = ?", {user});
    if (step) step = database_->run("DELETE FROM logins WHERE user = ?", {user});
    return step;
  });
}

}  // namespace gpufl::store
