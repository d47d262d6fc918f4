// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How a test plays counters by instruction: what the library's function cupti_standin_counting()
// returns. As on the H200 (CUPTI 13.0) a GPU that was configured once is never configured again,
// there is one record for each metric of an instruction, and what runs beside kernel records is not
// counted, without an error. Any thread.
namespace gpufl::standin {

struct CountedInstruction {
  const char* function = "kernel";
  uint32_t module = 0xc0de, pc = 0x10;
  const char* metric = "smsp__sass_inst_executed";
  uint64_t value = 1;  // of each kernel that runs
};

struct CuptiStandinCounting {
  void (*reset)();
  void (*set_instructions)(const CountedInstruction* instructions, uint32_t count);
  uint32_t (*enabled)();                  // contexts
  uint32_t (*configured)();               // GPUs
  uint32_t (*metrics)();                  // of the last configuration
  void (*lose_metric)(const char* name);  // the GPU does not have it; null: it has all
  // From now on cuptiSassMetricsFlushData does not return until hang(false).
  void (*hang)(bool hangs);
};

using CuptiStandinCountingFunction = const CuptiStandinCounting*();

}  // namespace gpufl::standin
