// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/clock.hpp"
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

// How far behind it may be when lines of a session came last.
constexpr int64_t kNotePace_ms = int64_t{10} * 60 * 1000;

// What is wrong with it. Who sent it reads that, and not where the store keeps it.
std::string reason_of(const Piece& piece) {
  std::string reason = piece.fault.message();
  if (!piece.blob) return reason;
  const std::string path = piece.blob->path().string();
  const size_t at = reason.find(path);
  return at == std::string::npos ? reason : reason.replace(at, path.size(), "it");
}

// Whether one of two files begins with all of the other: a log that has grown.
base::Result<bool> is_beginning_of(const fs::path& shorter, const fs::path& longer) {
  std::ifstream a(shorter, std::ios::binary), b(longer, std::ios::binary);
  if (!a || !b) return Status(base::Code::IoError, "cannot read " + shorter.string());
  std::array<char, 65536> of_a{}, of_b{};
  while (a) {
    a.read(of_a.data(), of_a.size());
    const auto got = a.gcount();
    b.read(of_b.data(), got);
    if (b.gcount() != got || !std::equal(of_a.begin(), of_a.begin() + got, of_b.begin())) {
      return false;
    }
  }
  return true;
}

}  // namespace

Decision SessionStore::decide(Piece& piece, Group& group) {
  auto found = catalogue_->find_session(piece.workspace, piece.session);
  if (!found) return found.status();
  if (*found && (*found)->is_deleted) return Outcome{What::Gone, 0, "it was deleted"};
  if (!piece.fault) return put_aside(piece, What::Quarantined, reason_of(piece), group);
  if (!*found) {
    if (piece.kind == PieceKind::Live && piece.offset > 0) return Outcome{What::Behind, 0, {}};
    if (auto refusal = refuse_for_room(piece, 0, group)) return *refusal;
    const auto added = catalogue_->add_session(piece.workspace, piece.session);
    if (!added) return added.status();
    *found = StoredSession{.id = *added, .workspace = piece.workspace, .name = piece.session};
    // A number that was given before, and then taken back, may have left something there.
    const Status cleared = blobs_->remove_all(session_prefix(piece.workspace, *added));
    if (!cleared) return cleared;
  }
  Decision taken = take_piece(piece, **found, group);
  if (!taken || taken->what != What::Stored) return taken;
  group.changed.emplace(piece.workspace, (*found)->id);
  if (!piece.has_end || (*found)->has_ended) return taken;
  if (Status noted = catalogue_->set_ended((*found)->id); !noted) return noted;
  return taken;
}

Decision SessionStore::take_piece(Piece& piece, const StoredSession& session, Group& group) {
  switch (piece.kind) {
    case PieceKind::Window: return take_window(piece, session, group);
    case PieceKind::Live: return take_live(piece, session, group);
    case PieceKind::Module: return take_module(piece, session, group);
    case PieceKind::Manifest:
    case PieceKind::Symbols:
    case PieceKind::Disassembly: break;
  }
  return take_file(piece, session, group);
}

std::optional<Outcome> SessionStore::refuse_for_room(const Piece& piece, int64_t growth,
                                                     const Group& group) const {
  const auto others = group.growth.find(piece.workspace);
  const int64_t before = others == group.growth.end() ? 0 : others->second.bytes;
  auto why = admission_.refuse(piece.workspace, growth > 0 ? growth + before : growth);
  if (!why) return std::nullopt;
  return Outcome{What::Full, 0, std::move(*why)};
}

// Nothing: it is there.
std::optional<Outcome> SessionStore::place(Piece& piece, const std::string& name, Group& group) {
  if (const Status placed = blobs_->place(*piece.blob, name); !placed) return outcome_of(placed);
  group.placed.push_back(name);
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
  if (state != nullptr && *state == WindowState::Final) {
    if ((*row)->sha256 != piece.compared_with) {
      return Outcome{What::Busy, 0, "the text of this window has just ended"};
    }
    if (!piece.has_same_rows) {
      return put_aside(piece, What::Conflict, "the final text of this window has other rows",
                       group);
    }
  }
  const auto size = static_cast<int64_t>(piece.blob->size());
  const std::string prefix = session_prefix(piece.workspace, session.id);
  const std::string text =
      prefix + blob_file_name(PieceKind::Live, piece.channel, piece.number, {});
  const auto replaced =
      state == nullptr ? 0 : static_cast<int64_t>(LiveTexts::size_of(blobs_->path_of(text)));
  if (auto refusal = refuse_for_room(piece, size - replaced, group)) return *refusal;
  const std::string name =
      prefix + blob_file_name(PieceKind::Window, piece.channel, piece.number, {});
  if (auto refusal = place(piece, name, group)) return *refusal;
  if (state != nullptr) group.obsolete.push_back(text);
  Group::Growth& growth = group.growth[piece.workspace];
  growth.bytes += size - replaced;
  growth.texts -= replaced;
  const bool was_final = state != nullptr && *state == WindowState::Final;
  const int64_t counted = was_final ? static_cast<int64_t>((*row)->bytes) : 0;
  Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                   .number = piece.number,
                                                   .state = WindowState::Sealed,
                                                   .sha256 = piece.sha256,
                                                   .bytes = piece.blob->size()});
  if (put) put = catalogue_->add_bytes(session.id, size - counted);
  if (!put) return put;
  if (piece.has_end) group.ended.push_back(blobs_->path_of(prefix).parent_path());
  if (piece.channel == format::Channel::System) {
    group.readings.emplace_back(session.id, piece.number);
  }
  return Outcome{What::Stored, 0, {}};
}

// Nothing: the piece takes the place of the file that is there.
base::Result<std::optional<Outcome>> SessionStore::compare_versions(Piece& piece,
                                                                    const StoredFile& known,
                                                                    const std::string& name,
                                                                    Group& group) {
  using Compared = std::optional<Outcome>;
  if (known.version < piece.version) return Compared();
  if (known.version > piece.version) return Compared({What::Superseded, 0, {}});
  if (known.sha256 == piece.sha256) return Compared({What::Known, 0, {}});
  // A manifest grows between the moments at which two senders look at it.
  const bool is_longer = piece.blob->size() > known.bytes;
  const fs::path there = blobs_->path_of(name);
  const auto has_grown = is_longer ? is_beginning_of(there, piece.blob->path())
                                   : is_beginning_of(piece.blob->path(), there);
  if (!has_grown) return Compared(outcome_of(has_grown.status()));
  if (*has_grown) return is_longer ? Compared() : Compared({What::Superseded, 0, {}});
  auto aside =
      put_aside(piece, What::Conflict, "another file of this version was there before", group);
  if (!aside) return aside.status();
  return Compared(std::move(*aside));
}

Decision SessionStore::take_file(Piece& piece, const StoredSession& session, Group& group) {
  const std::string kind(to_string(piece.kind));
  const auto row = catalogue_->find_file(session.id, kind);
  if (!row) return row.status();
  const std::string name =
      session_prefix(piece.workspace, session.id) + blob_file_name(piece.kind, {}, 0, {});
  if (*row) {
    const auto refusal = compare_versions(piece, **row, name, group);
    if (!refusal) return refusal.status();
    if (*refusal) return **refusal;
  }
  const int64_t growth =
      static_cast<int64_t>(piece.blob->size()) - (*row ? static_cast<int64_t>((*row)->bytes) : 0);
  if (auto refusal = refuse_for_room(piece, growth, group)) return *refusal;
  // What is there stays until the catalogue tells of the new one.
  const std::string placed = *row ? coming_name(name) : name;
  if (auto refusal = place(piece, placed, group)) return *refusal;
  if (*row) group.replaced.emplace_back(name, placed);
  group.growth[piece.workspace].bytes += growth;
  Status put =
      catalogue_->put_file(session.id, {kind, piece.version, piece.sha256, piece.blob->size()});
  if (put) put = catalogue_->add_bytes(session.id, growth);
  if (!put) return put;
  return Outcome{What::Stored, 0, {}};
}

Decision SessionStore::take_module(Piece& piece, const StoredSession& session, Group& group) {
  const auto known = catalogue_->find_module(session.id, piece.hash);
  if (!known) return known.status();
  if (*known) {
    if ((*known)->sha256 == piece.sha256) return Outcome{What::Known, 0, {}};
    return put_aside(piece, What::Conflict, "another file of this module was there before", group);
  }
  const auto is_shared = catalogue_->has_shared_module(piece.workspace, piece.sha256);
  if (!is_shared) return is_shared.status();
  const auto size = static_cast<int64_t>(piece.blob->size());
  if (auto refusal = refuse_for_room(piece, *is_shared ? 0 : size, group)) return *refusal;
  const std::string shared = module_name(piece.workspace, piece.sha256);
  const std::string own =
      session_prefix(piece.workspace, session.id) + blob_file_name(piece.kind, {}, 0, piece.hash);
  Status put;
  if (!*is_shared) {
    if (auto refusal = place(piece, shared, group)) return *refusal;
    group.growth[piece.workspace].bytes += size;
    put = catalogue_->add_shared_module(piece.workspace, {piece.sha256, piece.blob->size()});
    if (!put) return put;
  }
  Status linked = blobs_->link(shared, own);
  // A file system allows only so many links to one file.
  if (!linked && *is_shared) linked = blobs_->place(*piece.blob, own);
  if (!linked) return linked;
  group.placed.push_back(own);
  put = catalogue_->put_module(session.id, {piece.hash, piece.sha256});
  if (put) put = catalogue_->add_bytes(session.id, 0);
  if (!put) return put;
  return Outcome{What::Stored, 0, {}};
}

Decision SessionStore::take_live(Piece& piece, const StoredSession& session, Group& group) {
  if (!is_replayed_) return Outcome{What::Full, 0, "lines that came before cannot be written"};
  const auto row = catalogue_->find_window(session.id, piece.channel, piece.number);
  if (!row) return row.status();
  const uint64_t behind = piece.offset + piece.text.size();
  if (*row && (*row)->state == WindowState::Sealed) return Outcome{What::Superseded, behind, {}};
  const std::string prefix = session_prefix(piece.workspace, session.id);
  const fs::path file =
      blobs_->path_of(prefix + blob_file_name(piece.kind, piece.channel, piece.number, {}));
  uint64_t end = LiveTexts::size_of(file);
  if (!*row && end > 0) {  // of a group that failed
    if (Status cut = texts_.cut(file, 0); !cut) return outcome_of(cut);
    end = 0;
  }
  const bool has_ended = *row && (*row)->state == WindowState::Final;
  const bool is_same_end = has_ended && piece.is_final && piece.told_sha256 == (*row)->sha256;
  if (is_same_end && end >= (*row)->bytes) return Outcome{What::Known, end, {}};
  if (piece.offset > end) return Outcome{What::Behind, end, {}};
  const std::string_view text = piece.text;
  const size_t there = std::min<uint64_t>(end - piece.offset, text.size());
  if (there > 0) {
    const auto is_same = LiveTexts::has(file, piece.offset, text.substr(0, there));
    if (!is_same) return outcome_of(is_same.status());
    if (!*is_same) return put_aside(piece, What::Conflict, "other lines were there before", group);
  }
  const bool has_more = there < text.size();
  if (has_ended && !is_same_end && (has_more || piece.is_final)) {
    return put_aside(piece, What::Conflict, "the text of this window has ended", group);
  }
  if (!has_more && !piece.is_final) return Outcome{What::Known, end, {}};
  // Lines alone change nothing of the catalogue, which would be a sync for each.
  if (base::wall_ns() / 1'000'000 - session.changed_ms > kNotePace_ms) {
    if (Status noted = catalogue_->add_bytes(session.id, 0); !noted) return noted;
  }
  if (behind > limits_.text_bytes) {
    return put_aside(piece, What::Quarantined, "the text of this window is too long", group);
  }
  if (piece.is_final && behind < end) {
    return put_aside(piece, What::Conflict, "there are lines behind the end of this text", group);
  }
  if (const Status made = blobs_->make_place(prefix); !made) return outcome_of(made);
  const std::string_view rest = text.substr(there);
  const auto growth = static_cast<int64_t>(rest.size());
  if (auto refusal = refuse_for_room(piece, growth, group)) return *refusal;
  if (piece.is_final && !has_ended) {
    auto ended = end_text(piece, session, end + rest.size(), group);
    if (!ended || ended->what != What::Stored) return ended;
  } else if (!*row) {
    const Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                           .number = piece.number,
                                                           .state = WindowState::Live,
                                                           .sha256 = {},
                                                           .bytes = 0});
    if (!put) return put;
  }
  Group::Growth& gained = group.growth[piece.workspace];
  gained.bytes += growth;
  gained.texts += growth;
  const bool is_over = piece.is_final || piece.has_end || session.has_ended;
  group.appends.push_back({&piece, session.id, file, end, rest, is_over});
  return Outcome{What::Stored, end + rest.size(), {}};
}

// The rest of the text goes the way of all lines.
Decision SessionStore::end_text(Piece& piece, const StoredSession& session, uint64_t size,
                                Group& group) {
  if (piece.sha256.empty() || piece.cuts != texts_.cuts()) {
    return Outcome{What::Busy, 0, "lines of this window have changed"};
  }
  if (piece.sha256 != piece.told_sha256) {
    return put_aside(piece, What::Quarantined,
                     "the whole text has another SHA-256 than the sender said", group);
  }
  Status put = catalogue_->put_window(session.id, {.channel = piece.channel,
                                                   .number = piece.number,
                                                   .state = WindowState::Final,
                                                   .sha256 = piece.sha256,
                                                   .bytes = size});
  if (put) put = catalogue_->add_bytes(session.id, static_cast<int64_t>(size));
  if (!put) return put;
  return Outcome{What::Stored, size, {}};
}

Decision SessionStore::put_aside(Piece& piece, Outcome::What what, std::string why, Group& group) {
  if (auto refusal = refuse_for_room(piece, 0, group)) return *refusal;
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
  const auto before = catalogue_->list_aside_of(piece.workspace, piece.session);
  if (!before) return before.status();
  const bool is_known = std::any_of(before->begin(), before->end(), [&](const SetAside& one) {
    return one.what == piece.describe() && one.sha256 == piece.sha256;
  });
  if (is_known) return Outcome{what, 0, std::move(why)};
  const auto id = catalogue_->set_aside({.workspace = piece.workspace,
                                         .session = piece.session,
                                         .what = piece.describe(),
                                         .sha256 = piece.sha256,
                                         .reason = why,
                                         .sender = piece.sender,
                                         .bytes = bytes});
  if (!id) return id.status();
  const std::string name = aside_name(piece.workspace, *id);
  if (const Status placed = blobs_->place(*piece.blob, name); !placed) return placed;
  group.placed.push_back(name);
  group.growth[piece.workspace].bytes += static_cast<int64_t>(bytes);
  auto aside = catalogue_->list_aside(piece.workspace);
  if (!aside) return aside.status();
  uint64_t all = 0;
  for (size_t i = 0; i < aside->size(); ++i) {
    const SetAside& one = (*aside)[i];
    all += one.bytes;
    if (i == 0 || (i < limits_.aside && all <= limits_.aside_bytes)) continue;
    if (Status gone = catalogue_->forget_aside(one.id); !gone) return gone;
    group.growth[piece.workspace].bytes -= static_cast<int64_t>(one.bytes);
    group.obsolete.push_back(aside_name(piece.workspace, one.id));
  }
  return Outcome{what, 0, std::move(why)};
}

}  // namespace gpufl::store
