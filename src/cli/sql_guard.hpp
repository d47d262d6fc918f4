// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/status.hpp"
#include "cli/stop_signals.hpp"
#include "workbench/query.hpp"

// What ends `gpufl sql` before it has an answer: a signal, too much memory, a reader that has gone.
// Where DuckDB does not listen, this process ends at once, and no unfinished file stays. Make it
// before any thread starts; the request outlives it.
namespace gpufl::cli {

class SqlGuard {
 public:
  // Has the query ask it.
  SqlGuard(const char* command, workbench::QueryRequest& request);
  SqlGuard(const SqlGuard&) = delete;
  SqlGuard& operator=(const SqlGuard&) = delete;

  // Of a query that failed. Good where it did so because its reader has seen enough.
  int exit_code_of(const base::Status& failure) const;

 private:
  base::Status check();
  [[noreturn]] void end_process(const base::Status& why) const;

  const char* const command_;
  const workbench::QueryRequest& request_;
  const bool is_to_stdout_;
  const StopSignals signals_;
  std::atomic<int> stopped_by_ = 0;
};

}  // namespace gpufl::cli
