// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/schema.hpp"
#include "store/blob_store.hpp"

// A piece of a session as it arrives, and what became of it. Any thread.
namespace gpufl::store {

enum class PieceKind : uint8_t { Window, Live, Manifest, Symbols, Disassembly, Module };
std::string_view to_string(PieceKind kind);  // "window"
std::optional<PieceKind> find_piece_kind(std::string_view name);

struct Piece {
  int64_t workspace = 0;
  std::string session;
  PieceKind kind = PieceKind::Window;
  format::Channel channel = format::Channel::Device;  // of window and live, as is the number
  uint64_t number = 0;
  uint64_t offset = 0;      // of live
  bool is_final = false;    // of live
  uint64_t version = 0;     // of manifest, symbols and disassembly
  std::string hash;         // of module
  std::string told_sha256;  // by the sender; empty: it did not say
  std::string sender;       // for display
  std::string sha256;       // of the blob, as counted while it was received; of a final text
  IncomingPtr blob;         // of all but live
  std::string text;         // of live
  // What the store found out before it decides. Of a window: the SHA-256 of the final text that it
  // was compared with, and whether the rows are the same. Of lines that end a text: how often texts
  // had been cut before it was hashed. Of both: whether the log ends in it, as its writer says. Of
  // any: why it is not what it says.
  std::string compared_with = {};
  bool has_same_rows = false;
  uint64_t cuts = 0;
  bool has_end = false;
  base::Status fault = {};

  std::string describe() const;  // "window device 3"
  // Pieces of one place are about the same thing: a window and its lines.
  std::string place_name() const;
};

struct Outcome {
  enum class What : uint8_t {
    Stored,
    Known,        // it was there before
    Superseded,   // something better is there
    Behind,       // lines before these are missing: `end` says from where
    Conflict,     // something else is there; set aside
    Quarantined,  // not what it says; set aside
    Gone,         // the session was deleted
    Full,         // quota or disk: not now
    Busy,         // too much waits: not now
    Failed,       // of the store's own: not now
  } what = What::Failed;
  uint64_t end = 0;  // of live lines: how much of the text is there
  std::string why;   // for people, of all from Conflict on
};

// Of what went wrong with the store itself: Full or Failed.
Outcome outcome_of(const base::Status& status);

// "20261115T034512.000250Z-1f2e3d4c5b6a7988", as format/SPEC.md has it: nothing else becomes a
// session.
bool is_session_id(std::string_view text);
// 64 hexadecimal digits in lower case.
bool is_sha256(std::string_view text);

// 16 of them: the hash of a module's image.
bool is_module_hash(std::string_view text);

// What the file of a session is called: of a window that is sealed, of its lines, and of the rest.
std::string blob_file_name(PieceKind kind, format::Channel channel, uint64_t number,
                           std::string_view hash);

// Whether a blob that was received is what it says: ok, or Corrupt, TooNew or LimitReached with the
// reason. Reads all of it in bounded memory, and notes `has_end`. IoError: it could not be read.
base::Status check_blob(Piece& piece);
// The same of live lines: whole lines that are objects, the first of a text its session line. What
// else is in them is for readers to understand.
base::Status check_live_text(Piece& piece);
// Whether a sealed window has the same rows and lines as a text, in whatever order.
base::Result<bool> has_same_rows(const std::filesystem::path& sealed,
                                 const std::filesystem::path& text);

}  // namespace gpufl::store
