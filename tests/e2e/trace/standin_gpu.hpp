// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/standin/cupti/standin_callbacks.hpp"
#include "tests/standin/cupti/standin_counting.hpp"
#include "tests/standin/cupti/standin_ranging.hpp"
#include "tests/standin/cupti/standin_sampling.hpp"

// CUDA as the programs beside this file use it: over the stand-ins of libcuda and libcupti.
namespace gpufl::standin {

inline void* open_or_end(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(99);
  }
  return library;
}

// The driver loads what CUDA_INJECTION64_PATH names.
inline void init_cuda() {
  void* library = open_or_end(GPUFL_STANDIN_CUDA);
  reinterpret_cast<decltype(&::cuInit)>(dlsym(library, "cuInit"))(0);
}

inline const CuptiStandin& gpu() {
  static const CuptiStandin* const standin = [] {
    void* library = open_or_end(GPUFL_STANDIN_CUPTI);
    return reinterpret_cast<CuptiStandinFunction*>(dlsym(library, "cupti_standin"))();
  }();
  return *standin;
}

// Its context is made, as the driver tells of one that was not there before.
inline void make_context() {
  void* library = open_or_end(GPUFL_STANDIN_CUPTI);
  reinterpret_cast<CuptiStandinCallbacksFunction*>(dlsym(library, "cupti_standin_callbacks"))()
      ->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

// What windows of PC sampling and counters by instruction see from now on.
inline void give_code() {
  static constexpr SampledPc kSamples[] = {
      {.function = "program_kernel", .samples = 40},
      {.function = "program_kernel",
       .pc = 0x20,
       .stall = "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
       .samples = 60}};
  static constexpr CountedInstruction kCounts[] = {{.function = "program_kernel", .value = 8}};
  void* library = open_or_end(GPUFL_STANDIN_CUPTI);
  reinterpret_cast<CuptiStandinSamplingFunction*>(dlsym(library, "cupti_standin_sampling"))()
      ->set_samples(kSamples, 2);
  reinterpret_cast<CuptiStandinCountingFunction*>(dlsym(library, "cupti_standin_counting"))()
      ->set_instructions(kCounts, 1);
}

// Hardware counters that it has from now on: of one pass and of two.
inline void give_hardware_counters() {
  static constexpr RangedMetric kMetrics[] = {{"smsp__inst_executed.sum", 8, 1},
                                              {"lts__t_sector_hit_rate.pct", 5, 2}};
  void* library = open_or_end(GPUFL_STANDIN_CUPTI);
  reinterpret_cast<CuptiStandinRangingFunction*>(dlsym(library, "cupti_standin_ranging"))()
      ->set_metrics(kMetrics, 2, 1);
}

inline void launch(int count) {
  for (int i = 0; i < count; ++i) gpu().launch({.name = "program_kernel"});
}

}  // namespace gpufl::standin
