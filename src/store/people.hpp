// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "sqlite/database.hpp"
#include "store/share.hpp"
#include "store/sqlite_catalogue.hpp"

// Who may use a store, and how they show who they are. Secrets are kept as hashes only. Lookups go
// to a copy in memory that never changes; refresh() makes a new one where anybody, another program
// included, has changed something. Any thread.
namespace gpufl::store {

enum class Role : uint8_t { Viewer, Member, Admin };  // each may do what those before it may
std::string_view to_string(Role role);
std::optional<Role> find_role(std::string_view name);

enum class Scope : uint8_t { Ingest, Read };
std::string_view to_string(Scope scope);
std::optional<Scope> find_scope(std::string_view name);

struct ApiKey {
  static constexpr int64_t kMostOfWorkspace = 1000;  // that count
  static constexpr int64_t kMostEnded = 1000;        // of a workspace, that the list still has

  int64_t id = 0;
  int64_t workspace = 0;
  std::string label;
  Scope scope = Scope::Ingest;
  std::string made_by;
  int64_t created_ms = 0;
  int64_t expires_ms = 0;    // 0: never
  int64_t last_used_ms = 0;  // 0: never; some seconds behind
  bool is_revoked = false;
  // Who made it is disabled, or may not make keys of the workspace any more.
  bool is_orphan = false;

  bool is_valid(int64_t now_ms) const {
    return !is_revoked && !is_orphan && (expires_ms == 0 || now_ms < expires_ms);
  }
};

struct User {
  int64_t id = 0;
  std::string name;
  std::string password;  // hash; empty: has none, and cannot log in by one
  bool is_disabled = false;
  std::map<int64_t, Role> roles;  // by workspace

  std::optional<Role> role_in(int64_t workspace) const;
};

// A browser that has logged in.
struct Login {
  static constexpr int64_t kMostOfUser = 100;  // beyond, those go that would end first

  int64_t user = 0;
  int64_t expires_ms = 0;
};

// What a provider of logins says of somebody, by which an admin can expect them: an address that
// the provider has verified, or the name by which they log in there.
enum class Claim : uint8_t { Email, Username };

// A value as it is compared and kept: addresses are the same in capitals.
std::string as_compared(Claim claim, std::string_view value);

// Who somebody is, as a provider of logins has it: the pair that stays, whatever they are called.
struct Identity {
  std::string issuer, subject;
  auto operator<=>(const Identity&) const = default;
};

struct AuditEntry {
  int64_t time_ms = 0;
  std::string actor, action, subject;
};

// What was so at one moment.
struct Directory {
  std::map<std::string, int64_t, std::less<>> workspaces;  // numbers by name
  std::map<int64_t, User> users;
  std::map<std::string, ApiKey, std::less<>> keys;            // by hash
  std::map<std::string, Login, std::less<>> logins;           // likewise
  std::map<Identity, int64_t> identities;                     // users
  std::map<std::pair<Claim, std::string>, int64_t> expected;  // users who have not come yet
  std::map<std::string, Share, std::less<>> shares;           // by their ids
  std::set<int64_t> sharing;                                  // workspaces whose links count

  // Null: there is no such key or login, or it counts no more.
  const ApiKey* key_of(std::string_view secret, int64_t now_ms) const;
  const User* user_of(std::string_view secret, int64_t now_ms) const;
  const User* user_named(std::string_view name) const;
  // Likewise of links: by their ids, and of whoever shows a link's token or its cookie.
  const Share* share_named(std::string_view id, int64_t now_ms) const;
  const Share* share_by_token(std::string_view token, int64_t now_ms) const;
  const Share* share_by_cookie(std::string_view id, std::string_view cookie, int64_t now_ms) const;
  const std::string* name_of(int64_t workspace) const;
  // Nothing: an admin has linked or expects nobody like that. A value is compared as Claim says.
  std::optional<int64_t> user_with(const Identity& identity) const;
  std::optional<int64_t> expected_user(Claim claim, std::string_view value) const;
  // One who can log in, by a password or by way of `issuer`, unless that is empty.
  bool has_admin(std::string_view issuer = {}) const;
};
using DirectoryPtr = std::shared_ptr<const Directory>;

// "gpfl_", 48 hexadecimal digits, and eight more by which a slip of the pen is told from a key that
// was revoked.
bool is_key_text(std::string_view text);
// What is kept of a secret.
std::string hash_secret(std::string_view secret);
// A name of a workspace stands in addresses: lower-case letters, digits and hyphens.
bool is_workspace_name(std::string_view name);
// What people type to log in: printable, without spaces.
bool is_user_name(std::string_view name);

class People {
 public:
  static constexpr int64_t kMostAudit = 100'000;

  // Of the tables as SqliteCatalogue::open has it. `most_audit`: how many entries are kept of a
  // workspace.
  static base::Result<std::unique_ptr<People>> open(const std::filesystem::path& catalogue,
                                                    Schema schema = Schema::Update,
                                                    int64_t most_audit = kMostAudit);

  DirectoryPtr directory() const;
  // Looks whether something has changed.
  base::Status refresh();
  // The same, unless somebody else is at it: for threads that others wait for.
  void refresh_unless_busy();

  // InvalidArgument: there is one of that name, or it is none.
  base::Result<int64_t> add_workspace(std::string_view name);
  base::Status set_quota(int64_t workspace, std::optional<int64_t> bytes);
  base::Result<Retention> retention_of(int64_t workspace);
  base::Status set_retention(int64_t workspace, const Retention& retention);
  base::Result<int64_t> add_user(std::string_view name);
  base::Status set_disabled(int64_t user, bool is_disabled);
  // Every login of the user ends.
  base::Status set_password(int64_t user, std::string_view password);
  // None: no longer of the workspace.
  base::Status set_role(int64_t user, int64_t workspace, std::optional<Role> role);

  // Its text, which is not kept.
  struct NewKey {
    int64_t id = 0;
    std::string text;
  };
  // LimitReached: the workspace has too many.
  base::Result<NewKey> add_key(const ApiKey& key);
  // NotFound: the workspace has no such key.
  base::Status revoke_key(int64_t workspace, int64_t id);
  // When each was used last.
  base::Status note_uses(const std::map<int64_t, int64_t>& time_ms_by_key);

  // Whether links to sessions of the workspace can be made, and count. Off: all that there are end.
  base::Status set_sharing(int64_t workspace, bool is_on);
  // The token, which is not kept.
  struct NewShare {
    std::string id, token;
  };
  // PermissionDenied: links are off. LimitReached: there are enough. NotFound: there is no such
  // session.
  base::Result<NewShare> add_share(const Share& share);
  // NotFound: the workspace has no such link.
  base::Status revoke_share(int64_t workspace, std::string_view id);
  // When each was opened last.
  base::Status note_share_uses(const std::map<std::string, int64_t>& time_ms_by_share);

  // A cookie's secret.
  base::Result<std::string> log_in(int64_t user, int64_t expires_ms);
  base::Status log_out(std::string_view secret);
  // The secret of a link by which a user sets a password, once. Those before it count no more.
  // `makes_admin`: whoever takes it is from then on an admin of all workspaces that there are.
  base::Result<std::string> invite(int64_t user, int64_t expires_ms, bool makes_admin = false);
  // Sets the password, and nothing else if that fails. The user; nothing where the link does not
  // count.
  struct Taken {
    int64_t user = 0;
    bool is_made_admin = false;
  };
  base::Result<std::optional<Taken>> take_invitation(std::string_view secret,
                                                     std::string_view password, int64_t now_ms);

  // From now on that identity is this user. InvalidArgument: it is another's already.
  base::Status link(int64_t user, const Identity& identity);
  // Whoever comes first with that claim is this user, and linked. InvalidArgument: it is another's
  // already, or cannot be a value of that claim.
  base::Status expect(int64_t user, Claim claim, std::string_view value);
  // Links who was expected, in one step. False: nobody is expected like that any more.
  base::Result<bool> meet(const Identity& identity, Claim claim, std::string_view value);
  // All identities of the user, come or expected, and every login of theirs end.
  base::Status unlink(int64_t user);

  // Of a workspace; 0: of none of them. Of more than a bound, the oldest go.
  base::Status audit(int64_t workspace, std::string_view actor, std::string_view action,
                     std::string_view subject);
  // Newest first; 0: of everything.
  base::Result<std::vector<AuditEntry>> audit_log(int64_t workspace, int64_t most);

 private:
  People(std::unique_ptr<sqlite::Database> database, int64_t most_audit)
      : database_(std::move(database)), most_audit_(most_audit) {}

  base::Status look_for_changes();
  base::Status load();
  base::Status load_keys(Directory& now);
  base::Status load_logins(Directory& now);
  base::Status load_shares(Directory& now);
  void publish(std::shared_ptr<Directory> now);
  base::Status change(std::string_view sql, sqlite::Values values);
  // All of it or nothing, and the directory with it.
  base::Status transact(const std::function<base::Status()>& work);

  std::mutex mutex_;  // guards the database, which may keep others waiting
  const std::unique_ptr<sqlite::Database> database_;
  const int64_t most_audit_;
  int64_t version_ = -1;                // of the file, when it was looked at last
  int64_t number_ = -1;                 // of the directory, as it is in memory
  mutable std::mutex directory_mutex_;  // held for a moment only
  DirectoryPtr directory_ = std::make_shared<Directory>();
};

}  // namespace gpufl::store
