// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/nvidia/cupti/context_worker.hpp"
#include "backend/nvidia/cupti/sass_readings.hpp"

// Counters by instruction of one context: CUPTI's calls for it, in the order that they need.
namespace gpufl::backend {

// What every context of a GPU counts, by the numbers that CUPTI has for its metrics; CUPTI is
// configured once for all contexts of a GPU. The engine's thread.
class SassDevice {
 public:
  SassDevice(const CuptiApi& api, uint32_t ordinal) : api_(api), ordinal_(ordinal) {}
  // Metrics that this GPU does not have are left out; none that it has is a failure.
  Availability configure(const std::vector<std::string>& wanted);
  void release();
  const std::vector<std::string>& metrics() const { return metrics_; }
  // Those of the last configuration that this GPU does not have, once.
  std::vector<std::string> take_unknown() { return std::exchange(unknown_, {}); }
  uint32_t place_of(uint64_t metric_id) const;

 private:
  const CuptiApi& api_;
  const uint32_t ordinal_;
  uint32_t users_ = 0;
  std::vector<std::string> metrics_, unknown_;
  std::unordered_map<uint64_t, uint32_t> places_;
};

class SassContext final : public AttachedContext {
 public:
  // All of these outlive it.
  SassContext(const CuptiApi& api, const CudaContexts& contexts_of, CUcontext context,
              uint32_t ordinal, SassDevice& counted, const std::vector<std::string>& wanted,
              SassReadings& readings)
      : AttachedContext(context, ordinal),
        api_(api),
        contexts_of_(contexts_of),
        counted_(counted),
        wanted_(wanted),
        readings_(readings) {}

  Availability enable() override;
  // Reads what was counted, which is lost once counting is disabled.
  Availability collect() override;
  Availability disable() override;
  const char* enable_call() const override { return "cuptiSassMetricsEnable"; }
  const char* collect_call() const override { return "cuptiSassMetricsFlushData"; }
  const char* disable_call() const override { return "cuptiSassMetricsDisable"; }
  // For as long as the GPU has something to do here, with launches let through.
  void wait_for_gpu() const { contexts_of_.synchronize(context()); }
  // The program has destroyed the context, and what was counted in it with it.
  void let_go() { counted_.release(); }

 private:
  Availability enable_here();
  Availability disable_here();
  Availability read();
  CUptiResult take(SassReading& reading, size_t records, size_t instances);

  const CuptiApi& api_;
  const CudaContexts& contexts_of_;
  SassDevice& counted_;
  const std::vector<std::string>& wanted_;
  SassReadings& readings_;
};

}  // namespace gpufl::backend
