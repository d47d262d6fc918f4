// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/ledger.hpp"
#include "format/limits.hpp"
#include "format/module_store.hpp"
#include "format/session_header.hpp"

// One session's folder, written: live files, dictionaries, rotation, sealing (on a thread of its
// own), manifest, disk limits, ledger. One thread writes (the collector); stats() may be called
// from any. Nothing here throws; when the disk refuses, rows are dropped and counted.
namespace gpufl::format {

enum class SpoolPolicy : uint8_t {
  DropNew,     // keep the beginning: a trace
  DropOldest,  // delete the oldest sealed windows: a monitor that runs for ever
};

struct LogOptions {
  std::filesystem::path session_dir;
  uint64_t window_bytes = uint64_t{64} << 20;  // raw size at which a live file is sealed
  int64_t window_age_ns = int64_t{600} * 1'000'000'000;
  uint64_t spool_bytes = uint64_t{8} << 30;         // cap for the session's folder; 0: none
  uint64_t disk_floor_bytes = uint64_t{512} << 20;  // free space below which nothing is written
  uint64_t module_bytes = kMaxModuleBytes;          // cap for images of code, as they were loaded
  int64_t keep_last_ns = 0;                         // flight recorder; 0: keep all
  SpoolPolicy on_full = SpoolPolicy::DropNew;
  bool fsync_always = false;
};

class LogWriter {
 public:
  // Makes the folder and writes the first lines. Fails when the folder cannot be made.
  static base::Result<std::unique_ptr<LogWriter>> create(LogOptions options,
                                                         const SessionHeader& header);
  virtual ~LogWriter() = default;

  // The id of a value in a dictionary; the same value gives the same id for the whole session. The
  // definition is written to each file before its first use there. For Config, Stack and Frame
  // `value` is the text of a JSON object (SPEC.md, "Dictionaries"). Ids count from 1: 0 in a column
  // means "none". When a dictionary is full (it is bounded) the id of "<overflow>".
  virtual int64_t intern(Dict dict, std::string_view value) = 0;

  // Encodes and buffers; reaches the file at the next flush().
  virtual void write(const Batch& batch) = 0;
  // One object line; `fields` without "type".
  virtual void write(Kind kind, const base::Json& fields, Channel channel = Channel::System) = 0;

  // Keeps an image of code as a file of the session, once, and writes its `module` line when it is
  // there. Copies it. False: too much waits already, offer it again.
  virtual bool keep_module(int64_t time_ns, const CodeImage& image) = 0;

  // One write() per channel with something buffered. Then rotates what is due, enforces the spool
  // cap, the disk floor and keep_last. `now_ns` is session time. Cheap when there is nothing to do.
  virtual base::Status flush(int64_t now_ns) = 0;

  // What has been written and dropped so far; part of the ledger.
  virtual WriterCounts counts() const = 0;

  // Writes ledger and end, flushes, seals every live file, waits for the sealer. Idempotent.
  virtual base::Status close(int64_t now_ns, const Ledger& ledger) = 0;
  // After fork(), in the child: forgets everything, touches no file.
  virtual void abandon() = 0;
};

}  // namespace gpufl::format
