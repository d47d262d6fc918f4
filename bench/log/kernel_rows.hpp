// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/batch.hpp"

// Rows like those of a recorded trace, without end and never the same twice: the sequence of
// kernels is the trace's; how long the call took, when it came, how soon the kernel ran and how
// long are those of a random kernel of the same configuration, each shaken. Deterministic.
namespace gpufl::bench {

class KernelRows {
 public:
  // `trace`: what data/extract_trace.py makes.
  static base::Result<KernelRows> load(const std::filesystem::path& trace);

  // The trace as it was recorded.
  const format::Batch& recorded() const { return recorded_; }
  // Its dictionary lines: what rows refer to.
  const std::vector<std::string>& dictionary_lines() const { return dictionary_lines_; }

  // The next rows, every time they are asked for.
  format::Batch draw(size_t count);

 private:
  struct Timing {
    int64_t call_gap_ns;  // from the end of the call before
    int64_t call_ns;
    int64_t latency_ns;  // from the call's end to the kernel's start
    int64_t kernel_ns;
  };

  KernelRows() : recorded_(format::Kind::Kernel) {}
  void prepare();
  uint64_t random();
  int64_t shaken(int64_t value);
  int64_t stamp(int64_t tick);

  format::Batch recorded_;
  std::vector<std::string> dictionary_lines_;
  std::vector<Timing> timings_;  // one per recorded row
  std::vector<std::vector<uint32_t>> rows_of_config_;
  uint64_t random_state_ = 1;
  size_t next_ = 0;
  int64_t call_end_ns_ = 1'000'000;
  int64_t gpu_free_tick_ = 0;
  int64_t correlation_ = 0;
  int64_t scope_ = 1;
};

}  // namespace gpufl::bench
