// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/ledger.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"

// Whether a session can be believed: every window, line, hash, dictionary reference and time is
// checked, and what was read is compared with what the manifest and the ledger say was written. So
// are session lines with each other, and files beside the log with the log.
namespace gpufl::format {

enum class Verdict : uint8_t {
  Complete,    // everything that was recorded is there and right
  NotProven,   // likewise, but nobody counted what should have been recorded
  Live,        // still being written, and nothing is missing or wrong so far
  Losses,      // readable, but something is missing or wrong
  Unreadable,  // nothing can be said of its contents
};
std::string_view to_string(Verdict verdict);  // "complete", "not proven", ...

struct WindowCount {
  uint64_t sealed = 0, unsealed = 0, live = 0, missing = 0, deleted = 0;
};

struct VerifyResult {
  std::filesystem::path dir;
  Verdict verdict = Verdict::Unreadable;
  base::Status status;  // why it is unreadable
  std::optional<SessionHeader> header;
  bool live = false;   // the recording process still runs
  bool ended = false;  // there is an `end` line
  std::optional<Ledger> ledger;
  WindowCount windows;
  std::map<std::string, uint64_t> rows;      // by kind, as read; object lines count one
  std::map<std::string, uint64_t> problems;  // by kind of problem
  std::vector<Problem> first_problems;       // at most kMaxListedProblems
  std::vector<std::string> reasons;          // one sentence for each reason not to be Complete
  uint64_t rows_deleted = 0;                 // by keep_last or a full spool
  int64_t last_ns = 0;                       // newest time seen
  uint64_t native_frames = 0;                // of stacks of the program
  std::optional<uint64_t> named_frames;      // by symbols.ndjson; none: there is no such file

  base::Json to_json() const;
};
inline constexpr size_t kMaxListedProblems = 100;

VerifyResult verify_session(const std::filesystem::path& session_dir);

}  // namespace gpufl::format
