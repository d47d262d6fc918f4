// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "backend/nvidia/cupti/cupti_api.hpp"

// PC sampling of one context: CUPTI's calls for it, in the order that they need, and the buffers
// that it fills. Calls are made behind the launch gate, by one thread.
namespace gpufl::backend {

// Samples of one instruction with one stall reason, in one window. `function` and `stall` are
// places among the window's names.
struct PcSample {
  uint64_t module = 0;
  uint64_t pc = 0;
  uint32_t function = 0;
  uint32_t stall = 0;
  uint32_t samples = 0;
};

// In the order that they were met.
class SampledNames {
 public:
  uint32_t index(std::string_view name);
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::unordered_map<std::string, uint32_t> indices_;
  std::vector<std::string> names_;
};

struct SampleWindow {
  std::vector<PcSample> samples;
  SampledNames functions, stalls;
  uint64_t total = 0;      // with those below, and those of instructions without a row
  uint64_t dropped = 0;    // by the hardware
  uint64_t unlocated = 0;  // of code that CUPTI does not know
  bool is_buffer_full = false;
};

class PcSamplingContext {
 public:
  PcSamplingContext(const CuptiApi& api, CUcontext context) : api_(api), context_(context) {}
  PcSamplingContext(const PcSamplingContext&) = delete;
  PcSamplingContext& operator=(const PcSamplingContext&) = delete;

  CUcontext context() const { return context_; }
  Availability enable(int period_exponent);
  Availability open_window();
  // Stops, and takes what there is.
  Availability close_window(SampleWindow& window);
  Availability disable();

  static constexpr size_t kHardwareBufferBytes = size_t{32} << 20;

 private:
  // What CUPTI fills: instructions, and for each its stall reasons.
  struct Buffer {
    void resize(size_t instructions, size_t reasons);
    std::vector<CUpti_PCSamplingPCData> instructions;
    std::vector<CUpti_PCSamplingStallReason> reasons;
    CUpti_PCSamplingData data{};
  };

  CUptiResult read_reasons();
  CUptiResult configure(int period_exponent);
  CUptiResult take(SampleWindow& window);

  const CuptiApi& api_;
  CUcontext context_;
  std::vector<uint32_t> reason_indices_;
  std::unordered_map<uint32_t, std::string> reason_names_;  // by the device's own number
  Buffer filled_;                                           // by CUPTI, when a window closes
  Buffer taken_;                                            // by us, from that
};

}  // namespace gpufl::backend
