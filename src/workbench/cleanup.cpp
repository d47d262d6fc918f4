// SPDX-License-Identifier: Apache-2.0
#include "workbench/cleanup.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "disassembly/disassembly_file.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"
#include "format/session_reader.hpp"
#include "symbols/symbol_file.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDeadStartBytes = uint64_t{64} << 10;  // no more than a session's first lines

struct EndedSession {
  fs::path dir;
  std::vector<fs::path> files;    // its own only, modules first: a session that is cut off while
                                  // it is deleted still looks like one
  std::vector<fs::path> folders;  // inside of it, of its own
  uint64_t bytes = 0;
  bool is_dead = false;  // it died before its first line
};

constexpr const char* kLock = "lock";
constexpr std::string_view kUnfinished = ".tmp";  // of a sealing that did not end

bool is_session_file(std::string_view name) {
  if (name == format::kManifestName || name == kLock) return true;
  for (const std::string_view derived : {std::string_view(symbols::kSymbolFileName),
                                         std::string_view(disassembly::kDisassemblyFileName)}) {
    if (name == derived || (name.starts_with(derived) && name.ends_with(kUnfinished))) return true;
  }
  if (name.ends_with(".log.zst.tmp")) name.remove_suffix(kUnfinished.size());
  const auto parsed = format::parse_file_name(name);
  return parsed && parsed->channel;
}

bool is_module_file(std::string_view name) {
  if (name.ends_with(kUnfinished)) name.remove_suffix(kUnfinished.size());
  return !format::module_hash_of(name).empty();
}

template <typename IsOwn>
void add_files(const fs::path& dir, IsOwn is_own, EndedSession& session) {
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (it->symlink_status(unreadable).type() != fs::file_type::regular) continue;
    if (!is_own(it->path().filename().string())) continue;
    session.files.push_back(it->path());
    const uint64_t size = it->file_size(unreadable);
    if (!unreadable) session.bytes += size;
  }
}

EndedSession list_files(const fs::path& dir) {
  EndedSession session{dir, {}, {}, 0, false};
  const fs::path modules = dir / format::kModuleFolder;
  std::error_code error;
  if (fs::symlink_status(modules, error).type() == fs::file_type::directory) {
    session.folders.push_back(modules);
    add_files(modules, is_module_file, session);
  }
  add_files(dir, is_session_file, session);
  return session;
}

// Not through a link somewhere between the two. The folder may itself be the session.
bool lies_within(const fs::path& folder, const fs::path& dir) {
  std::error_code error;
  const fs::path real = fs::canonical(dir, error);
  if (error) return false;
  const fs::path base = fs::canonical(folder, error);
  const fs::path relative = dir.lexically_relative(folder);
  return real == (relative == "." ? base : (base / relative).lexically_normal());
}

// Nothing when it is not ours to delete. `name`: of the sessions that are; none: of any.
std::optional<EndedSession> ended_session(const fs::path& folder, const FoundSession& found,
                                          std::optional<std::string_view> name) {
  if (!lies_within(folder, found.dir) || format::is_locked(found.dir)) return std::nullopt;
  EndedSession session = list_files(found.dir);
  // Only a session that did not end leaves a lock: a lone `device.log` is somebody else's file.
  session.is_dead = found.status.code() == base::Code::Corrupt &&
                    session.bytes <= kDeadStartBytes &&
                    std::find(session.files.begin(), session.files.end(), found.dir / kLock) !=
                        session.files.end();
  const bool is_of_that_name = found.is_readable() && (!name || found.header.app_name == *name);
  if (!is_of_that_name && !session.is_dead) return std::nullopt;
  return session;
}

// False when not all of its files could be deleted.
bool delete_session(const fs::path& folder, const EndedSession& session, Cleanup& done) {
  std::error_code error;
  for (const fs::path& file : session.files) {
    if (!fs::remove(file, error)) break;
  }
  if (error) return false;
  done.bytes += session.bytes;
  for (const fs::path& folder : session.folders) fs::remove(folder, error);
  // Fails when something is left in it. "." cannot be removed under that name.
  fs::remove(fs::canonical(session.dir, error), error);
  (error ? done.emptied : done.deleted).push_back(session.dir);
  const fs::path run = session.dir.parent_path();
  const bool is_inside = session.dir != folder && !fs::equivalent(run, folder, error);
  if (is_inside) fs::remove(run, error);  // unless something is left in it
  return true;
}

bool has_other_files(const EndedSession& session) {
  std::error_code error;
  const auto all = std::distance(fs::recursive_directory_iterator(session.dir, error), {});
  return !error && static_cast<size_t>(all) > session.files.size() + session.folders.size();
}

std::vector<FoundSession> chosen_sessions(const fs::path& folder, const CleanupChoice& choice) {
  std::vector<FoundSession> sessions = find_sessions(folder);
  // When one that cannot be read began is not known: it counts for none of the newest.
  for (uint64_t kept = 0; kept < choice.keep && !sessions.empty(); ++kept) {
    if (!sessions.back().is_readable()) break;
    take_newest(sessions);
  }
  std::erase_if(sessions, [&](const FoundSession& session) {
    const bool is_too_new = choice.began_before_ns && session.is_readable() &&
                            session.header.start_wall_ns >= *choice.began_before_ns;
    const bool is_other = choice.only && std::find(choice.only->begin(), choice.only->end(),
                                                   session.dir) == choice.only->end();
    return is_too_new || is_other;
  });
  return sessions;
}

}  // namespace

Cleanup delete_sessions(const fs::path& folder, bool dry_run, const CleanupChoice& choice) {
  Cleanup done;
  for (const FoundSession& found : chosen_sessions(folder, choice)) {
    const auto session = ended_session(folder, found, std::nullopt);
    if (session && dry_run) {
      (has_other_files(*session) ? done.emptied : done.deleted).push_back(found.dir);
      done.bytes += session->bytes;
    } else if (!session || !delete_session(folder, *session, done)) {
      done.kept.push_back(found.dir);
    }
  }
  return done;
}

Cleanup delete_old_sessions(const fs::path& folder, std::string_view name, uint64_t keep_bytes) {
  Cleanup done;
  std::vector<EndedSession> sessions;
  uint64_t total = 0;
  for (const FoundSession& found : find_sessions(folder)) {
    auto session = ended_session(folder, found, name);
    if (!session) continue;
    total += session->bytes;
    sessions.push_back(std::move(*session));
  }
  for (const EndedSession& session : sessions) {
    if (total <= keep_bytes && !session.is_dead) continue;
    if (delete_session(folder, session, done)) total -= session.bytes;
  }
  return done;
}

}  // namespace gpufl::workbench
