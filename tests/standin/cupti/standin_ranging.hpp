// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How a test plays hardware counters of ranges: what the library's function cupti_standin_ranging()
// returns. As on the H200 (CUPTI 13.0) calls are refused out of order, nothing can be asked before
// cuptiProfilerInitialize, a set of metrics takes as many passes as the hardware needs for it, each
// of them between a start and a stop, and what runs beside kernel records is counted 1.8 times. A
// call that begins or ends something hangs while a launch is under way. Any thread.
namespace gpufl::standin {

struct RangedMetric {
  const char* name = "smsp__inst_executed.sum";
  double value = 1;     // of each kernel that runs
  uint32_t passes = 1;  // that it takes alone
};

struct CuptiStandinRanging {
  void (*reset)();
  // Those that the GPU has. So many of one pass are counted in the same one.
  void (*set_metrics)(const RangedMetric* metrics, uint32_t count, uint32_t together);
  uint32_t (*enabled)();    // contexts
  uint32_t (*started)();    // ranges, since reset
  uint32_t (*stopped)();    // likewise
  uint32_t (*disturbed)();  // calls that were made while a launch was under way
  uint32_t (*hosts)();      // objects that plan and evaluate, and are there still
  // From now on the call named does not return until hang(nullptr).
  void (*hang)(const char* function);
};

using CuptiStandinRangingFunction = const CuptiStandinRanging*();

}  // namespace gpufl::standin
