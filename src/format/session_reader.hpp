// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/ledger.hpp"
#include "format/session_header.hpp"

// A session's folder, read: live, sealed or crashed, in any mixture. Survives anything on disk;
// what is wrong becomes a Problem and reading goes on. One thread per reader.
namespace gpufl::format {

struct Problem {
  enum class Kind : uint8_t {
    TornLine,
    BadLine,
    BadWindow,
    MissingWindow,
    HashMismatch,
    UnknownId,
    TimeOutOfRange,
    UnknownKind,
    UnknownColumn,
    NewerFormat,
    Oversized,
    ManifestMismatch,
    Unreadable,
  };
  Kind kind;
  std::string file;
  uint64_t line = 0;  // 1-based, 0: the whole file
  std::string text;
};
std::string_view to_string(Problem::Kind kind);
// Something newer that this version passes over: told, but no loss.
constexpr bool is_growth(const Problem& problem) {
  return problem.kind == Problem::Kind::UnknownKind || problem.kind == Problem::Kind::UnknownColumn;
}

struct WindowFile {
  Channel channel;
  uint64_t number = 0;  // window id within the channel
  std::filesystem::path path;
  enum class State : uint8_t { Sealed, Unsealed, Live, Missing, Deleted } state;
  // From the manifest, where it has a line for this window.
  uint64_t last_number = 0;  // of Deleted ones, which may be a range: inclusive
  bool in_manifest = false;
  uint64_t lines = 0, rows = 0, raw_bytes = 0, sealed_bytes = 0;
  int64_t first_ns = 0, last_ns = 0;
  std::string hash;
};

// The dictionaries of one file, as far as it has been read. An id means the same in every file of
// a session, but only the ids that a file uses are defined in it. find() is a bounds check and an
// index for ids as writers give them, so it may be called for every row.
class Dictionaries {
 public:
  // Null when `id` was not defined. Values of Config, Stack and Frame are JSON text.
  const std::string* find(Dict dict, int64_t id) const {
    const Table& table = tables_[static_cast<size_t>(dict)];
    const auto at = static_cast<uint64_t>(id);
    if (at < table.dense.size() && table.defined[at]) return &table.dense[at];
    return table.sparse.empty() ? nullptr : find_sparse(table, id);
  }
  std::string_view get(Dict dict, int64_t id, std::string_view fallback = "?") const {
    const std::string* value = find(dict, id);
    return value != nullptr ? std::string_view(*value) : fallback;
  }
  // False when `id` already stands for another value, which it then keeps.
  bool define(Dict dict, int64_t id, std::string value);
  void clear();

 private:
  struct Table {
    std::vector<std::string> dense;                   // by id
    std::vector<uint8_t> defined;                     // by id
    std::unordered_map<int64_t, std::string> sparse;  // ids out of proportion to the others
    size_t count = 0;
  };
  static const std::string* find_sparse(const Table& table, int64_t id);

  std::array<Table, kDictCount> tables_;
};

// Called by SessionReader::read. `session` lines come once per file, `dict` lines before the rows
// that need them, lines that later windows repeat only once.
struct Visitor {
  virtual ~Visitor() = default;
  uint64_t line = 0;  // set before each call: 1-based, within the window that on_window named
  virtual void on_batch(const Batch& /*batch*/, const Dictionaries& /*dictionaries*/) {}
  virtual void on_object(Kind /*kind*/, const base::Json& /*line*/) {}
  virtual void on_problem(const Problem& /*problem*/) {}
  virtual void on_window(const WindowFile& /*window*/) {}  // before its first line
  // After its last one; not for windows that are not there.
  virtual void on_window_end(const WindowFile& /*window*/, uint64_t /*lines*/) {}
};

class SessionReader {
 public:
  // NotFound when the folder is no session; Corrupt when no file of it has a readable session
  // line; TooNew for a newer major format.
  static base::Result<SessionReader> open(const std::filesystem::path& session_dir);

  const SessionHeader& header() const { return header_; }
  const std::filesystem::path& dir() const { return dir_; }
  // Every window in (channel, number) order; Missing ones are gaps in the numbering.
  const std::vector<WindowFile>& windows() const { return windows_; }
  // What open() found wrong with the folder as a whole; read() does not repeat it.
  const std::vector<Problem>& open_problems() const { return problems_; }
  bool is_live() const { return live_; }  // the recording process still runs (lock held)

  // Everything in file order. `wanted` empty: all kinds; else only those are decoded. A session
  // that is being written may have moved on since open(): files are found under their new names.
  // With more than one thread the others decode lines ahead; the visitor is told the same, in the
  // same order, by the calling thread.
  void read(Visitor& visitor, const std::vector<Kind>& wanted = {}, unsigned threads = 1) const;

 private:
  SessionReader() = default;

  std::filesystem::path dir_;
  SessionHeader header_;
  std::vector<WindowFile> windows_;
  std::vector<Problem> problems_;
  bool live_ = false;
};

// The session folders under `path`: itself, a run's, or a whole log folder's; sorted by name.
std::vector<std::filesystem::path> find_sessions(const std::filesystem::path& path);

}  // namespace gpufl::format
