// SPDX-License-Identifier: Apache-2.0
#include "server/session_stamp.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "format/session_scan.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;  // a session has folders of images, and they have none

}  // namespace

std::string files_stamp(const fs::path& session) {
  std::vector<std::string> lines;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(session, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    struct stat info{};
    if (::lstat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    lines.push_back(fmt::format("{} {} {}.{}", entry->path().lexically_relative(session).string(),
                                info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

SessionStamp stamp_of(const fs::path& session) {
  SessionStamp stamp{files_stamp(session), 0};
  uint64_t sealed_bytes = 0, sealed_rows = 0, deleted_rows = 0;
  for (const format::WindowFile& window : format::scan_session(session).windows) {
    if (window.state == format::WindowFile::State::Deleted) {
      deleted_rows += window.rows;
    } else if (window.in_manifest) {
      sealed_bytes += window.raw_bytes;
      sealed_rows += window.rows;
    } else {
      std::error_code error;
      const auto bytes = fs::file_size(window.path, error);
      if (!error) stamp.log_bytes += bytes;
    }
  }
  const double bytes_per_row =
      sealed_rows == 0 ? 0 : static_cast<double>(sealed_bytes) / static_cast<double>(sealed_rows);
  stamp.log_bytes += sealed_bytes;
  stamp.log_bytes += static_cast<uint64_t>(static_cast<double>(deleted_rows) * bytes_per_row);
  return stamp;
}

}  // namespace gpufl::server
