// SPDX-License-Identifier: Apache-2.0
#include "store/inspect.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "store/folder_blobs.hpp"
#include "store/folder_lock.hpp"
#include "store/piece.hpp"
#include "store/session_store.hpp"
#include "store/sqlite_catalogue.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

// Where a file of a session is: a session that is deleted or restored meanwhile moves.
std::optional<fs::path> find_file(const fs::path& folder, const StoredSession& session,
                                  const std::string& name) {
  std::error_code error;
  for (const std::string& prefix : {session_prefix(session.workspace, session.id),
                                    deleted_prefix(session.workspace, session.id)}) {
    fs::path path = folder / prefix / name;
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

base::Result<std::vector<StoredSession>> all_sessions(Catalogue& catalogue) {
  std::vector<StoredSession> sessions;
  const Status asked =
      catalogue.each_session([&](const StoredSession& one) { sessions.push_back(one); });
  if (!asked) return asked;
  return sessions;
}

std::string window_name(const StoredWindow& window, bool is_sealed) {
  return blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live, window.channel,
                        window.number, {});
}

class Check {
 public:
  Check(const fs::path& folder, Catalogue& catalogue,
        const std::function<void(const std::string&)>& say)
      : folder_(folder), catalogue_(catalogue), say_(say) {}

  base::Result<Inspection> run() {
    const auto sessions = all_sessions(catalogue_);
    if (!sessions) return sessions.status();
    for (const StoredSession& session : *sessions) {
      ++found_.sessions;
      const auto contents = catalogue_.contents(session.id);
      if (!contents) return contents.status();
      for (const StoredWindow& window : contents->windows) check_window(session, window);
      for (const StoredFile& file : contents->files) check_replaceable(session, file);
      for (const std::string& hash : contents->modules) {
        expect(session, blob_file_name(PieceKind::Module, {}, 0, hash), {});
      }
    }
    return found_;
  }

 private:
  void problem(const StoredSession& session, const std::string& name, const std::string& what) {
    ++found_.problems;
    say_(session.name + ": " + name + " " + what);
  }

  // Nothing: it is as it should be; else what is wrong. `sha256`: empty where any will do.
  std::string fault_of(const StoredSession& session, const std::string& name,
                       const std::string& sha256) {
    const auto path = find_file(folder_, session, name);
    if (!path) return "is missing";
    std::error_code error;
    found_.bytes += fs::file_size(*path, error);
    if (sha256.empty()) return {};
    const auto there = base::sha256_of(*path);
    if (!there) return there.status().message();
    return *there == sha256 ? "" : "has other bytes than those that were acknowledged";
  }

  void expect(const StoredSession& session, const std::string& name, const std::string& sha256) {
    ++found_.blobs;
    if (const std::string fault = fault_of(session, name, sha256); !fault.empty()) {
      problem(session, name, fault);
    }
  }

  void check_window(const StoredSession& session, const StoredWindow& window) {
    const bool is_sealed = window.state == WindowState::Sealed;
    const std::string name = window_name(window, is_sealed);
    ++found_.blobs;
    const std::string fault = fault_of(session, name, window.sha256);
    if (fault.empty()) return;
    // Lines give way to their window while a server works.
    const auto now = catalogue_.find_window(session.id, window.channel, window.number);
    if (now && *now && (*now)->state != window.state) return check_window(session, **now);
    problem(session, name, fault);
  }

  void check_replaceable(const StoredSession& session, const StoredFile& file) {
    const auto kind = find_piece_kind(file.kind);
    const std::string name = kind ? blob_file_name(*kind, {}, 0, {}) : file.kind;
    ++found_.blobs;
    const std::string fault = fault_of(session, name, file.sha256);
    if (fault.empty()) return;
    const auto now = catalogue_.find_file(session.id, file.kind);
    if (now && *now && (*now)->sha256 != file.sha256) return check_replaceable(session, **now);
    problem(session, name, fault);
  }

  const fs::path& folder_;
  Catalogue& catalogue_;
  const std::function<void(const std::string&)>& say_;
  Inspection found_;
};

class Copy {
 public:
  Copy(const fs::path& folder, const fs::path& target) : folder_(folder), target_(target) {}

  base::Result<Inspection> run() {
    Status done = copy_catalogue();
    if (!done) return done;
    auto catalogue = SqliteCatalogue::open(catalogue_file(target_));
    if (!catalogue) return catalogue.status();
    const auto sessions = all_sessions(**catalogue);
    if (!sessions) return sessions.status();
    for (const StoredSession& session : *sessions) {
      if (done = copy_session(**catalogue, session); !done) return done;
    }
    const auto workspaces = (*catalogue)->workspaces();
    if (!workspaces) return workspaces.status();
    for (const Workspace& workspace : *workspaces) {
      if (done = copy_rest(**catalogue, workspace.id); !done) return done;
    }
    return made_;
  }

 private:
  Status copy_catalogue() {
    std::error_code error;
    if (fs::exists(target_, error)) {
      return {Code::InvalidArgument, target_.string() + " exists already"};
    }
    if (!fs::create_directory(target_, error)) {
      return Status::from_errno(error.value(), "cannot make " + target_.string());
    }
    fs::permissions(target_, fs::perms::owner_all, error);
    // Everything that is in it when this returns was put in place before.
    auto catalogue = SqliteCatalogue::open(catalogue_file(folder_));
    if (!catalogue) return catalogue.status();
    return (*catalogue)->database().copy_to(catalogue_file(target_));
  }

  Status copy_file(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::copy_file(from, to, error);
    if (error) return Status::from_errno(error.value(), "cannot copy " + from.string());
    ++made_.blobs;
    made_.bytes += fs::file_size(to, error);
    const int fd = ::open(to.c_str(), O_RDONLY | O_CLOEXEC);
    const int failed = fd < 0 || ::fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) ::close(fd);
    if (failed != 0) return Status::from_errno(failed, "cannot sync " + to.string());
    return sync_folder(to.parent_path());
  }

  // NotFound: there is none.
  Status copy_of(const StoredSession& session, const std::string& name) {
    const auto path = find_file(folder_, session, name);
    if (!path) return {Code::NotFound, session.name + ": " + name + " is missing"};
    const std::string prefix = session.is_deleted ? deleted_prefix(session.workspace, session.id)
                                                  : session_prefix(session.workspace, session.id);
    return copy_file(*path, target_ / prefix / name);
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
      if (!copied) return copied;
    }
    for (const StoredFile& file : contents->files) {
      if (Status copied = copy_replaceable(catalogue, session, file); !copied) return copied;
    }
    for (const std::string& hash : contents->modules) {
      const Status copied = copy_of(session, blob_file_name(PieceKind::Module, {}, 0, hash));
      if (!copied) return copied;
    }
    return {};
  }

  // One that has been replaced since is kept under the version of before: its sender sends it
  // again.
  Status copy_replaceable(Catalogue& catalogue, const StoredSession& session, StoredFile file) {
    const auto kind = find_piece_kind(file.kind);
    if (!kind) return {};
    const std::string name = blob_file_name(*kind, {}, 0, {});
    if (Status copied = copy_of(session, name); !copied) return copied;
    const auto path = find_file(target_, session, name);
    const auto sha256 = base::sha256_of(path.value_or(target_ / name));
    if (!sha256) return sha256.status();
    if (*sha256 == file.sha256) return {};
    std::error_code error;
    file.sha256 = *sha256;
    file.bytes = fs::file_size(*path, error);
    return catalogue.transact([&] { return catalogue.put_file(session.id, file); });
  }

  Status tell_sealed(Catalogue& catalogue, const StoredSession& session, StoredWindow& window) {
    const std::string name = window_name(window, true);
    const auto path = find_file(target_, session, name);
    const auto sha256 = base::sha256_of(path.value_or(target_ / name));
    if (!sha256) return sha256.status();
    std::error_code error;
    window.state = WindowState::Sealed;
    window.sha256 = *sha256;
    window.bytes = fs::file_size(*path, error);
    return catalogue.transact([&] { return catalogue.put_window(session.id, window); });
  }

  // What was set aside, and what users wrote down.
  Status copy_rest(Catalogue& catalogue, int64_t workspace) {
    const auto aside = catalogue.list_aside(workspace);
    if (!aside) return aside.status();
    std::error_code error;
    for (const SetAside& one : *aside) {
      const std::string name = aside_name(workspace, one.id);
      if (!fs::exists(folder_ / name, error)) continue;  // it has made room since
      if (Status copied = copy_file(folder_ / name, target_ / name); !copied) return copied;
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

  const fs::path& folder_;
  const fs::path& target_;
  Inspection made_;
};

}  // namespace

base::Result<Inspection> check_store(const fs::path& folder,
                                     const std::function<void(const std::string&)>& say) {
  auto catalogue = SqliteCatalogue::open(catalogue_file(folder));
  if (!catalogue) return catalogue.status();
  const auto faults = (*catalogue)->database().check();
  if (!faults) return faults.status();
  auto found = Check(folder, **catalogue, say).run();
  if (found && !faults->empty()) {
    ++found->problems;
    say("catalogue: " + *faults);
  }
  return found;
}

base::Result<Inspection> copy_store(const fs::path& folder, const fs::path& target) {
  return Copy(folder, target).run();
}

}  // namespace gpufl::store
