// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How a test plays hardware counters over time: what the library's function
// cupti_standin_pm_sampling() returns. As on the H200 (CUPTI 13.0) samples follow one another at
// the interval to the nanosecond, by the GPU's wall clock, but for the first, which begins long
// before; what runs beside kernel records is counted 1.8 times; a set of several passes is refused,
// and so is sampling beside PC sampling; a buffer that is full brings nothing from then on. Metrics
// are those of standin_ranging.hpp. Any thread.
namespace gpufl::standin {

struct CuptiStandinPmSampling {
  void (*reset)();
  // The buffers of so many starts from now on are full once `samples` were read.
  void (*fill_buffer)(uint32_t times, uint64_t samples);
  // Of that GPU, from now on: cuptiPmSamplingEnable returns this.
  void (*refuse)(uint32_t device, int result);
  void (*set_chip)(const char* name);        // of all GPUs
  void (*fill_now)();                        // those that are sampling
  void (*slow_down)(uint32_t us_of_sample);  // decoding, from now on
  // What the GPU's clock is ahead of the wall clock.
  void (*set_clock)(int64_t ahead_ns);
  uint32_t (*enabled)();   // GPUs
  uint32_t (*started)();   // since reset
  uint32_t (*stopped)();   // likewise
  uint64_t (*interval)();  // nanoseconds, as configured last
  // From now on the call named does not return until hang(nullptr).
  void (*hang)(const char* function);
};

using CuptiStandinPmSamplingFunction = const CuptiStandinPmSampling*();

}  // namespace gpufl::standin
