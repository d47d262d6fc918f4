// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/tracing/call_notes.hpp"
#include "bench/log/kernel_rows.hpp"

// What CUPTI and its callbacks would have delivered for kernels like those of a recorded trace:
// full buffers of CUPTI 13.0's records, and the notes of the launches. Drawn without end, never the
// same twice; deterministic.
namespace gpufl::bench {

class RecordStream {
 public:
  explicit RecordStream(KernelRows rows);

  struct Round {
    std::vector<std::pair<backend::CallNote, uint32_t>> notes;  // and their threads
    std::vector<std::vector<uint64_t>> buffers;  // words, because records are aligned to 8 bytes
    int64_t first_ns = 0, last_ns = 0;           // session time
    struct Scope {
      int64_t thread, id, start_ns, end_ns;
    };
    std::vector<Scope> scopes;
  };
  // The next `kernels` launches, as a round of the collector finds them.
  void draw(size_t kernels, Round& out);

 private:
  struct Config {
    const char* name;
    int32_t grid[3], block[3], shared_static, shared_dynamic;
    uint16_t registers;
  };
  void read_configs();

  KernelRows rows_;
  std::deque<std::string> names_;  // what records point to
  std::vector<Config> configs_;    // by the trace's id
};

}  // namespace gpufl::bench
