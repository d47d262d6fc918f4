// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "format/append_file.hpp"
#include "format/batch_codec.hpp"
#include "format/dictionary.hpp"
#include "format/log_writer_archive.hpp"
#include "format/schema.hpp"

// The live file of one channel and the lines that wait for it. The file is made with the first
// lines that reach it and closed by rotate(). One thread: the one that writes the log.
namespace gpufl::format {

using KindCounts = std::array<uint64_t, kKindCount>;

class LogChannel {
 public:
  // `header` is the session line, without "channel" and "window".
  LogChannel(Channel channel, std::filesystem::path dir, const base::Json& header);

  // Buffer a batch, with the definitions that the file still lacks, or one object line (complete
  // but for its newline).
  void add(const Batch& batch, const DictionaryTable& table, BatchCodec& codec);
  void add(Kind kind, std::string_view line);
  // A line that every later file of the channel repeats, marked, behind its session line.
  void repeat(const base::Json& line);

  size_t buffered_bytes() const { return buffer_.size(); }
  uint64_t file_bytes() const { return file_.is_open() ? file_.size() : 0; }
  const KindCounts& buffered_rows() const { return buffered_rows_; }
  bool has_file() const { return file_.is_open(); }
  bool is_torn() const { return file_.is_torn(); }
  int64_t opened_ns() const { return opened_ns_; }

  // The buffer to the file, which is made first when there is none. 0 or an errno; after an error
  // the buffer is still there: discard() it.
  int flush(int64_t now_ns);
  void discard();
  // Leaves the object lines in the buffer; returns the rows of batches that are gone.
  uint64_t discard_batches();
  // Lines of the log's own, past the buffer. 0 or an errno.
  int append_now(std::string_view lines, int64_t now_ns);
  void count_pause() { ++pauses_; }
  int sync() { return file_.is_open() ? file_.sync() : 0; }

  // Closes the file under its window's name; the buffer must be empty. Nothing when there is no
  // file or renaming fails; with ENOENT the file has been taken away, `lost_rows` is what went with
  // it.
  std::optional<ClosedWindow> rotate(int64_t now_ns, KindCounts& lost_rows);
  // Closes the descriptor, no more.
  void abandon() { file_.close(); }

 private:
  int open(int64_t now_ns, std::string_view lines);
  void forget_file();

  const Channel channel_;
  const std::filesystem::path dir_;
  const base::Json header_;
  uint64_t window_;
  AppendFile file_;
  int64_t opened_ns_ = 0;
  std::string buffer_;
  std::string object_lines_;  // those of the buffer, again
  std::string repeated_;
  FileDefinitions definitions_;
  KindCounts buffered_rows_{};
  KindCounts file_rows_{};
  uint64_t pauses_ = 0;  // in the file
};

// Of batches only.
uint64_t batch_rows(const KindCounts& rows);

}  // namespace gpufl::format
