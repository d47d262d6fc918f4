// SPDX-License-Identifier: Apache-2.0
#include "format/session_reader.hpp"

#include <algorithm>
#include <bitset>

#include "format/batch_codec.hpp"
#include "format/decode_ahead.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/session_scan.hpp"
#include "format/told_again.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr int kScanAttempts = 3;  // of a folder that changes under the reader's eyes
constexpr int kFolderDepth = 3;   // log folder, run, session

bool has_gap(const SessionScan& scan) {
  return std::any_of(scan.windows.begin(), scan.windows.end(), [](const WindowFile& window) {
    return window.state == WindowFile::State::Missing;
  });
}

// One pass over a session: what lives across windows, and the handling of one window's lines.
class Pass {
 public:
  Pass(Visitor& visitor, const SessionHeader& header, const std::vector<Kind>& wanted,
       unsigned threads)
      : visitor_(visitor), header_(header), ahead_(std::max(threads, 1U) - 1) {
    for (const Kind kind : wanted) wanted_.set(static_cast<size_t>(kind));
    if (wanted.empty()) wanted_.set();
  }

  void read(const fs::path& dir, const WindowFile& window);

 private:
  enum class Outcome : uint8_t { Read, NotThere, OtherWindow };
  Outcome read_file(const WindowFile& window, const fs::path& path);
  bool on_line(std::string_view text);
  bool on_first_line(std::string_view text);
  void tell_oldest_batch();
  void tell_batches();
  void on_object(Kind kind, std::string_view text);
  void define(const Json& line);
  void problem(Problem::Kind kind, std::string text) {
    visitor_.on_problem({kind, file_, visitor_.line, std::move(text)});
  }
  void file_problem(Problem::Kind kind, std::string text) {
    visitor_.line = 0;
    problem(kind, std::move(text));
  }

  Visitor& visitor_;
  const SessionHeader& header_;
  std::bitset<kKindCount> wanted_;
  DecodeAhead ahead_;  // batches that the visitor has not been told yet
  FirstTold first_told_;
  Dictionaries dictionaries_;

  std::string file_;
  uint64_t lines_ = 0;  // of it, so far
  const WindowFile* window_ = nullptr;
  bool other_window_ = false;
  uint64_t unknown_lines_ = 0;
  std::string unknown_type_;
  DecodeStats decode_stats_;
};

void Pass::read(const fs::path& dir, const WindowFile& window) {
  if (window.state == WindowFile::State::Missing || window.state == WindowFile::State::Deleted) {
    file_.clear();
    visitor_.line = 0;
    visitor_.on_window(window);
    return;
  }
  if (read_file(window, window.path) == Outcome::Read) return;
  // The writer went on since the folder was listed.
  for (const std::string& name : {raw_file_name(window.channel, window.number),
                                  sealed_file_name(window.channel, window.number)}) {
    if (read_file(window, dir / name) == Outcome::Read) return;
  }
  file_ = window.path.filename().string();
  file_problem(Problem::Kind::MissingWindow, "it was deleted while the session was being read");
}

Pass::Outcome Pass::read_file(const WindowFile& window, const fs::path& path) {
  dictionaries_.clear();
  file_ = path.filename().string();
  window_ = &window;
  other_window_ = false;
  lines_ = 0;
  unknown_lines_ = 0;
  decode_stats_ = {};
  visitor_.line = 0;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return Outcome::NotThere;
  const UnsealOutcome outcome = read_window(
      path, [this](std::string_view text) { return !visitor_.is_done && on_line(text); },
      kMaxLineBytes);
  if (other_window_) return Outcome::OtherWindow;
  tell_batches();
  visitor_.line = lines_;
  if (lines_ == 0) {
    visitor_.on_window(window);
    // A live file may have been made a moment ago; a closed one had its session line.
    if (window.state != WindowFile::State::Live && outcome.status.is_ok() && !outcome.torn) {
      problem(Problem::Kind::BadWindow, "it is empty");
    }
  }
  if (outcome.torn) problem(Problem::Kind::TornLine, "the last line is torn");
  if (outcome.oversized > 0) {
    file_problem(Problem::Kind::Oversized, std::to_string(outcome.oversized) + " lines too long");
  }
  if (unknown_lines_ > 0) {
    file_problem(Problem::Kind::UnknownKind, std::to_string(unknown_lines_) +
                                                 " lines of unknown kinds, the first \"" +
                                                 unknown_type_ + "\"");
  }
  if (decode_stats_.unknown_columns > 0) {
    file_problem(Problem::Kind::UnknownColumn,
                 std::to_string(decode_stats_.unknown_columns) + " unknown columns");
  }
  if (!outcome.status.is_ok()) {
    file_problem(Problem::Kind::BadWindow, outcome.status.message());
  }
  visitor_.on_window_end(window, outcome.lines);
  return Outcome::Read;
}

bool Pass::on_line(std::string_view text) {
  ++lines_;
  const std::string_view type = line_type(text);
  const KindSpec* kind = find_kind(type);
  if (lines_ != 1 && kind != nullptr && kind->is_batch()) {
    if (!wanted_.test(static_cast<size_t>(kind->kind))) return true;
    if (!visitor_.wants_batch(kind->kind, text)) return true;
    if (ahead_.full()) tell_oldest_batch();
    ahead_.put(kind->kind, lines_, text);
    return true;
  }
  tell_batches();
  visitor_.line = lines_;
  if (lines_ == 1) return on_first_line(text);
  if (kind == nullptr) {
    if (type.empty()) {
      problem(Problem::Kind::BadLine, "not a line of a log");
    } else if (unknown_lines_++ == 0) {
      unknown_type_ = type;
    }
    return true;
  }
  if (kind->kind != Kind::Dict && !wanted_.test(static_cast<size_t>(kind->kind))) return true;
  on_object(kind->kind, text);
  return true;
}

bool Pass::on_first_line(std::string_view text) {
  const auto line = Json::parse(text, kMaxObjectLineBytes);
  const int64_t told = line ? (*line)["window"].as_integer(0) : 0;
  if (window_->state == WindowFile::State::Live && told > 0 &&
      static_cast<uint64_t>(told) != window_->number) {
    other_window_ = true;
    return false;
  }
  visitor_.line = 0;
  visitor_.on_window(*window_);
  visitor_.line = 1;
  const auto header =
      line ? SessionHeader::from_json(*line) : base::Result<SessionHeader>(line.status());
  if (!header) {
    if (header.status().code() == base::Code::TooNew) {
      problem(Problem::Kind::NewerFormat, header.status().message());
      return false;
    }
    problem(Problem::Kind::BadLine, header.status().message());
    return true;
  }
  if (header->session_id != header_.session_id) {
    problem(Problem::Kind::BadWindow, "it is a file of session " + header->session_id);
    return false;
  }
  if (wanted_.test(static_cast<size_t>(Kind::Session))) visitor_.on_object(Kind::Session, *line);
  return true;
}

void Pass::tell_oldest_batch() {
  const DecodeAhead::Line& line = ahead_.take();
  visitor_.line = line.number;
  decode_stats_.unknown_columns += line.stats.unknown_columns;
  if (!line.status.is_ok()) return problem(Problem::Kind::BadLine, line.status.message());
  visitor_.on_batch(*line.batch, dictionaries_);
}

void Pass::tell_batches() {
  while (!ahead_.empty()) tell_oldest_batch();
}

void Pass::on_object(Kind kind, std::string_view text) {
  auto line = Json::parse(text, kMaxObjectLineBytes);
  if (!line || !line->is_object()) {
    return problem(Problem::Kind::BadLine, line ? "not an object" : line.status().message());
  }
  if (kind == Kind::Dict) {
    define(*line);
    if (!wanted_.test(static_cast<size_t>(Kind::Dict))) return;
  }
  if (const auto told = first_told_.take(kind, std::move(*line))) visitor_.on_object(kind, *told);
}

void Pass::define(const Json& line) {
  const base::Status status = dictionaries_.define(line);
  if (status.code() == base::Code::NotFound) {
    if (unknown_lines_++ == 0) unknown_type_ = status.message();
  } else if (!status) {
    problem(Problem::Kind::BadLine, status.message());
  }
}

void find_sessions_below(const fs::path& path, int depth, std::vector<fs::path>& found) {
  const bool is_session = is_session_folder(path);
  const size_t found_before = found.size();
  std::error_code error;
  const bool has_manifest = is_session && fs::exists(path / kManifestName, error);
  fs::directory_iterator entry;
  if (depth > 0 && !has_manifest) entry = fs::directory_iterator(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    // A link could lead anywhere, and round in circles; whoever means its target names it.
    std::error_code type_error;
    if (entry->is_directory(type_error) && !entry->is_symlink(type_error)) {
      find_sessions_below(entry->path(), depth - 1, found);
    }
  }
  // A `device.log` beside folders of sessions is not a session's, and hides none of them.
  if (is_session && found.size() == found_before) found.push_back(path);
}

}  // namespace

std::string_view to_string(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::TornLine: return "torn_line";
    case Problem::Kind::BadLine: return "bad_line";
    case Problem::Kind::BadWindow: return "bad_window";
    case Problem::Kind::MissingWindow: return "missing_window";
    case Problem::Kind::HashMismatch: return "hash_mismatch";
    case Problem::Kind::UnknownId: return "unknown_id";
    case Problem::Kind::TimeOutOfRange: return "time_out_of_range";
    case Problem::Kind::UnknownKind: return "unknown_kind";
    case Problem::Kind::UnknownColumn: return "unknown_column";
    case Problem::Kind::NewerFormat: return "newer_format";
    case Problem::Kind::Oversized: return "oversized";
    case Problem::Kind::ManifestMismatch: return "manifest_mismatch";
    case Problem::Kind::Unreadable: return "unreadable";
  }
  return "?";
}

base::Result<SessionReader> SessionReader::open(const fs::path& session_dir) {
  SessionReader reader;
  reader.dir_ = session_dir;
  reader.live_ = is_locked(session_dir);
  SessionScan scan = scan_session(session_dir);
  for (int attempt = 1; attempt < kScanAttempts && reader.live_ && has_gap(scan); ++attempt) {
    scan = scan_session(session_dir);
  }
  if (!scan.is_session) {
    return base::Status(base::Code::NotFound, session_dir.string() + " is not a session");
  }
  // Any file will do; the manifest's own line is the nearest.
  base::Status reason(base::Code::Corrupt,
                      session_dir.string() + " has no file with a readable session line");
  const auto take = [&](const std::optional<Json>& line) {
    if (!line) return false;
    auto header = SessionHeader::from_json(*line);
    if (header) {
      reader.header_ = std::move(*header);
      return true;
    }
    if (header.status().code() == base::Code::TooNew) reason = header.status();
    return false;
  };
  bool found = take(scan.session_line);
  for (const WindowFile& window : scan.windows) {
    if (found) break;
    if (!window.path.empty()) found = take(first_line(window.path));
  }
  if (!found) return reason;
  reader.windows_ = std::move(scan.windows);
  reader.problems_ = std::move(scan.problems);
  return reader;
}

void SessionReader::read(Visitor& visitor, const std::vector<Kind>& wanted,
                         unsigned threads) const {
  Pass pass(visitor, header_, wanted, threads);
  for (const WindowFile& window : windows_) {
    if (visitor.is_done) return;
    if (!visitor.wants_window(window)) continue;
    pass.read(dir_, window);
  }
}

std::vector<fs::path> find_sessions(const fs::path& path) {
  std::vector<fs::path> found;
  find_sessions_below(path, kFolderDepth, found);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace gpufl::format
