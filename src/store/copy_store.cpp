// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "base/sha256.hpp"
#include "store/folder_blobs.hpp"
#include "store/folder_lock.hpp"
#include "store/health.hpp"
#include "store/inspect.hpp"
#include "store/piece.hpp"
#include "store/session_store.hpp"
#include "store/sqlite_catalogue.hpp"
#include "store/stored_files.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

constexpr int kTries = 5;

class Copy {
 public:
  Copy(const fs::path& folder, const fs::path& target) : folder_(folder), target_(target) {}

  base::Result<Inspection> run() {
    Status done = copy_catalogue();
    if (!done) return done;
    auto catalogue = SqliteCatalogue::open(catalogue_file(target_), Schema::Expect);
    if (!catalogue) return catalogue.status();
    // Whoever sends to the copy has to ask what it has.
    if (done = (*catalogue)->renew_generation(); !done) return done;
    // Before the files of its lines: by the time that it is gone, they have them.
    if (done = copy_journal(); !done) return done;
    auto waiting = WaitingLines::read(target_);
    if (!waiting) return waiting.status();
    waiting_ = std::move(*waiting);
    const auto sessions = all_sessions(**catalogue);
    if (!sessions) return sessions.status();
    for (const StoredSession& session : *sessions) {
      done = copy_session(**catalogue, session);
      if (!done && is_purged(session)) {
        done = (*catalogue)->transact([&] { return (*catalogue)->purge(session.id); });
        std::error_code ignored;
        for (const std::string& prefix : {session_prefix(session.workspace, session.id),
                                          deleted_prefix(session.workspace, session.id)}) {
          fs::remove_all(target_ / prefix, ignored);
        }
      }
      if (!done) return done;
    }
    const auto workspaces = (*catalogue)->workspaces();
    if (!workspaces) return workspaces.status();
    std::error_code error;
    for (const Workspace& workspace : *workspaces) {
      if (done = copy_rest(**catalogue, workspace.id); !done) return done;
      if (done = copy_health(**catalogue, workspace.id); !done) return done;
    }
    // Folders were made on the way down, so each is listed in the one above it.
    for (fs::recursive_directory_iterator entry(target_, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!entry->is_directory(error)) continue;
      if (done = sync_folder(entry->path()); !done) return done;
    }
    if (error) return Status::from_errno(error.value(), "cannot list " + target_.string());
    if (done = sync_folder(target_); !done) return done;
    return made_;
  }

 private:
  Status copy_catalogue() {
    std::error_code error;
    if (!fs::create_directory(target_, error)) {
      return Status::from_errno(error.value(), "cannot make " + target_.string());
    }
    fs::permissions(target_, fs::perms::owner_all, error);
    // Everything that is in it when this returns was put in place before.
    auto catalogue = SqliteCatalogue::open(catalogue_file(folder_), Schema::Expect);
    if (!catalogue) return catalogue.status();
    source_ = std::move(*catalogue);
    return source_->database().copy_to(catalogue_file(target_));
  }

  // The copy's own start puts its lines in place.
  Status copy_journal() {
    std::error_code error;
    for (fs::directory_iterator entry(folder_ / "journal", error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const Status copied =
          copy_file(entry->path(), target_ / "journal" / entry->path().filename());
      if (!copied && copied.code() != Code::NotFound) return copied;
    }
    return {};
  }

  Status copy_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (error) return Status::from_errno(error.value(), "cannot copy " + from.string());
    ++made_.blobs;
    made_.bytes += fs::file_size(to, error);
    const int fd = ::open(to.c_str(), O_RDONLY | O_CLOEXEC);
    const int failed = fd < 0 || ::fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) ::close(fd);
    return failed == 0 ? Status() : Status::from_errno(failed, "cannot sync " + to.string());
  }

  fs::path target_of(const StoredSession& session, const std::string& name) const {
    const std::string prefix = session.is_deleted ? deleted_prefix(session.workspace, session.id)
                                                  : session_prefix(session.workspace, session.id);
    return target_ / prefix / name;
  }

  bool is_purged(const StoredSession& session) const {
    const auto now = source_->find_session(session.workspace, session.name);
    return now && *now && (*now)->is_purged;
  }

  // NotFound: there is none. A session that is deleted or restored meanwhile moves under one's
  // eyes.
  Status copy_of(const StoredSession& session, const std::string& name) {
    Status copied = {Code::NotFound, session.name + ": " + name + " is missing"};
    for (int i = 0; i < kTries && copied.code() == Code::NotFound; ++i) {
      const auto path = find_file(folder_, session, name);
      if (path) copied = copy_file(*path, target_of(session, name));
    }
    return copied;
  }

  Status copy_session(Catalogue& catalogue, const StoredSession& session) {
    ++made_.sessions;
    const auto contents = catalogue.contents(session.id);
    if (!contents) return contents.status();
    for (StoredWindow window : contents->windows) {
      const bool is_sealed = window.state == WindowState::Sealed;
      Status copied = copy_of(session, window_name(window, is_sealed));
      if (copied.code() == Code::NotFound && !is_sealed) {
        // It has given way to the window since the catalogue was copied.
        copied = copy_of(session, window_name(window, true));
        if (copied) copied = tell_sealed(catalogue, session, window);
      }
      const bool is_in_journal =
          copied.code() == Code::NotFound && !is_sealed && waiting_.complete(session, window, {});
      if (!copied && !is_in_journal) return copied;
    }
    for (const StoredFile& file : contents->files) {
      if (Status copied = copy_replaceable(catalogue, session, file); !copied) return copied;
    }
    for (const StoredModule& module : contents->modules) {
      if (Status copied = copy_module(session, module); !copied) return copied;
    }
    return {};
  }

  // Once, as it is kept; the other sessions have links to it, as far as the file system lets them.
  Status copy_module(const StoredSession& session, const StoredModule& module) {
    const std::string name = blob_file_name(PieceKind::Module, {}, 0, module.hash);
    const fs::path shared = target_ / module_name(session.workspace, module.sha256);
    std::error_code error;
    if (!module.sha256.empty() && fs::exists(shared, error)) {
      const fs::path own = target_of(session, name);
      fs::create_directories(own.parent_path(), error);
      fs::create_hard_link(shared, own, error);
      if (!error) return {};
    }
    Status copied = copy_of(session, name);
    if (!copied || module.sha256.empty()) return copied;
    fs::create_directories(shared.parent_path(), error);
    fs::create_hard_link(target_of(session, name), shared, error);
    const bool is_there = !error || error == std::errc::file_exists;
    return is_there ? Status() : Status::from_errno(error.value(), "cannot link " + name);
  }

  // One that has been replaced since is kept under the version of before: its sender sends it
  // again.
  Status copy_replaceable(Catalogue& catalogue, const StoredSession& session, StoredFile file) {
    const auto kind = find_piece_kind(file.kind);
    if (!kind) return {};
    const std::string name = blob_file_name(*kind, {}, 0, {});
    const fs::path target = target_of(session, name);
    std::error_code error;
    // Before what has the name: by the time that this is missing, that is what was told of.
    if (const auto coming = find_file(folder_, session, coming_name(name))) {
      if (copy_file(*coming, target)) {
        const auto sha256 = base::sha256_of(target);
        if (sha256 && *sha256 == file.sha256) return {};
        --made_.blobs;  // it is copied once more
      }
    }
    if (Status copied = copy_of(session, name); !copied) return copied;
    const auto sha256 = base::sha256_of(target);
    if (!sha256) return sha256.status();
    if (*sha256 == file.sha256) return {};
    file.sha256 = *sha256;
    file.bytes = fs::file_size(target, error);
    return catalogue.transact([&] { return catalogue.put_file(session.id, file); });
  }

  Status tell_sealed(Catalogue& catalogue, const StoredSession& session, StoredWindow& window) {
    const std::string name = window_name(window, true);
    const fs::path path = target_of(session, name);
    const auto sha256 = base::sha256_of(path);
    if (!sha256) return sha256.status();
    std::error_code error;
    window.state = WindowState::Sealed;
    window.sha256 = *sha256;
    window.bytes = fs::file_size(path, error);
    return catalogue.transact([&] { return catalogue.put_window(session.id, window); });
  }

  // What was set aside, and what users wrote down.
  Status copy_rest(Catalogue& catalogue, int64_t workspace) {
    const auto aside = catalogue.list_aside(workspace);
    if (!aside) return aside.status();
    std::error_code error;
    for (const SetAside& one : *aside) {
      const std::string name = aside_name(workspace, one.id);
      const Status copied = copy_file(folder_ / name, target_ / name);
      if (copied.code() == Code::NotFound) continue;  // it has made room since
      if (!copied) return copied;
    }
    const std::string notes = "workspaces/" + std::to_string(workspace) + "/notes";
    for (fs::recursive_directory_iterator entry(folder_ / notes, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!entry->is_regular_file(error)) continue;
      const fs::path name = entry->path().lexically_relative(folder_);
      if (Status copied = copy_file(entry->path(), target_ / name); !copied) return copied;
    }
    return {};
  }

  // A blob that was followed by another one since is kept as that: what it has more is put in its
  // place again, if its window comes again.
  Status copy_health(Catalogue& catalogue, int64_t workspace) {
    std::vector<HealthBlob> blobs;
    Status asked = catalogue.health().each_blob(
        workspace, [&](const HealthBlob& one) { blobs.push_back(one); });
    if (!asked) return asked;
    for (HealthBlob blob : blobs) {
      Status copied = {Code::NotFound, {}};
      bool has_changed = false;
      for (int i = 0; i < kTries && copied.code() == Code::NotFound; ++i) {
        const std::string name = health_name(workspace, blob);
        copied = copy_file(folder_ / name, target_ / name);
        if (copied.code() != Code::NotFound) continue;
        const auto now = source_->health().find_blob(blob.device, blob.level_s, blob.hour);
        if (!now) return now.status();
        if (!*now) copied = catalogue.health().drop_blob(blob);
        if (*now) has_changed = (*now)->version != blob.version;
        if (*now) blob = **now;
      }
      if (copied && has_changed) copied = catalogue.health().put_blob(blob);
      if (!copied) return copied;
    }
    return {};
  }

  const fs::path& folder_;
  const fs::path& target_;
  std::unique_ptr<SqliteCatalogue> source_;
  WaitingLines waiting_;
  Inspection made_;
};

}  // namespace

// Under a name of its own until all of it is there: what was cut short is not taken for a copy.
base::Result<Inspection> copy_store(const fs::path& folder, const fs::path& target) {
  std::error_code error;
  fs::path whole = fs::absolute(target, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  fs::path partial = whole;
  partial += ".partial";
  for (const fs::path& one : {whole, partial}) {
    if (!fs::exists(one, error)) continue;
    return Status(Code::InvalidArgument, one.string() + " exists already");
  }
  auto made = Copy(folder, partial).run();
  if (made) fs::rename(partial, whole, error);
  if (made && error) {
    made = Status::from_errno(error.value(), "cannot name the copy " + whole.string());
  }
  if (!made) {
    fs::remove_all(partial, error);
    return made;
  }
  if (Status synced = sync_folder(whole.parent_path()); !synced) return synced;
  return made;
}

base::Result<Inspection> restore_store(const fs::path& backup, const fs::path& folder,
                                       const std::function<void(const std::string&)>& say) {
  const auto found = check_store(backup, say);
  if (!found) return found.status();
  if (found->problems > 0) {
    return Status(Code::Corrupt, "the backup is damaged, and was not restored");
  }
  return copy_store(backup, folder);
}

}  // namespace gpufl::store
