// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"

// Which sessions a path means: it names one, a run's folder or a whole log folder. Of each session
// the header is read, once. One thread.
namespace gpufl::workbench {

// Where commands look for sessions when no path is given, and `gpufl trace` puts them.
inline constexpr const char* kDefaultLogs = "gpufl-logs";

struct FoundSession {
  std::filesystem::path dir;
  format::SessionHeader header;  // where it can be read
  base::Status status;           // else why not

  bool is_readable() const { return status.is_ok(); }
  // "DIR: why not".
  std::string problem() const { return dir.string() + ": " + status.message(); }
};

// Why there is no session at or below `path`. NotFound: the sentence says what is there instead;
// PermissionDenied: nobody knows.
base::Status no_session(const std::filesystem::path& path);
// The folders of all sessions at or below `path`, by name; none of them is looked into. At least
// one: otherwise no_session(path).
base::Result<std::vector<std::filesystem::path>> session_folders(const std::filesystem::path& path);

// `reader`: what SessionReader::open(dir) gave.
FoundSession describe(std::filesystem::path dir, const base::Result<format::SessionReader>& reader);
// Whether `a` is older than `b`: by their own word, for folders can be renamed. One that cannot be
// read is older than all others: when it began is not known.
bool is_older(const FoundSession& a, const FoundSession& b);
// Every session at or below `path`, oldest first, of one age by name. None where there is none.
std::vector<FoundSession> find_sessions(const std::filesystem::path& path);

// Whether these are several sessions, and all that can be read are of one run.
bool are_one_run(std::span<const FoundSession> sessions);
// Whether they are of a program that ran in several passes, which are one recording of it. A
// session that `path` itself names is meant alone.
bool are_of_passes(std::span<const FoundSession> sessions, const std::filesystem::path& path);
// Whether it only stands in for sessions that a run did not leave: `gpufl trace` writes such a one
// for a program that never used a GPU where it could be seen.
bool recorded_nothing(const FoundSession& session);
// The newest of `sessions`, which are in that order, with all others of its run where it has some.
// One that recorded nothing is taken only where all did so. They are taken out of `sessions`.
std::vector<FoundSession> take_newest(std::vector<FoundSession>& sessions);
// Leaves the first one of copies of a session. Returns a sentence for each that goes.
std::vector<std::string> leave_out_copies(std::vector<FoundSession>& sessions);

}  // namespace gpufl::workbench
