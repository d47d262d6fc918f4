// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/nvidia/cupti/metric_groups.hpp"
#include "base/clock.hpp"

// Hardware counters of one GPU over time: CUPTI's calls for them, in the order that they need. They
// are the GPU's and no context's: what other processes do on it is in them as well. The engine's
// thread.
namespace gpufl::backend {

struct PmSample {
  uint64_t begin = 0, end = 0;  // nanoseconds as the GPU counts them
  std::vector<double> values;
};

// Samples that followed one another without a gap.
struct PmReading {
  uint32_t device = 0;     // CUDA's number
  int64_t started_ns = 0;  // sampling; monotonic clock
  base::ClockAnchor read;  // after the last of them
  std::shared_ptr<const std::vector<std::string>> metrics;
  std::vector<PmSample> samples;
};

class PmDevice {
 public:
  using Put = std::function<void(PmReading)>;
  // The table outlives it. `put` takes what was sampled.
  PmDevice(const CuptiApi& api, uint32_t ordinal, const PmSamplingOptions& options, Put put);

  // Contexts of the GPU that are attached; sampling ends with the last.
  void enter() { ++users_; }
  void leave() { --users_; }
  uint32_t users() const { return users_; }

  bool is_enabled() const { return is_enabled_; }
  // What it takes to count `wanted`; the GPU is asked what of it is free.
  Availability plan(const std::vector<std::string>& wanted);
  bool is_planned() const { return groups_.is_made(); }
  const std::vector<std::string>& unknown() const { return groups_.unknown(); }
  // Enables it, too.
  Availability start();
  // What there is. `is_full`: the GPU's buffer was, so that nothing comes until another start().
  Availability read(bool& is_full);
  // And reads the rest.
  Availability stop();
  Availability disable();

 private:
  Availability ask_availability(std::vector<uint8_t>& image) const;
  Availability check_passes() const;
  Availability configure();
  Availability initialize_image();
  Availability take(PmReading& reading);

  const CuptiApi& api_;
  const uint32_t ordinal_;
  const uint64_t interval_ns_;
  const uint32_t max_samples_;
  const Put put_;
  uint32_t users_ = 0;
  MetricGroups groups_;
  std::shared_ptr<const std::vector<std::string>> metrics_;
  CUpti_PmSampling_Object* object_ = nullptr;
  std::vector<uint8_t> image_;
  int64_t started_ns_ = 0;
  bool is_enabled_ = false;
  bool awaits_first_ = false;  // which begins long before the start
};

}  // namespace gpufl::backend
