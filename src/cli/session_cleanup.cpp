// SPDX-License-Identifier: Apache-2.0
#include "cli/session_cleanup.hpp"

#include <algorithm>
#include <system_error>

#include "format/session_reader.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

struct EndedSession {
  fs::path dir;
  uint64_t bytes = 0;
};

uint64_t bytes_in(const fs::path& dir) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    const uint64_t size = it->file_size(unreadable);
    if (!unreadable) bytes += size;
  }
  return bytes;
}

// Oldest first: session ids begin with their time.
std::vector<EndedSession> ended_sessions(const fs::path& folder, std::string_view name) {
  std::vector<EndedSession> sessions;
  for (const fs::path& dir : format::find_sessions(folder)) {
    const auto reader = format::SessionReader::open(dir);
    if (!reader || reader->is_live() || reader->header().app_name != name) continue;
    sessions.push_back({dir, bytes_in(dir)});
  }
  std::sort(sessions.begin(), sessions.end(),
            [](const auto& a, const auto& b) { return a.dir.filename() < b.dir.filename(); });
  return sessions;
}

}  // namespace

std::vector<fs::path> delete_old_sessions(const fs::path& folder, std::string_view name,
                                          uint64_t keep_bytes) {
  std::vector<fs::path> deleted;
  const std::vector<EndedSession> sessions = ended_sessions(folder, name);
  uint64_t total = 0;
  for (const EndedSession& session : sessions) total += session.bytes;
  for (const EndedSession& session : sessions) {
    if (total <= keep_bytes) break;
    std::error_code error;
    fs::remove_all(session.dir, error);
    if (error) continue;
    total -= session.bytes;
    deleted.push_back(session.dir);
  }
  return deleted;
}

}  // namespace gpufl::cli
