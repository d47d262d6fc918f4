// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/dictionaries.hpp"
#include "format/ledger.hpp"
#include "format/problem.hpp"
#include "format/session_header.hpp"
#include "format/window_file.hpp"

// A session's folder, read: live, sealed or crashed, in any mixture. Survives anything on disk;
// what is wrong becomes a Problem and reading goes on. One thread per reader.
namespace gpufl::format {

// Called by SessionReader::read. `session` lines come once per file, `dict` lines before the rows
// that need them, lines that later windows repeat only once.
struct Visitor {
  virtual ~Visitor() = default;
  uint64_t line = 0;     // set before each call: 1-based, within the window that on_window named
  bool is_done = false;  // set by the visitor: nothing more is read
  virtual void on_batch(const Batch& /*batch*/, const Dictionaries& /*dictionaries*/) {}
  // Asked before a window is opened, and of each line of a batch before it is decoded: false leaves
  // it out, and nothing else is told of it.
  virtual bool wants_window(const WindowFile& /*window*/) { return true; }
  virtual bool wants_batch(Kind /*kind*/, std::string_view /*line*/) { return true; }
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
