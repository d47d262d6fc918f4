// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
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
  auto generation = catalogue_->generation();
  if (!generation) return generation.status();
  generation_ = std::move(*generation);
  std::vector<StoredSession> sessions;
  Status done =
      catalogue_->each_session([&](const StoredSession& one) { sessions.push_back(one); });
  if (done) done = replay_journal();
  // A full disk is no reason to show nothing: lines are taken once there is room to replay.
  if (!done && done.code() != base::Code::LimitReached) return done;
  const auto workspaces = catalogue_->workspaces();
  if (!workspaces) return workspaces.status();
  for (const Workspace& workspace : *workspaces) {
    std::vector<StoredSession> own;
    std::copy_if(sessions.begin(), sessions.end(), std::back_inserter(own),
                 [&](const StoredSession& one) { return one.workspace == workspace.id; });
    if (Status swept = sweep(workspace.id, own); !swept) return swept;
    if (Status swept = sweep_modules(workspace.id); !swept) return swept;
  }
  if (Status swept = health_.recover(); !swept) return swept;
  return look_for_room();
}

Status SessionStore::replay_journal() {
  std::map<int64_t, StoredSession> sessions;
  Status done =
      catalogue_->each_session([&](const StoredSession& one) { sessions.emplace(one.id, one); });
  if (!done) return done;
  done = journal_.replay([&](const LiveLines& lines) -> Status {
    const auto session = sessions.find(lines.session);
    if (session == sessions.end()) return {};
    const auto row = catalogue_->find_window(lines.session, lines.channel, lines.number);
    if (!row) return row.status();
    // Of others nobody was told, or they have been replaced.
    if (!*row || (*row)->state == WindowState::Sealed) return {};
    const bool is_final = (*row)->state == WindowState::Final;
    if (is_final && lines.offset + lines.text.size() > (*row)->bytes) return {};
    const StoredSession& of = session->second;
    const std::string prefix =
        of.is_deleted ? deleted_prefix(of.workspace, of.id) : session_prefix(of.workspace, of.id);
    if (Status made = blobs_->make_place(prefix); !made) return made;
    return texts_.write(
        blobs_->path_of(prefix + blob_file_name(PieceKind::Live, lines.channel, lines.number, {})),
        lines.offset, lines.text);
  });
  if (done) done = blobs_->sync();
  if (done) done = texts_.sync_all();
  if (done) done = journal_.turn();
  if (done) done = journal_.drop_older();
  is_replayed_ = is_replayed_ || done;
  has_lost_texts_ = !done;
  return done;
}

// An older version told modules by their hashes alone, and counted each with its first session.
Status SessionStore::adopt_modules(StoredSession& session) {
  const auto contents = catalogue_->contents(session.id);
  if (!contents) return contents.status();
  const std::string prefix = session.is_deleted ? deleted_prefix(session.workspace, session.id)
                                                : session_prefix(session.workspace, session.id);
  for (const StoredModule& module : contents->modules) {
    if (!module.sha256.empty()) continue;
    const std::string own = prefix + blob_file_name(PieceKind::Module, {}, 0, module.hash);
    const auto sha256 = base::sha256_of(blobs_->path_of(own));
    if (!sha256) continue;  // `gpufl store check` tells
    const auto bytes = LiveTexts::size_of(blobs_->path_of(own));
    bool is_shared = false;
    const Status adopted = catalogue_->transact([&]() -> Status {
      const auto known = catalogue_->has_shared_module(session.workspace, *sha256);
      if (!known) return known.status();
      is_shared = *known;
      Status put = catalogue_->put_module(session.id, {module.hash, *sha256});
      if (!put || is_shared) return put;
      put = blobs_->link(own, module_name(session.workspace, *sha256));
      if (put) put = blobs_->sync();
      if (put) put = catalogue_->add_shared_module(session.workspace, {*sha256, bytes});
      if (put) put = catalogue_->add_bytes(session.id, -static_cast<int64_t>(bytes));
      return put;
    });
    if (!adopted) return adopted;
    if (!is_shared) session.bytes -= std::min(session.bytes, bytes);
  }
  return {};
}

Status SessionStore::sweep_modules(int64_t workspace) {
  auto dropped = catalogue_->drop_unused_modules(workspace);
  if (!dropped) return dropped.status();
  const auto shared = catalogue_->shared_modules(workspace);
  if (!shared) return shared.status();
  std::set<std::string> known;
  for (const SharedModule& module : *shared) {
    known.insert(module_name(workspace, module.sha256));
    admission_.add(workspace, static_cast<int64_t>(module.bytes));
  }
  std::vector<std::string> unknown;
  Status listed =
      blobs_->list(workspace_prefix(workspace, "modules"), [&](const std::string& name, uint64_t) {
        if (!known.contains(name)) unknown.push_back(name);
      });
  if (!listed) return listed;
  for (const std::string& name : unknown) {
    if (Status removed = blobs_->remove(name); !removed) return removed;
  }
  return blobs_->sync();
}

Status SessionStore::sweep(int64_t workspace, std::vector<StoredSession>& sessions) {
  const std::string kept_prefix = workspace_prefix(workspace, "sessions");
  const std::string deleted = workspace_prefix(workspace, "deleted");
  std::map<std::string, Files> folders;  // by prefix
  for (const std::string& prefix : {kept_prefix, deleted}) {
    const Status listed = blobs_->list(prefix, [&](const std::string& name, uint64_t bytes) {
      folders[prefix + next_part(name, prefix.size()) + "/"].emplace(name, bytes);
    });
    if (!listed) return listed;
  }
  for (StoredSession& session : sessions) {
    const int64_t id = session.id;
    if (session.is_deleted) admission_.set_deleted(workspace, session.name, true);
    if (session.is_purged) continue;  // what is left of it is unknown
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
    if (Status adopted = adopt_modules(session); !adopted) return adopted;
    if (Status swept = sweep_session(session, here, folders[here]); !swept) return swept;
    folders.erase(here);
  }
  for (const auto& [prefix, files] : folders) {
    if (Status removed = blobs_->remove_all(prefix); !removed) return removed;
  }
  const auto aside = catalogue_->list_aside(workspace);
  if (!aside) return aside.status();
  for (const SetAside& one : *aside) {
    admission_.add(workspace, static_cast<int64_t>(one.bytes));
  }
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
  admission_.add(session.workspace, static_cast<int64_t>(session.bytes));
  Files left = files;
  for (const StoredWindow& window : contents->windows) {
    const bool is_sealed = window.state == WindowState::Sealed;
    const std::string name =
        prefix + blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live, window.channel,
                                window.number, {});
    if (!is_sealed && left.contains(name)) {
      const auto bytes = static_cast<int64_t>(left[name]);
      const bool is_counted = window.state == WindowState::Final;
      admission_.add(session.workspace, is_counted ? 0 : bytes, bytes);
    }
    left.erase(name);
  }
  for (const StoredModule& module : contents->modules) {
    left.erase(prefix + blob_file_name(PieceKind::Module, {}, 0, module.hash));
  }
  for (const StoredFile& file : contents->files) {
    const auto kind = find_piece_kind(file.kind);
    if (!kind) continue;
    const std::string name = prefix + blob_file_name(*kind, {}, 0, {});
    const std::string coming = coming_name(name);
    left.erase(name);
    if (!left.contains(coming)) continue;
    // Killed between saying so and putting it in its place, or before both.
    const auto sha256 = base::sha256_of(blobs_->path_of(coming));
    if (!sha256) return sha256.status();
    if (*sha256 != file.sha256) continue;
    if (Status replaced = blobs_->replace(name, coming); !replaced) return replaced;
    left.erase(coming);
  }
  for (const auto& [name, bytes] : left) {
    if (Status removed = blobs_->remove(name); !removed) return removed;
  }
  return {};
}

}  // namespace gpufl::store
