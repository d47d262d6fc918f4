// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Sends what is on disk to a server, after shutdown(). The library itself uses no network: it runs
// the program `gpufl` that comes with it, and hands it the key through a pipe.
namespace gpufl {

// What is empty is as the environment says (GPUFL_BACKEND_URL, GPUFL_API_KEY, GPUFL_API_PATH), or
// as `gpufl login` has kept it.
struct UploadOptions {
  std::string log_path = "";     // a log folder or a session; empty: this process's last session
  std::string backend_url = "";  // "https://gpu.example.com"
  std::string api_key = "";
  std::string api_path = "";
  int total_timeout_ms = 300000;  // then it is ended, and the rest goes with the next upload
  int connect_timeout_ms = 10000;
  int read_timeout_ms = 30000;  // without a byte
  int max_retries = 1;          // in a row, where the server is busy or cannot be reached
  int retry_delay_ms = 1000;    // before the first; later ones, or as the server asks, are longer
  std::string cursor_filename = ".gpufl-upload-cursor.json";  // no effect: the server knows
  std::string session_id_filter = "";                         // only the session of this id
  bool all_sessions = false;     // else the newest in the folder, with those of its run
  bool force = false;            // also what the server has; it keeps one copy
  bool report_progress = false;  // say on stderr how far it is, at the two intervals
  int progress_log_interval_ms = 5000;
  int64_t progress_log_interval_bytes = 50 * 1024 * 1024;
};

struct UploadResult {
  bool success = false;                 // the server has all of it
  int64_t files_processed = 0;          // of which something was sent
  int64_t files_skipped_by_cursor = 0;  // the server had them
  int64_t events_uploaded = 0;          // rows in what was sent
  int64_t bytes_uploaded = 0;
  int64_t elapsed_ms = 0;
  std::vector<std::string> warnings;   // what went wrong, and what to do
  std::vector<std::string> spool_ids;  // sessions that are there altogether
};

#ifndef GPUFL_COMPILED_OUT

// Blocks until it is done, at most total_timeout_ms and ten seconds. Never throws or ends the
// process. Where gpufl is disabled: a success of 0 events, without a network. Any thread.
GPUFL_API UploadResult uploadLogs(const UploadOptions& options) noexcept;

#else

inline UploadResult uploadLogs(const UploadOptions&) noexcept {
  UploadResult result;
  result.success = true;
  return result;
}

#endif

}  // namespace gpufl
