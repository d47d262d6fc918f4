// SPDX-License-Identifier: Apache-2.0
#include "store/inspect.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/sha256.hpp"
#include "store/folder_lock.hpp"
#include "store/health.hpp"
#include "store/live_journal.hpp"
#include "store/live_texts.hpp"
#include "store/piece.hpp"
#include "store/session_store.hpp"
#include "store/sqlite_catalogue.hpp"
#include "store/stored_files.hpp"

namespace gpufl::store {

namespace fs = std::filesystem;
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

base::Result<WaitingLines> WaitingLines::read(const fs::path& folder) {
  WaitingLines waiting;
  LiveJournal journal(folder / "journal");
  const Status read = journal.replay([&](const LiveLines& lines) -> Status {
    waiting.windows_[{lines.session, lines.channel, lines.number}][lines.offset] = lines.text;
    return {};
  });
  // What a server has dropped meanwhile is in its files.
  if (!read && read.code() != base::Code::NotFound) return read;
  return waiting;
}

bool WaitingLines::complete(const StoredSession& session, const StoredWindow& window,
                            const fs::path& file) const {
  const auto found = windows_.find({session.id, window.channel, window.number});
  if (found == windows_.end()) return false;
  bool lacks_some = false;
  uint64_t end = LiveTexts::size_of(file);
  for (const auto& [offset, text] : found->second) {
    if (offset > end) return false;
    const auto has = LiveTexts::has(file, offset, text);
    lacks_some = lacks_some || !has || !*has;
    end = std::max<uint64_t>(end, offset + text.size());
  }
  return lacks_some && end >= window.bytes;  // of live lines no length is known
}

namespace {

constexpr const char* kOtherBytes = "has other bytes than those that were acknowledged";

// Lines have no hash. What a disk lost of them is a hole, or what somebody else has written there.
std::string fault_of_lines(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return "cannot be read";
  std::array<char, 65536> part{};
  char before = '\n';
  while (in.read(part.data(), part.size()), in.gcount() > 0) {
    for (const char c : std::string_view(part.data(), static_cast<size_t>(in.gcount()))) {
      const bool is_odd = c != '\n' && static_cast<unsigned char>(c) < ' ';
      if (is_odd || (before == '\n' && c != '{')) return "has something else than lines in it";
      before = c;
    }
  }
  return {};
}

class Check {
 public:
  Check(const fs::path& folder, Catalogue& catalogue, WaitingLines waiting,
        const std::function<void(const std::string&)>& say)
      : folder_(folder), catalogue_(catalogue), waiting_(std::move(waiting)), say_(say) {}

  base::Result<Inspection> run() {
    const auto sessions = all_sessions(catalogue_);
    if (!sessions) return sessions.status();
    for (const StoredSession& session : *sessions) {
      ++found_.sessions;
      const auto contents = catalogue_.contents(session.id);
      if (!contents) return contents.status();
      for (const StoredWindow& window : contents->windows) check_window(session, window);
      for (const StoredFile& file : contents->files) check_replaceable(session, file);
      for (const StoredModule& module : contents->modules) {
        check_module(session, module);
      }
    }
    const auto workspaces = catalogue_.workspaces();
    if (!workspaces) return workspaces.status();
    for (const Workspace& workspace : *workspaces) {
      if (Status checked = check_health(workspace.id); !checked) return checked;
      if (Status checked = check_shared_modules(workspace.id); !checked) return checked;
      if (Status checked = check_aside(workspace.id); !checked) return checked;
    }
    return found_;
  }

 private:
  Status check_health(int64_t workspace) {
    std::vector<HealthBlob> blobs;
    Status asked = catalogue_.health().each_blob(
        workspace, [&](const HealthBlob& one) { blobs.push_back(one); });
    if (!asked) return asked;
    for (HealthBlob& blob : blobs) {
      while (true) {
        const std::string name = health_name(workspace, blob);
        const auto parts = read_health_blob(folder_ / name);
        if (parts) {
          ++found_.blobs;
          found_.bytes += blob.bytes;
          break;
        }
        // It is followed by another one, or goes, while a server works.
        const auto now = catalogue_.health().find_blob(blob.device, blob.level_s, blob.hour);
        if (!now) return now.status();
        if (!*now) break;
        if ((*now)->version == blob.version) {
          ++found_.problems;
          say_(name + ": " + parts.status().message());
          break;
        }
        blob = **now;
      }
    }
    return {};
  }

  Status check_shared_modules(int64_t workspace) {
    const auto modules = catalogue_.shared_modules(workspace);
    if (!modules) return modules.status();
    for (const SharedModule& module : *modules) {
      const std::string name = module_name(workspace, module.sha256);
      const std::string fault = fault_in(folder_ / name, module.sha256);
      if (fault.empty()) continue;
      // It goes with the last session that has it, while a server works.
      const auto is_there = catalogue_.has_shared_module(workspace, module.sha256);
      if (!is_there) return is_there.status();
      if (*is_there) problem(name, fault);
    }
    return {};
  }

  Status check_aside(int64_t workspace) {
    const auto before = catalogue_.list_aside(workspace);
    if (!before) return before.status();
    for (const SetAside& one : *before) {
      const std::string name = aside_name(workspace, one.id);
      const std::string fault = fault_in(folder_ / name, one.sha256);
      if (fault.empty()) continue;
      // The oldest make room while a server works.
      const auto now = catalogue_.list_aside(workspace);
      if (!now) return now.status();
      const bool is_there = std::any_of(now->begin(), now->end(),
                                        [&](const SetAside& other) { return other.id == one.id; });
      if (is_there) problem(name, fault);
    }
    return {};
  }

  void problem(const std::string& name, const std::string& what) {
    ++found_.problems;
    say_(name + " " + what);
  }

  void problem(const StoredSession& session, const std::string& name, const std::string& what) {
    problem(session.name + ": " + name, what);
  }

  // Nothing: it has those bytes; else what is wrong.
  std::string fault_in(const fs::path& path, const std::string& sha256) {
    ++found_.blobs;
    std::error_code error;
    const uintmax_t bytes = fs::file_size(path, error);
    if (error) return "is missing";
    found_.bytes += bytes;
    const auto there = base::sha256_of(path);
    if (!there) return there.status().message();
    return *there == sha256 ? "" : kOtherBytes;
  }

  fs::path path_of(const StoredSession& session, const std::string& name) const {
    return find_file(folder_, session, name).value_or(fs::path());
  }

  // Nothing: it is as it should be; else what is wrong. `sha256`: empty of live lines.
  std::string fault_of(const StoredSession& session, const std::string& name,
                       const std::string& sha256) {
    const auto path = find_file(folder_, session, name);
    if (!path) return "is missing";
    std::error_code error;
    found_.bytes += fs::file_size(*path, error);
    if (sha256.empty()) return fault_of_lines(*path);
    const auto there = base::sha256_of(*path);
    if (there && *there == sha256) return {};
    // One that the catalogue tells of already is put in its place a moment later.
    if (const auto coming = find_file(folder_, session, coming_name(name))) {
      const auto sha256_of_it = base::sha256_of(*coming);
      if (sha256_of_it && *sha256_of_it == sha256) return {};
    }
    if (!there) return there.status().message();
    return kOtherBytes;
  }

  void check_module(const StoredSession& session, const StoredModule& module) {
    ++found_.blobs;
    const std::string name = blob_file_name(PieceKind::Module, {}, 0, module.hash);
    const std::string fault = fault_of(session, name, module.sha256);
    if (!fault.empty() && !is_purged(session)) problem(session, name, fault);
  }

  // Its files go after the catalogue has said so.
  bool is_purged(const StoredSession& session) {
    const auto now = catalogue_.find_session(session.workspace, session.name);
    return now && *now && (*now)->is_purged;
  }

  void check_window(const StoredSession& session, const StoredWindow& window) {
    const bool is_sealed = window.state == WindowState::Sealed;
    const std::string name = window_name(window, is_sealed);
    ++found_.blobs;
    const std::string fault = fault_of(session, name, window.sha256);
    if (fault.empty()) return;
    if (!is_sealed && waiting_.complete(session, window, path_of(session, name))) return;
    // Lines give way to their window while a server works.
    const auto now = catalogue_.find_window(session.id, window.channel, window.number);
    if (now && *now && (*now)->state != window.state) return check_window(session, **now);
    if (!is_purged(session)) problem(session, name, fault);
  }

  void check_replaceable(const StoredSession& session, const StoredFile& file) {
    const auto kind = find_piece_kind(file.kind);
    const std::string name = kind ? blob_file_name(*kind, {}, 0, {}) : file.kind;
    ++found_.blobs;
    const std::string fault = fault_of(session, name, file.sha256);
    if (fault.empty()) return;
    const auto now = catalogue_.find_file(session.id, file.kind);
    if (now && *now && (*now)->sha256 != file.sha256) return check_replaceable(session, **now);
    if (!is_purged(session)) problem(session, name, fault);
  }

  const fs::path& folder_;
  Catalogue& catalogue_;
  const WaitingLines waiting_;
  const std::function<void(const std::string&)>& say_;
  Inspection found_;
};

}  // namespace

base::Result<Inspection> check_store(const fs::path& folder,
                                     const std::function<void(const std::string&)>& say) {
  auto catalogue = SqliteCatalogue::open(catalogue_file(folder), Schema::Expect);
  if (!catalogue) return catalogue.status();
  const auto faults = (*catalogue)->database().check();
  if (!faults) return faults.status();
  auto waiting = WaitingLines::read(folder);
  if (!waiting) return waiting.status();
  auto found = Check(folder, **catalogue, std::move(*waiting), say).run();
  if (found && !faults->empty()) {
    ++found->problems;
    say("catalogue: " + *faults);
  }
  return found;
}

}  // namespace gpufl::store
