// SPDX-License-Identifier: Apache-2.0
#include "cli/admin_command.hpp"

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/admin_shares.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "store/folder_lock.hpp"
#include "store/people.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl admin";
constexpr const char* kActor = "gpufl admin";  // in the audit log
constexpr int64_t kMostDays = 36'500;
constexpr int64_t kDay_ms = int64_t{24} * 3600 * 1000;
constexpr int64_t kNsPerMs = 1'000'000;

using base::Code;
using base::Status;
using store::People;

struct Options {
  std::string data, name, workspace = "default", role = "member", scope = "ingest", label;
  std::string audited;            // workspace; empty: all
  std::string email, login_name;  // as a provider of logins has them
  std::string issuer, subject;
  std::string sharing, share;  // on or off; a link's id
  std::optional<uint64_t> days;
  uint64_t id = 0, quota = 0;
  std::optional<uint64_t> deleted_days;
  std::optional<uint64_t> keep_days, keep_bytes;  // 0: no bound
  std::optional<std::array<int64_t, store::kHealthLevels>> health_days;
  bool is_ended = false;
};

int64_t now_ms() { return base::wall_ns() / kNsPerMs; }

// What a verb does with the people of a data folder.
using Act = std::function<Status(People& people, const Options& options)>;

base::Result<int> act_on(const Options& options, const Act& act) {
  ::umask(S_IRWXG | S_IRWXO);  // as the server's files
  const std::filesystem::path catalogue = store::catalogue_file(options.data);
  std::error_code error;
  Status done = {Code::NotFound, options.data + ": no server has kept anything there"};
  if (std::filesystem::exists(catalogue, error)) {
    auto people = People::open(catalogue, store::Schema::Expect);
    done = people ? act(**people, options) : people.status();
  }
  if (done) return kExitGood;
  complain(kCommand, done.message());
  return kExitCannotTell;
}

base::Result<int64_t> workspace_named(const People& people, const std::string& name) {
  const store::DirectoryPtr directory = people.directory();
  const auto found = directory->workspaces.find(name);
  if (found != directory->workspaces.end()) return found->second;
  return Status(Code::NotFound, "there is no workspace '" + name + "'");
}

base::Result<int64_t> workspace_of(const People& people, const Options& options) {
  return workspace_named(people, options.workspace);
}

base::Result<int64_t> user_of(const People& people, const Options& options) {
  const store::DirectoryPtr directory = people.directory();
  const store::User* user = directory->user_named(options.name);
  if (user != nullptr) return user->id;
  return Status(Code::NotFound, "there is no user '" + options.name + "'");
}

Status tell_invitation(People& people, int64_t user, const std::string& name) {
  const auto secret = people.invite(user, now_ms() + kDay_ms);
  if (!secret) return secret.status();
  if (Status noted = people.audit(0, kActor, "link to set a password made", name); !noted) {
    return noted;
  }
  print(
      fmt::format("Opening the server's address with this behind it sets a password, once, within "
                  "a day:\n#invitation={}\n",
                  *secret));
  return {};
}

bool is_expected(const Options& options) {
  return !options.email.empty() || !options.login_name.empty();
}

Status expect(People& people, int64_t user, const Options& options) {
  Status done;
  if (!options.email.empty()) {
    done = people.expect(user, store::Claim::Email, options.email);
    if (done) done = people.audit(0, kActor, "expected", options.name + " " + options.email);
  }
  if (done && !options.login_name.empty()) {
    done = people.expect(user, store::Claim::Username, options.login_name);
    if (done) done = people.audit(0, kActor, "expected", options.name + " " + options.login_name);
  }
  return done;
}

Status link_user(People& people, const Options& options) {
  const auto user = user_of(people, options);
  if (!user) return user.status();
  const Status done = people.link(*user, {options.issuer, options.subject});
  return done ? people.audit(0, kActor, "identity linked",
                             options.name + " " + options.issuer + " subject " + options.subject)
              : done;
}

Status unlink_user(People& people, const Options& options) {
  const auto user = user_of(people, options);
  if (!user) return user.status();
  const Status done = people.unlink(*user);
  return done ? people.audit(0, kActor, "identities unlinked", options.name) : done;
}

Status add_user(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  const store::DirectoryPtr before = people.directory();
  const store::User* known = before->user_named(options.name);
  const bool is_new = known == nullptr;
  int64_t id = is_new ? 0 : known->id;
  if (is_new) {
    const auto added = people.add_user(options.name);
    if (!added) return added.status();
    id = *added;
  }
  Status done = people.set_role(id, *workspace, store::find_role(options.role));
  if (done) {
    done = people.audit(*workspace, kActor, "role set", options.name + " " + options.role);
  }
  if (done) done = expect(people, id, options);
  // Who comes by way of a provider needs no password.
  if (!done || !is_new || is_expected(options)) return done;
  return tell_invitation(people, id, options.name);
}

Status remove_user(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  const auto user = user_of(people, options);
  if (!user) return user.status();
  const Status done = people.set_role(*user, *workspace, std::nullopt);
  return done ? people.audit(*workspace, kActor, "role set", options.name + " none") : done;
}

Status set_disabled(People& people, const Options& options) {
  const auto user = user_of(people, options);
  if (!user) return user.status();
  const Status done = people.set_disabled(*user, !options.is_ended);
  return done ? people.audit(0, kActor, options.is_ended ? "user enabled" : "user disabled",
                             options.name)
              : done;
}

// By which accounts of a provider somebody can log in, or is expected to.
std::string identities_text(const store::Directory& directory, int64_t user) {
  std::string text;
  for (const auto& [identity, of] : directory.identities) {
    if (of != user) continue;
    text += fmt::format(" linked:{}#{}", identity.issuer, text::make_harmless(identity.subject));
  }
  for (const auto& [claim, of] : directory.expected) {
    if (of == user) text += " expected:" + text::make_harmless(claim.second);
  }
  return text;
}

Status list_users(People& people, const Options&) {
  const store::DirectoryPtr directory = people.directory();
  for (const auto& [id, user] : directory->users) {
    std::string roles;
    for (const auto& [workspace, role] : user.roles) {
      if (const std::string* name = directory->name_of(workspace)) {
        roles += fmt::format(" {}:{}", *name, store::to_string(role));
      }
    }
    print(fmt::format("{}{}{}{}{}\n", user.name, roles, user.password.empty() ? " no password" : "",
                      identities_text(*directory, id), user.is_disabled ? " disabled" : ""));
  }
  return {};
}

Status add_key(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  store::ApiKey key;
  key.workspace = *workspace;
  key.label = options.label;
  key.scope = *store::find_scope(options.scope);
  key.made_by = kActor;
  if (options.days) key.expires_ms = now_ms() + static_cast<int64_t>(*options.days) * kDay_ms;
  const auto made = people.add_key(key);
  if (!made) return made.status();
  print(made->text + "\n");
  return people.audit(*workspace, kActor, "key made",
                      std::to_string(made->id) + " " + options.label);
}

Status revoke_key(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  const Status done = people.revoke_key(*workspace, static_cast<int64_t>(options.id));
  return done ? people.audit(*workspace, kActor, "key revoked", std::to_string(options.id)) : done;
}

std::string time_text(int64_t time_ms) {
  return time_ms == 0 ? "never" : text::utc(time_ms * kNsPerMs);
}

Status list_keys(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  const store::DirectoryPtr directory = people.directory();
  std::vector<const store::ApiKey*> keys;
  for (const auto& [hash, key] : directory->keys) {
    if (key.workspace == *workspace) keys.push_back(&key);
  }
  std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  for (const store::ApiKey* key : keys) {
    print(fmt::format(
        "{} {} {} expires {}, last used {}{}\n", key->id, store::to_string(key->scope),
        text::make_harmless(key->label), time_text(key->expires_ms), time_text(key->last_used_ms),
        key->is_revoked  ? ", revoked"
        : key->is_orphan ? ", ended with the rights of " + text::make_harmless(key->made_by)
                         : ""));
  }
  return {};
}

Status add_workspace(People& people, const Options& options) {
  const auto added = people.add_workspace(options.name);
  return added ? people.audit(*added, kActor, "workspace made", options.name) : added.status();
}

Status set_quota(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  std::optional<int64_t> bytes;
  if (options.quota > 0) bytes = static_cast<int64_t>(options.quota);
  const Status done = people.set_quota(*workspace, bytes);
  return done ? people.audit(*workspace, kActor, "quota set", std::to_string(options.quota)) : done;
}

// "7,30,90,365,1825": a number for each level.
Status parse_health_days(const std::string& text, Options& options) {
  std::array<int64_t, store::kHealthLevels> days{};
  const char* at = text.data();
  const char* const end = at + text.size();
  size_t levels = 0;
  for (; levels < days.size(); ++levels) {
    if (levels > 0 && (at == end || *at++ != ',')) break;
    const auto [next, error] = std::from_chars(at, end, days[levels]);
    if (error != std::errc() || days[levels] < 0 || days[levels] > kMostDays) break;
    at = next;
  }
  if (levels < days.size() || at != end) {
    return {Code::InvalidArgument,
            fmt::format("'{}' is not five numbers of days, such as 7,30,90,365,1825", text)};
  }
  options.health_days = days;
  return {};
}

// Says what holds now, changed or not.
Status set_retention(People& people, const Options& options) {
  const auto workspace = workspace_of(people, options);
  if (!workspace) return workspace.status();
  auto retention = people.retention_of(*workspace);
  if (!retention) return retention.status();
  const store::Retention before = *retention;
  if (options.keep_days) {
    retention->keep_days.reset();
    if (*options.keep_days > 0) retention->keep_days = static_cast<int64_t>(*options.keep_days);
  }
  if (options.keep_bytes) {
    retention->keep_bytes = options.keep_bytes;
    if (*options.keep_bytes == 0) retention->keep_bytes.reset();
  }
  if (options.deleted_days) {
    retention->deleted_days = static_cast<int64_t>(*options.deleted_days);
  }
  if (options.health_days) retention->health_days = *options.health_days;
  std::string health_days;
  for (const int64_t days : retention->health_days) {
    health_days += (health_days.empty() ? "" : ", ") + std::to_string(days);
  }
  const std::string text = fmt::format(
      "sessions stay {}, {}; deleted ones can come back for {} days; readings of GPUs stay {} days "
      "(of 1 s, 10 s, 1 min, 10 min, 1 h)",
      retention->keep_days ? fmt::format("{} days", *retention->keep_days)
                           : "until somebody deletes them",
      retention->keep_bytes ? text::bytes(static_cast<double>(*retention->keep_bytes)) + " at most"
                            : "as much as fits",
      retention->deleted_days, health_days);
  if (*retention != before) {
    Status done = people.set_retention(*workspace, *retention);
    if (done) done = people.audit(*workspace, kActor, "retention set", text);
    if (!done) return done;
  }
  print(text + "\n");
  return {};
}

Status list_workspaces(People& people, const Options&) {
  const store::DirectoryPtr directory = people.directory();
  for (const auto& [name, id] : directory->workspaces) print(name + "\n");
  return {};
}

// From a terminal without showing it, else the first line of the input: never from an argument,
// which every user of the machine can see.
base::Result<std::string> read_password() {
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  termios before{};
  if (is_terminal && ::tcgetattr(STDIN_FILENO, &before) == 0) {
    print_error("New password: ");
    termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  std::string password;
  const bool is_read = static_cast<bool>(std::getline(std::cin, password));
  if (is_terminal) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    print_error("\n");
  }
  if (!is_read) return Status(Code::InvalidArgument, "there is no password on the input");
  return password;
}

Status set_password(People& people, const Options& options) {
  const auto user = user_of(people, options);
  if (!user) return user.status();
  const auto password = read_password();
  if (!password) return password.status();
  if (const Status done = people.set_password(*user, *password); !done) return done;
  const store::DirectoryPtr directory = people.directory();
  if (directory->users.at(*user).roles.empty()) {
    print_error(
        fmt::format("{0} has no role in any workspace and sees nothing yet: gpufl admin user "
                    "add {0} --role ROLE --workspace NAME\n",
                    options.name));
  }
  return people.audit(0, kActor, "password set", options.name);
}

Status invite(People& people, const Options& options) {
  const auto user = user_of(people, options);
  return user ? tell_invitation(people, *user, options.name) : user.status();
}

Status list_audit(People& people, const Options& options) {
  int64_t workspace = 0;
  if (!options.audited.empty()) {
    const auto found = workspace_named(people, options.audited);
    if (!found) return found.status();
    workspace = *found;
  }
  constexpr int64_t kMost = 1000;
  const auto log = people.audit_log(workspace, kMost);
  if (!log) return log.status();
  for (const store::AuditEntry& entry : *log) {
    print(fmt::format("{} {} {} {}\n", time_text(entry.time_ms), text::make_harmless(entry.actor),
                      entry.action, text::make_harmless(entry.subject)));
  }
  return {};
}

// A verb below `parent`, with the options that all of them have.
Command add_verb(Command parent, const char* name, const char* help,
                 const std::shared_ptr<Options>& options, const Act& act) {
  Command verb = parent.add_command(name, help);
  verb.add_option("--data", options->data, "The folder of gpufl serve --data")
      .type_name("DIR")
      .required();
  verb.set_action([options, act] { return act_on(*options, act); });
  return verb;
}

void add_workspace_option(Command verb, const std::shared_ptr<Options>& options) {
  verb.add_option("--workspace", options->workspace, "Which workspace")
      .type_name("NAME")
      .show_default();
}

void add_name(Command verb, const std::shared_ptr<Options>& options, const char* help) {
  verb.add_option("name", options->name, help).required();
}

}  // namespace

void add_admin_command(Command program) {
  auto options = std::make_shared<Options>();
  Command admin = program.add_command(
      "admin", "People, keys and workspaces of a server, in the folder of gpufl serve --data");
  admin.set_footer(
      "Works while the server runs, which takes it over within a second or two.\nExit code: 0 "
      "done; "
      "2 it could not be done.");

  Command user = admin.add_command("user", "People");
  Command add = add_verb(user, "add", "Brings somebody into a workspace, or changes their role",
                         options, add_user);
  add_name(add, options, "By which they log in");
  add_workspace_option(add, options);
  add.add_option("--role", options->role, "What they may do")
      .choices({"viewer", "member", "admin"})
      .type_name("ROLE")
      .show_default();
  add.add_option("--email", options->email,
                 "Whoever logs in at the provider with this verified address is this user")
      .type_name("ADDRESS");
  add.add_option(
         "--login-name", options->login_name,
         "Whoever logs in at the provider under this name is this user; only where the provider "
         "lets no one choose the name of another")
      .type_name("NAME");
  Command link_to = add_verb(user, "link", "Lets somebody log in by an account of the provider",
                             options, link_user);
  add_name(link_to, options, "Who");
  link_to.add_option("--issuer", options->issuer, "The provider, as --oidc-issuer has it")
      .type_name("URL")
      .required();
  link_to.add_option("--subject", options->subject, "The account, as the provider's 'sub' has it")
      .type_name("SUBJECT")
      .required();
  Command unlink_from =
      add_verb(user, "unlink", "Ends that, for all accounts of somebody, and all logins of theirs",
               options, unlink_user);
  add_name(unlink_from, options, "Who");
  Command remove =
      add_verb(user, "remove", "Takes somebody out of a workspace", options, remove_user);
  add_name(remove, options, "Who");
  add_workspace_option(remove, options);
  Command disable = add_verb(user, "disable", "Ends all logins of somebody, and refuses new ones",
                             options, set_disabled);
  add_name(disable, options, "Who");
  disable.add_flag("--undo", options->is_ended, "Lets them log in again");
  Command link = add_verb(user, "invite", "A new link to set a password", options, invite);
  add_name(link, options, "Who");
  add_verb(user, "list", "Everybody, with their roles", options, list_users);

  Command password =
      add_verb(admin, "password", "Sets a password, which is read from the terminal or the input",
               options, set_password);
  add_name(password, options, "Whose");

  Command key = admin.add_command("key", "API keys");
  Command make = add_verb(key, "add", "Makes a key and prints it, this once", options, add_key);
  make.add_option("label", options->label, "What it is for").required();
  add_workspace_option(make, options);
  make.add_option("--scope", options->scope, "What it is good for")
      .choices({"ingest", "read"})
      .type_name("SCOPE")
      .show_default();
  make.add_option("--days", options->days, "Until it expires [default: never]").range(1, 3650);
  Command revoke = add_verb(key, "revoke", "Ends a key", options, revoke_key);
  revoke.add_option("id", options->id, "Its number, as the list has it").required();
  add_workspace_option(revoke, options);
  Command keys =
      add_verb(key, "list", "Keys of a workspace, without their text", options, list_keys);
  add_workspace_option(keys, options);

  Command workspace = admin.add_command("workspace", "Workspaces, which share nothing");
  Command new_one = add_verb(workspace, "add", "Makes a workspace", options, add_workspace);
  add_name(new_one, options, "Lower-case letters, digits and hyphens");
  Command quota = add_verb(workspace, "quota", "How much a workspace may keep", options, set_quota);
  quota.add_bytes("bytes", {}, "Such as 200G; 0: as much as fits", store_in(options->quota))
      .required();
  add_workspace_option(quota, options);
  Command retention =
      add_verb(workspace, "retention",
               "How long a workspace keeps sessions; without a number: what it says now", options,
               set_retention);
  retention
      .add_option("--days", options->keep_days,
                  "Since something of a session came last; 0: any number")
      .range(0, kMostDays);
  retention.add_bytes("--size", {}, "Beyond it the oldest go, such as 200G; 0: as much as fits",
                      store_in(options->keep_bytes));
  retention
      .add_option("--deleted-days", options->deleted_days,
                  "Until a session that was deleted cannot come back")
      .range(0, kMostDays);
  retention
      .add_parsed(
          "--health-days",
          [options](const std::string& text) { return parse_health_days(text, *options); },
          "How long packed readings of GPUs stay, by level: those of 1 s, 10 s, 1 min, 10 min and "
          "1 h, such as 7,30,90,365,1825; 0: that level is not kept")
      .type_name("DAYS");
  add_workspace_option(retention, options);
  Command sharing =
      add_verb(workspace, "sharing",
               "Whether members can share sessions by links; without a word: what it says now",
               options, [](People& people, const Options& asked) {
                 const auto of = workspace_of(people, asked);
                 return of ? set_sharing(people, *of, asked.sharing, kActor) : of.status();
               });
  sharing.add_option("state", options->sharing, "off ends all links that there are")
      .choices({"on", "off"});
  add_workspace_option(sharing, options);
  add_verb(workspace, "list", "Their names", options, list_workspaces);

  Command share = admin.add_command("share", "Links to sessions");
  Command shares = add_verb(share, "list", "Links of a workspace, without their tokens", options,
                            [](People& people, const Options& asked) {
                              const auto of = workspace_of(people, asked);
                              return of ? list_shares(people, *of) : of.status();
                            });
  add_workspace_option(shares, options);
  Command end_share =
      add_verb(share, "revoke", "Ends a link", options, [](People& people, const Options& asked) {
        const auto of = workspace_of(people, asked);
        return of ? revoke_share(people, *of, asked.share, kActor) : of.status();
      });
  end_share.add_option("id", options->share, "As the list has it").required();
  add_workspace_option(end_share, options);

  Command audit = add_verb(admin, "audit", "What was done, newest first", options, list_audit);
  audit.add_option("--workspace", options->audited, "Of this workspace [default: of all]")
      .type_name("NAME");
}

}  // namespace gpufl::cli
