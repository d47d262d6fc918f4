// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/log_writer.hpp"
#include "import/python_stacks.hpp"
#include "import/row_batches.hpp"
#include "import/thread_spans.hpp"
#include "import/trace.hpp"

// The rows of a trace, written to a log: work joined with the API calls behind it, calls with the
// scopes and stacks they were made in. Used once; one thread.
namespace gpufl::importing {

struct WorkColumns;

class SessionRows {
 public:
  // Both must outlive it. `origin_ns` is the trace's time at which the session's begins.
  SessionRows(Trace& trace, format::LogWriter& log, int64_t origin_ns)
      : trace_(trace),
        log_(log),
        origin_(origin_ns),
        rows_(log),
        scopes_(trace.scopes),
        python_(trace.python),
        stacks_(trace, python_, log) {}

  // Sorts the trace's rows. `end_ns`: session time of the last.
  base::Status write(int64_t end_ns);

 private:
  int64_t name(uint32_t number);
  int64_t config(uint32_t number);
  void index_calls();
  const Call* claim(int64_t correlation);
  void put_caller(Row& row, const WorkColumns& columns, int64_t thread, int64_t time);
  void put_call(Row& row, const WorkColumns& columns, const Call& call);
  void put_lane(Row& row, const WorkColumns& columns, const Work& work);
  const Call* put_work(Row& row, const WorkColumns& columns, const Work& work);
  base::Status write_kernels();
  base::Status write_copies();
  base::Status write_fills();
  base::Status write_waits();
  base::Status write_allocations();
  base::Status write_graphs();
  base::Status write_calls();
  base::Status write_scopes();
  base::Status write_markers();

  Trace& trace_;
  format::LogWriter& log_;
  const int64_t origin_;
  RowBatches rows_;
  const ThreadSpans scopes_, python_;
  PythonStacks stacks_;
  // And number of the call; those that no one call has are left out.
  std::vector<std::pair<int64_t, uint32_t>> by_correlation_;
  std::vector<bool> is_claimed_;                // by the number of the call
  std::vector<int64_t> name_ids_, config_ids_;  // 0: not interned yet
};

}  // namespace gpufl::importing
