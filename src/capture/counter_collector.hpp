// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "format/batch.hpp"
#include "format/log_writer.hpp"

// Samples the process's counters into the log: a row whenever a value has changed, and before the
// first one a row with the value that the counter had when the session (or the counter) began. The
// collector's thread only; `log` outlives it.
namespace gpufl::capture {

class CounterCollector {
 public:
  // Remembers the values now: the session's baseline.
  explicit CounterCollector(format::LogWriter& log);

  // Session time. Call at most a few times a second, and once at the end.
  void sample(int64_t now_ns);
  uint64_t overflowed() const;  // since the session began

 private:
  struct Seen {
    int64_t log_id = 0;
    int64_t value = 0;
    bool in_log = false;
  };

  format::LogWriter& log_;
  uint64_t overflowed_before_;
  int64_t last_sample_ns_ = 0;
  std::vector<Seen> seen_;  // by counter id
  format::Batch rows_{format::Kind::Counter};
};

}  // namespace gpufl::capture
