// SPDX-License-Identifier: Apache-2.0
#include "workbench/find_sessions.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "analysis/session/passes.hpp"
#include "analysis/session/session_copies.hpp"
#include "format/event_names.hpp"
#include "import/file_type.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;

// What to do with a file of which somebody thought that it is a session.
std::string advice_on(const fs::path& file) {
  using importing::FileType;
  const FileType type = importing::file_type(file);
  if (type == FileType::NsightReport) {
    return "it is not a session but a report of Nsight Systems: nsys export --type sqlite " +
           file.string() + ", then gpufl import";
  }
  const bool is_of_session = file.extension() == ".ndjson" || file.extension() == ".log";
  if (type == FileType::Unknown || is_of_session) return "it is a file, and a session is a folder";
  return "it is not a session but looks like a trace: gpufl import " + file.string() +
         " --output gpufl-logs turns it into a session";
}

// Looks for the event of a session that stands in for others.
struct StandInSearch final : format::Visitor {
  bool is_stand_in = false;

  void on_object(format::Kind /*kind*/, const base::Json& line) override {
    is_stand_in = is_done = line["name"].as_string() == format::kNoSessionLeft;
  }
};

}  // namespace

base::Status no_session(const fs::path& path) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  if (error == std::errc::permission_denied) {
    return {base::Code::PermissionDenied, path.string() + ": Permission denied"};
  }
  std::string reason = "there is no session in it";
  if (error == std::errc::no_such_file_or_directory) reason = "there is no such file or folder";
  if (error == std::errc::not_a_directory) {
    reason = advice_on(path);
  } else if (path == kDefaultLogs) {
    reason += "; record a session with: gpufl trace -- PROGRAM";
  }
  return {base::Code::NotFound, path.string() + ": " + reason};
}

base::Result<std::vector<fs::path>> session_folders(const fs::path& path) {
  std::vector<fs::path> folders = format::find_sessions(path);
  if (folders.empty()) return no_session(path);
  return folders;
}

FoundSession describe(fs::path dir, const base::Result<format::SessionReader>& reader) {
  if (!reader) return {std::move(dir), {}, reader.status()};
  return {std::move(dir), reader->header(), {}};
}

bool is_older(const FoundSession& a, const FoundSession& b) {
  const auto began = [](const FoundSession& session) {
    return session.is_readable() ? std::optional(session.header.start_wall_ns) : std::nullopt;
  };
  return began(a) < began(b);
}

std::vector<FoundSession> find_sessions(const fs::path& path) {
  std::vector<FoundSession> sessions;
  for (const fs::path& dir : format::find_sessions(path)) {
    sessions.push_back(describe(dir, format::SessionReader::open(dir)));
  }
  std::sort(sessions.begin(), sessions.end(), [](const FoundSession& a, const FoundSession& b) {
    return std::tuple(a.dir.filename(), a.dir) < std::tuple(b.dir.filename(), b.dir);
  });
  std::stable_sort(sessions.begin(), sessions.end(), is_older);
  return sessions;
}

bool are_one_run(std::span<const FoundSession> sessions) {
  if (sessions.size() < 2) return false;
  std::string_view run_id;
  for (const FoundSession& session : sessions) {
    if (!session.is_readable()) continue;
    if (!run_id.empty() && session.header.run_id != run_id) return false;
    run_id = session.header.run_id;
  }
  return !run_id.empty();
}

bool are_of_passes(std::span<const FoundSession> sessions, const fs::path& path) {
  if (sessions.size() == 1 && sessions.front().dir == path) return false;
  return std::any_of(sessions.begin(), sessions.end(), [](const FoundSession& session) {
    return session.is_readable() && analysis::is_pass(session.header);
  });
}

bool recorded_nothing(const FoundSession& session) {
  // What stands in for others has no engine and no backend; only of such a one the log is read.
  if (!session.is_readable() || session.header.engine != "Monitor" ||
      session.header.backend != "none") {
    return false;
  }
  const auto reader = format::SessionReader::open(session.dir);
  if (!reader) return false;
  StandInSearch search;
  reader->read(search, {format::Kind::Event});
  return search.is_stand_in;
}

std::vector<FoundSession> take_newest(std::vector<FoundSession>& sessions) {
  auto chosen = sessions.end() - 1;
  for (auto it = sessions.end(); it != sessions.begin();) {
    --it;
    if (!it->is_readable()) break;  // and so are all before it
    if (recorded_nothing(*it)) continue;
    chosen = it;
    break;
  }
  const fs::path folder = chosen->dir.parent_path();
  const auto is_beside = [&](const FoundSession& session) {
    return session.dir.parent_path() == folder;
  };
  std::vector<FoundSession> newest;
  std::copy_if(sessions.begin(), sessions.end(), std::back_inserter(newest), is_beside);
  if (are_one_run(newest)) {
    std::erase_if(sessions, is_beside);
  } else {
    newest = {std::move(*chosen)};
    sessions.erase(chosen);
  }
  return newest;
}

std::vector<std::string> leave_out_copies(std::vector<FoundSession>& sessions) {
  analysis::SessionCopies copies;
  std::erase_if(sessions, [&](const FoundSession& session) {
    return session.is_readable() && copies.is_copy(session.header, session.dir);
  });
  return copies.notes();
}

}  // namespace gpufl::workbench
