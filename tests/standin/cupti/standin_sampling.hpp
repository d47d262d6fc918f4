// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How a test plays PC sampling: what the library's function cupti_standin_sampling() returns. As on
// the H200 (CUPTI 13.0) its calls are refused out of order, a call that begins or ends something
// hangs while a launch is under way, samples are there when a window has closed, and a buffer of
// the hardware's that is full brings nothing. The question whether a GPU can be sampled is answered
// after cuptiProfilerInitialize, and with the size of one version only. Any thread.
namespace gpufl::standin {

struct SampledPc {
  const char* function = "kernel";
  uint64_t module = 0xc0de, pc = 0x10;
  const char* stall = "smsp__pcsamp_warps_issue_stalled_wait";
  uint32_t samples = 1;
};

enum class CuptiStandinRefusal : uint8_t {
  None,
  ConfidentialComputing,
  VirtualGpu,
  VirtualGpuOff,  // the hypervisor's decision
  Architecture,
  Sli,
  Mining,
  Unnamed,  // the whole alone
};

struct CuptiStandinSampling {
  void (*reset)();
  void (*set_samples)(const SampledPc* samples, uint32_t count);  // of every window from now on
  void (*set_unlocated)(uint32_t samples);                        // likewise
  void (*fill_buffer)(bool is_full);
  // So many instructions a read brings at most, and says how many remain; 0: as many as fit. Totals
  // come with the first.
  void (*limit_reads)(uint32_t instructions);
  // Rows come with the next window, as CUPTI's do now and then; totals do not.
  void (*delay_rows)(bool is_late);
  uint64_t (*reads)();  // since reset
  // From now on the call named does not return until hang(nullptr).
  void (*hang)(const char* function);
  // The part of cuptiProfilerDeviceSupported's answer that is not "supported".
  void (*refuse)(CuptiStandinRefusal refusal);
  void (*set_support_size)(uint32_t bytes);  // of the question
  uint32_t (*windows)();                     // that were opened
  uint32_t (*enabled)();                     // contexts
  uint32_t (*period)();                      // exponent, as configured last
  uint32_t (*disturbed)();                   // calls that were made while a launch was under way
  uint32_t (*misplaced)();                   // of contexts that are not enabled
  bool (*is_initialized)();                  // the profiler, which slows launches down
  void (*forget_contexts)();                 // as those that were destroyed
  void (*write_late)();                      // to every buffer that was configured, as CUPTI may
  // A launch that does not return before `inside(data)` does.
  void (*launch)(void (*inside)(void* data), void* data);
};

using CuptiStandinSamplingFunction = const CuptiStandinSampling*();

}  // namespace gpufl::standin
