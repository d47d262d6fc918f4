// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/sha256.hpp"
#include "store/group.hpp"
#include "store/session_store.hpp"

// What becomes of a piece, by what is there already. Runs within the transaction of its group: a
// Status that is not ok undoes the group, an Outcome is about the piece alone.
namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Status;
using What = Outcome::What;
using Decision = base::Result<Outcome>;

// Of a channel: the writer ends its log with this line.
bool has_end_line(std::string_view text) {
  constexpr std::string_view kEnd = "{\"type\":\"end\"";
  const size_t at = text.find(kEnd);
  return at != std::string_view::npos && (at == 0 || text[at - 1] == '\n');
}

}  // namespace

Decision SessionStore::decide(Piece& piece, Group& group) {
  auto found = catalogue_->find_session(piece.workspace, piece.session);
  if (!found) return found.status();
  if (*found && (*found)->is_deleted) return Outcome{What::Gone, 0, "it was deleted"};
  if (!piece.fault) return put_aside(piece, What::Quarantined, piece.fault.message(), group);
  if (!*found) {
    if (piece.kind == PieceKind::Live && piece.offset > 0) return Outcome{What::Behind, 0, {}};
    if (auto refusal = refuse_for_room(piece, 0)) return *refusal;
    const auto added = catalogue_->add_session(piece.workspace, piece.session);
    if (!added) return added.status();
    *found = StoredSession{.id = *added, .workspace = piece.workspace, .name = piece.session};
    // A number that was given before, and then taken back, may have left something there.
    const Status cleared = blobs_->remove_all(session_prefix(piece.workspace, *added));
    if (!cleared) return cleared;
  }
  switch (piece.kind) {
    case PieceKind::Window: return take_window(piece, **found, group);
    case PieceKind::Live: return take_live(piece, **found, group);
    case PieceKind::Module: return take_module(piece, **found, group);
    case PieceKind::Manifest:
    case PieceKind::Symbols:
    case PieceKind::Disassembly: break;
  }
  return take_file(piece, **found, group);
}

std::optional<Outcome> SessionStore::refuse_for_room(const Piece& piece, uint64_t bytes) const {
  if (is_disk_low_) return Outcome{What::Full, 0, "the server's disk is full"};
  const auto quota = quotas_.find(piece.workspace);
  const auto used = used_.find(piece.workspace);
  const int64_t there = used == used_.end() ? 0 : std::max<int64_t>(used->second, 0);
  if (quota != quotas_.end() && quota->second &&
      static_cast<uint64_t>(there) + bytes > *quota->second) {
    return Outcome{What::Full, 0, "the workspace has used its quota"};
  }
  return {};
}

// Nothing: it is there.
std::optional<Outcome> SessionStore::place(Piece& piece, const std::string& name, bool is_new,
                                           Group& group) {
  if (const Status placed = blobs_->place(*piece.blob, name); !placed) return outcome_of(placed);
  if (is_new) group.placed.push_back(name);
  group.bytes[piece.workspace] += static_cast<int64_t>(piece.blob->size());
  return {};
}

Decision SessionStore::take_window(Piece& piece, const StoredSession& session, Group& group) {
  const auto row = catalogue_->find_window(session.id, piece.channel, piece.number);
  if (!row) return row.status();
  const WindowState* state = *row ? &(*row)->state : nullptr;
  if (state != nullptr && *state == WindowState::Sealed) {
    if ((*row)->sha256 == piece.sha256) return Outcome{What::Known, 0, {}};
    return put_aside(piece, What::Conflict, "another file of this window was there before", group);
  }
  if (state != nullptr && *state == WindowState::Final && (*row)->sha256 != piece.same_rows_as) {
    return put_aside(piece, What::Conflict, "the final text of this window has other rows", group);
  }
  const auto size = static_cast<int64_t>(piece.blob->size());
  if (auto refusal = refuse_for_room(piece, piece.blob->size())) return *refusal;
  const std::string prefix = session_prefix(piece.workspace, session.id);
  const auto name_of = [&](PieceKind kind) {
    return prefix + blob_file_name(kind, piece.channel, piece.number, {});
  };
  if (auto refusal = place(piece, name_of(PieceKind::Window), true, group)) return *refusal;
  int64_t counted = size;
  if (state != nullptr) {
    const std::string text = name_of(PieceKind::Live);
    const fs::path file = blobs_->path_of(text);
    group.bytes[piece.workspace] -= static_cast<int64_t>(LiveTexts::size_of(file));
    if (*state == WindowState::Final) counted -= static_cast<int64_t>((*row)->bytes);
    group.obsolete.push_back(text);
  }
  Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                   .number = piece.number,
                                                   .state = WindowState::Sealed,
                                                   .sha256 = piece.sha256,
                                                   .bytes = piece.blob->size()});
  if (put) put = catalogue_->add_bytes(session.id, counted);
  if (!put) return put;
  return Outcome{What::Stored, 0, {}};
}

Decision SessionStore::take_file(Piece& piece, const StoredSession& session, Group& group) {
  const std::string kind(to_string(piece.kind));
  const auto row = catalogue_->find_file(session.id, kind);
  if (!row) return row.status();
  if (*row && (*row)->version >= piece.version) {
    const bool is_same = (*row)->version == piece.version && (*row)->sha256 == piece.sha256;
    return Outcome{is_same ? What::Known : What::Superseded, 0, {}};
  }
  if (auto refusal = refuse_for_room(piece, piece.blob->size())) return *refusal;
  const std::string name =
      session_prefix(piece.workspace, session.id) + blob_file_name(piece.kind, {}, 0, {});
  if (auto refusal = place(piece, name, !row->has_value(), group)) return *refusal;
  const auto before = *row ? static_cast<int64_t>((*row)->bytes) : 0;
  const auto bytes = static_cast<int64_t>(piece.blob->size());
  group.bytes[piece.workspace] -= before;
  Status put =
      catalogue_->put_file(session.id, {kind, piece.version, piece.sha256, piece.blob->size()});
  if (put) put = catalogue_->add_bytes(session.id, bytes - before);
  if (!put) return put;
  return Outcome{What::Stored, 0, {}};
}

Decision SessionStore::take_module(Piece& piece, const StoredSession& session, Group& group) {
  const auto is_known = catalogue_->has_module(session.id, piece.hash);
  if (!is_known) return is_known.status();
  if (*is_known) return Outcome{What::Known, 0, {}};
  if (auto refusal = refuse_for_room(piece, piece.blob->size())) return *refusal;
  const std::string shared = module_name(piece.workspace, piece.hash);
  const std::string own =
      session_prefix(piece.workspace, session.id) + blob_file_name(piece.kind, {}, 0, piece.hash);
  std::error_code error;
  const bool is_shared = fs::exists(blobs_->path_of(shared), error);
  if (!is_shared) {
    if (auto refusal = place(piece, shared, true, group)) return *refusal;
  }
  Status linked = blobs_->link(shared, own);
  // A file system allows only so many links to one file.
  if (!linked && is_shared) linked = blobs_->place(*piece.blob, own);
  if (!linked) return outcome_of(linked);
  group.placed.push_back(own);
  Status put = catalogue_->add_module(session.id, piece.hash);
  if (put && !is_shared) {
    put = catalogue_->add_bytes(session.id, static_cast<int64_t>(piece.blob->size()));
  }
  if (!put) return put;
  return Outcome{What::Stored, 0, {}};
}

Decision SessionStore::take_live(Piece& piece, const StoredSession& session, Group& group) {
  const auto row = catalogue_->find_window(session.id, piece.channel, piece.number);
  if (!row) return row.status();
  const uint64_t behind = piece.offset + piece.text.size();
  if (*row && (*row)->state == WindowState::Sealed) return Outcome{What::Superseded, behind, {}};
  const fs::path file =
      blobs_->path_of(session_prefix(piece.workspace, session.id) +
                      blob_file_name(piece.kind, piece.channel, piece.number, {}));
  uint64_t end = LiveTexts::size_of(file);
  if (!*row && end > 0) {  // of a group that failed
    if (Status cut = LiveTexts::cut(file, 0); !cut) return outcome_of(cut);
    end = 0;
  }
  if (*row && (*row)->state == WindowState::Final && piece.is_final &&
      piece.told_sha256 == (*row)->sha256) {
    return Outcome{What::Known, end, {}};
  }
  if (piece.offset > end) return Outcome{What::Behind, end, {}};
  const std::string_view text = piece.text;
  const size_t there = std::min<uint64_t>(end - piece.offset, text.size());
  if (there > 0) {
    const auto is_same = LiveTexts::has(file, piece.offset, text.substr(0, there));
    if (!is_same) return outcome_of(is_same.status());
    if (!*is_same) return put_aside(piece, What::Conflict, "other lines were there before", group);
  }
  const bool has_more = there < text.size();
  if (*row && (*row)->state == WindowState::Final && (has_more || piece.is_final)) {
    return put_aside(piece, What::Conflict, "the text of this window has ended", group);
  }
  if (!has_more && !piece.is_final) return Outcome{What::Known, end, {}};
  if (auto refusal = refuse_for_room(piece, text.size() - there)) return *refusal;
  if (piece.is_final) return end_text(piece, session, file, end, group);
  if (!*row) {
    const Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                           .number = piece.number,
                                                           .state = WindowState::Live,
                                                           .sha256 = {},
                                                           .bytes = 0});
    if (!put) return put;
  }
  group.appends.push_back(
      {&piece, session.id, file, end, text.substr(there), has_end_line(text.substr(there))});
  return Outcome{What::Stored, behind, {}};
}

// The last of a text goes to its file at once: that happens once for each window of a dead writer.
Decision SessionStore::end_text(Piece& piece, const StoredSession& session, const fs::path& file,
                                uint64_t end, Group& group) {
  const std::string_view rest = std::string_view(piece.text).substr(end - piece.offset);
  Status written = texts_.write(file, end, rest);
  if (written) written = texts_.sync();
  if (!written) return outcome_of(written);
  const auto sha256 = base::sha256_of(file);
  if (!sha256) return outcome_of(sha256.status());
  if (*sha256 != piece.told_sha256) {
    if (Status cut = LiveTexts::cut(file, end); !cut) return outcome_of(cut);
    return put_aside(piece, What::Quarantined,
                     "the whole text has another SHA-256 than the sender said", group);
  }
  const uint64_t size = end + rest.size();
  Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                   .number = piece.number,
                                                   .state = WindowState::Final,
                                                   .sha256 = *sha256,
                                                   .bytes = size});
  if (put) put = catalogue_->add_bytes(session.id, static_cast<int64_t>(size));
  if (!put) return put;
  group.bytes[piece.workspace] += static_cast<int64_t>(rest.size());
  texts_.end(file.parent_path());
  return Outcome{What::Stored, size, {}};
}

Decision SessionStore::put_aside(Piece& piece, Outcome::What what, std::string why, Group& group) {
  if (auto refusal = refuse_for_room(piece, 0)) return *refusal;
  if (!piece.blob) {
    auto blob = blobs_->receive();
    Status kept = blob ? (*blob)->append(piece.text) : blob.status();
    if (kept) kept = (*blob)->sync();
    if (!kept) return outcome_of(kept);
    base::Sha256 hash;
    hash.add(piece.text);
    piece.sha256 = hash.finish();
    piece.blob = std::move(*blob);
  }
  const uint64_t bytes = piece.blob->size();
  const auto id = catalogue_->set_aside({.workspace = piece.workspace,
                                         .session = piece.session,
                                         .what = piece.describe(),
                                         .sha256 = piece.sha256,
                                         .reason = why,
                                         .sender = piece.sender,
                                         .bytes = bytes});
  if (!id) return id.status();
  if (const Status placed = blobs_->place(*piece.blob, aside_name(piece.workspace, *id)); !placed) {
    return outcome_of(placed);
  }
  auto aside = catalogue_->list_aside(piece.workspace);
  if (!aside) return aside.status();
  uint64_t all = 0;
  for (size_t i = 0; i < aside->size(); ++i) {
    const SetAside& one = (*aside)[i];
    all += one.bytes;
    if (i == 0 || (i < limits_.aside && all <= limits_.aside_bytes)) continue;
    if (Status gone = catalogue_->forget_aside(one.id); !gone) return gone;
    group.obsolete.push_back(aside_name(piece.workspace, one.id));
  }
  return Outcome{what, 0, std::move(why)};
}

}  // namespace gpufl::store
