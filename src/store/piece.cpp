// SPDX-License-Identifier: Apache-2.0
#include "store/piece.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/batch_codec.hpp"
#include "format/limits.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"

namespace gpufl::store {
namespace {

using base::Code;
using base::Json;
using base::Status;

// Of text in one file: beyond, it is no window but an attack or a mistake.
constexpr uint64_t kMostText = uint64_t{4} << 30;
constexpr std::array<std::string_view, 6> kKindNames = {"window",  "live",        "manifest",
                                                        "symbols", "disassembly", "module"};

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

// Whether brackets and quotation marks say so: a glance at every character, for lines that arrive
// by the million.
bool is_object(std::string_view line) {
  if (!line.starts_with('{')) return false;
  size_t depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (static_cast<unsigned char>(c) < ' ') return false;
    if (is_text) {
      if (c == '\\') ++i;
      if (c == '"') is_text = false;
    } else if (c == '"') {
      is_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return c == '}' && i + 1 == line.size();
    }
  }
  return false;
}

// The line that every file of a session begins with.
Status check_session_line(std::string_view line, const Piece& piece) {
  const auto json = Json::parse(line, format::kMaxObjectLineBytes);
  if (!json || (*json)["type"].as_string() != "session") {
    return {Code::Corrupt, "it does not begin with a session line"};
  }
  const auto header = format::SessionHeader::from_json(*json);
  if (!header) return header.status();
  if (header->session_id != piece.session) {
    return {Code::Corrupt, "it is of another session"};
  }
  if (piece.kind != PieceKind::Window && piece.kind != PieceKind::Live) return {};
  if ((*json)["channel"].as_string() != format::to_string(piece.channel) ||
      (*json)["window"].as_integer() != static_cast<int64_t>(piece.number)) {
    return {Code::Corrupt, "it is another window"};
  }
  return {};
}

// The last of a session, in the window of one of its channels.
bool is_end_line(std::string_view line) { return line.starts_with("{\"type\":\"end\""); }

Status check_lines(Piece& piece) {
  Status first = {Code::Corrupt, "it is empty"};
  bool is_first = true;
  bool is_too_long = false;
  const bool is_window = piece.kind == PieceKind::Window;
  const auto on_line = [&](std::string_view line, const format::LinePlace&) {
    if (is_first) first = check_session_line(line, piece);
    is_first = false;
    piece.has_end = piece.has_end || (is_window && is_end_line(line));
    return first.is_ok();
  };
  const auto may_go_on = [&](uint64_t text) {
    is_too_long = text > kMostText;
    return !is_too_long;
  };
  const format::UnsealOutcome read =
      format::read_placed_lines(piece.blob->path(), {}, on_line, format::kMaxLineBytes, may_go_on);
  if (!read.status) return read.status;
  if (is_too_long) return {Code::LimitReached, "it holds too much text"};
  return first;
}

// A sum that no order changes: of rows, whatever batches they stand in, and of other lines.
class RowSum {
 public:
  void add(std::string_view line) {
    const format::KindSpec* kind = format::find_kind(format::line_type(line));
    if (kind == nullptr || !kind->is_batch()) return add_bytes(line.data(), line.size());
    format::Batch batch(kind->kind);
    format::DecodeStats stats;
    // What cannot be understood is carried over by whoever seals.
    if (!codec_.decode(line, batch, &stats) || stats.unknown_columns > 0) {
      return add_bytes(line.data(), line.size());
    }
    for (size_t row = 0; row < batch.rows(); ++row) {
      values_.assign(1, static_cast<int64_t>(kind->kind));
      for (size_t column = 0; column < kind->columns.size(); ++column) {
        if (!batch.has(column)) continue;
        values_.push_back(static_cast<int64_t>(column));
        values_.push_back(batch.at(column, row));
      }
      add_bytes(values_.data(), values_.size() * sizeof(int64_t));
    }
  }
  bool operator==(const RowSum& other) const { return sums_ == other.sums_; }

 private:
  void add_bytes(const void* bytes, size_t size) {
    for (size_t seed = 0; seed < 2; ++seed) sums_[seed] += base::xxh64(bytes, size, seed);
    ++sums_[2];
  }

  format::BatchCodec codec_;
  std::vector<int64_t> values_;
  std::array<uint64_t, 3> sums_{};
};

Status add_lines(const std::filesystem::path& file, RowSum& sum) {
  const format::UnsealOutcome read = format::read_window(file, [&](std::string_view line) {
    sum.add(line);
    return true;
  });
  if (read.torn) sum.add(read.tail);
  return read.status;
}

}  // namespace

std::string_view to_string(PieceKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<PieceKind> find_piece_kind(std::string_view name) {
  const auto* const found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return {};
  return static_cast<PieceKind>(found - kKindNames.begin());
}

std::string Piece::describe() const {
  std::string text(to_string(kind));
  if (kind == PieceKind::Module) return text + " " + hash;
  if (kind != PieceKind::Window && kind != PieceKind::Live) return text;
  return text + " " + std::string(format::to_string(channel)) + " " + std::to_string(number);
}

std::string Piece::place_name() const {
  const bool is_window = kind == PieceKind::Window || kind == PieceKind::Live;
  return std::to_string(workspace) + " " +
         blob_file_name(is_window ? PieceKind::Window : kind, channel, number, hash);
}

Outcome outcome_of(const Status& status) {
  const bool is_full = status.code() == Code::LimitReached;
  return {is_full ? Outcome::What::Full : Outcome::What::Failed, 0, status.message()};
}

bool is_session_id(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr size_t kDate = 8, kTime = 6, kBits = 16;
  const auto take = [&](size_t count, std::string_view allowed) {
    if (text.size() < count || !all_of(text.substr(0, count), allowed)) return false;
    text.remove_prefix(count);
    return true;
  };
  if (!take(kDate, kDigits) || !take(1, "T") || !take(kTime, kDigits)) return false;
  if (text.starts_with('.') && (!take(1, ".") || !take(6, kDigits))) return false;
  return take(1, "Z") && take(1, "-") && take(kBits, "0123456789abcdef") && text.empty();
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && all_of(text, "0123456789abcdef");
}

bool is_module_hash(std::string_view text) {
  return text.size() == 16 && all_of(text, "0123456789abcdef");
}

std::string blob_file_name(PieceKind kind, format::Channel channel, uint64_t number,
                           std::string_view hash) {
  switch (kind) {
    case PieceKind::Window: return format::sealed_file_name(channel, number);
    case PieceKind::Live: return format::raw_file_name(channel, number);
    case PieceKind::Manifest: return format::kManifestName;
    case PieceKind::Symbols: return format::kSymbolFileName;
    case PieceKind::Disassembly: return format::kDisassemblyFileName;
    case PieceKind::Module: break;
  }
  return std::string(format::kModuleFolder) + "/" + format::module_file_name(hash);
}

Status check_blob(Piece& piece) {
  if (!piece.told_sha256.empty() && piece.told_sha256 != piece.sha256) {
    return {Code::Corrupt, "its bytes have another SHA-256 than the sender said"};
  }
  if (piece.kind == PieceKind::Module) {
    return format::check_module(piece.blob->path(), piece.hash);
  }
  return check_lines(piece);
}

Status check_live_text(Piece& piece) {
  if (!piece.is_final && !piece.text.ends_with('\n')) {
    return {Code::Corrupt, "it does not consist of whole lines"};
  }
  std::string_view rest = piece.text;
  if (piece.offset == 0) {
    const Status first = check_session_line(rest.substr(0, rest.find('\n')), piece);
    if (!first) return first;
  }
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    if (line.size() > format::kMaxLineBytes) return {Code::LimitReached, "a line is too long"};
    if (!is_object(line)) return {Code::Corrupt, "a line of it is not an object"};
    piece.has_end = piece.has_end || is_end_line(line);
    rest.remove_prefix(end + 1);
  }
  return {};
}

base::Result<bool> has_same_rows(const std::filesystem::path& sealed,
                                 const std::filesystem::path& text) {
  RowSum of_sealed, of_text;
  if (Status read = add_lines(sealed, of_sealed); !read) return read;
  if (Status read = add_lines(text, of_text); !read) return read;
  return of_sealed == of_text;
}

}  // namespace gpufl::store
