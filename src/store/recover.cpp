// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "store/session_store.hpp"

// What a store does before it takes anything: lines that were acknowledged get to their files, and
// what nobody was told of goes.
namespace gpufl::store {
namespace {

using base::Status;

std::string workspace_prefix(int64_t workspace, std::string_view folder) {
  return "workspaces/" + std::to_string(workspace) + "/" + std::string(folder) + "/";
}

// The part of a name behind `prefix` that ends before the next slash.
std::string next_part(std::string_view name, size_t prefix) {
  const std::string_view rest = name.substr(prefix);
  return std::string(rest.substr(0, rest.find('/')));
}

}  // namespace

Status SessionStore::recover() {
  Status done =
      catalogue_->each_session([&](const StoredSession& one) { known_.emplace(one.id, one); });
  if (done) done = replay_journal();
  if (!done) return done;
  const auto workspaces = catalogue_->workspaces();
  if (!workspaces) return workspaces.status();
  for (const Workspace& workspace : *workspaces) {
    if (Status swept = sweep(workspace.id); !swept) return swept;
  }
  for (const auto& [id, session] : known_) {
    used_[session.workspace] += static_cast<int64_t>(session.bytes);
  }
  known_.clear();
  return look_for_room();
}

Status SessionStore::replay_journal() {
  Status written = journal_.replay([&](const LiveLines& lines) -> Status {
    const auto session = known_.find(lines.session);
    if (session == known_.end()) return {};
    const auto row = catalogue_->find_window(lines.session, lines.channel, lines.number);
    if (!row) return row.status();
    // Of others nobody was told, or they have been replaced.
    if (!*row || (*row)->state != WindowState::Live) return {};
    const StoredSession& of = session->second;
    const std::string prefix =
        of.is_deleted ? deleted_prefix(of.workspace, of.id) : session_prefix(of.workspace, of.id);
    return texts_.write(
        blobs_->path_of(prefix + blob_file_name(PieceKind::Live, lines.channel, lines.number, {})),
        lines.offset, lines.text);
  });
  if (!written) return written;
  if (Status synced = texts_.sync(); !synced) return synced;
  return journal_.begin();
}

Status SessionStore::sweep(int64_t workspace) {
  const std::string kept_prefix = workspace_prefix(workspace, "sessions");
  const std::string deleted = workspace_prefix(workspace, "deleted");
  std::map<std::string, Files> folders;  // by prefix
  for (const std::string& prefix : {kept_prefix, deleted}) {
    const Status listed = blobs_->list(prefix, [&](const std::string& name, uint64_t bytes) {
      folders[prefix + next_part(name, prefix.size()) + "/"].emplace(name, bytes);
    });
    if (!listed) return listed;
  }
  for (const auto& [id, session] : known_) {
    if (session.workspace != workspace) continue;
    std::string here = session_prefix(workspace, id), there = deleted_prefix(workspace, id);
    if (session.is_deleted) std::swap(here, there);
    // Killed between moving it and saying so.
    if (!folders.contains(here) && folders.contains(there)) {
      if (Status moved = blobs_->move_all(there, here); !moved) return moved;
      folders.erase(there);
      const Status listed = blobs_->list(here, [&](const std::string& name, uint64_t bytes) {
        folders[here].emplace(name, bytes);
      });
      if (!listed) return listed;
    }
    if (Status swept = sweep_session(session, here, folders[here]); !swept) return swept;
    folders.erase(here);
  }
  for (const auto& [prefix, files] : folders) {
    if (Status removed = blobs_->remove_all(prefix); !removed) return removed;
  }
  const auto aside = catalogue_->list_aside(workspace);
  if (!aside) return aside.status();
  std::vector<std::string> unknown;
  const std::string prefix = workspace_prefix(workspace, "quarantine");
  Status listed = blobs_->list(prefix, [&](const std::string& name, uint64_t) {
    for (const SetAside& one : *aside) {
      if (name == aside_name(workspace, one.id)) return;
    }
    unknown.push_back(name);
  });
  if (!listed) return listed;
  for (const std::string& name : unknown) {
    if (Status removed = blobs_->remove(name); !removed) return removed;
  }
  return blobs_->sync();
}

Status SessionStore::sweep_session(const StoredSession& session, const std::string& prefix,
                                   const Files& files) {
  auto contents = catalogue_->contents(session.id);
  if (!contents) return contents.status();
  Files left = files;
  for (const StoredWindow& window : contents->windows) {
    const bool is_sealed = window.state == WindowState::Sealed;
    const std::string name =
        prefix + blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live, window.channel,
                                window.number, {});
    if (window.state == WindowState::Live && left.contains(name)) {
      used_[session.workspace] += static_cast<int64_t>(left[name]);
    }
    left.erase(name);
  }
  for (const std::string& hash : contents->modules) {
    left.erase(prefix + blob_file_name(PieceKind::Module, {}, 0, hash));
  }
  for (const StoredFile& file : contents->files) {
    const auto kind = find_piece_kind(file.kind);
    if (!kind) continue;
    const auto found = left.find(prefix + blob_file_name(*kind, {}, 0, {}));
    if (found == left.end()) continue;
    // Killed between putting a newer one in its place and saying so. Its sender sends it again.
    if (found->second != file.bytes) {
      const auto sha256 = base::sha256_of(blobs_->path_of(found->first));
      if (!sha256) return sha256.status();
      const Status put = catalogue_->transact([&] {
        return catalogue_->put_file(session.id, {file.kind, file.version, *sha256, found->second});
      });
      if (!put) return put;
    }
    left.erase(found);
  }
  for (const auto& [name, bytes] : left) {
    if (Status removed = blobs_->remove(name); !removed) return removed;
  }
  return {};
}

}  // namespace gpufl::store
