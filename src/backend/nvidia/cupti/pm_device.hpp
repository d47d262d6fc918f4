// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/nvidia/cupti/metric_groups.hpp"
#include "backend/nvidia/cupti/pm_readings.hpp"

// Hardware counters of one GPU over time: CUPTI's calls for them, in the order that they need. They
// are the GPU's and no context's: what other processes do on it is in them as well. The engine's
// thread.
namespace gpufl::backend {

class PmDevice {
 public:
  // Whether there is more than was read.
  enum class Rest : uint8_t {
    None,
    Some,
    Lost  // the GPU's buffer was full: nothing comes until another start()
  };
  // The table and the readings, which take what is sampled and lost, outlive it.
  PmDevice(const CuptiApi& api, uint32_t ordinal, const PmSamplingOptions& options,
           PmReadings& readings);

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
  // What there is, within some tenths of a second.
  Availability read(Rest& rest);
  // And reads the rest, within a second; what is left then is lost.
  Availability stop();
  Availability disable();

 private:
  Availability ask_availability(std::vector<uint8_t>& image) const;
  Availability check_passes() const;
  Availability configure();
  Availability initialize_image();
  Availability take();
  Availability append_sample(size_t place, PmReading& reading);

  const CuptiApi& api_;
  const uint32_t ordinal_;
  const uint64_t interval_ns_;
  const uint32_t max_samples_;
  PmReadings& readings_;
  uint32_t users_ = 0;
  MetricGroups groups_;
  std::shared_ptr<const std::vector<std::string>> metrics_;
  CUpti_PmSampling_Object* object_ = nullptr;
  std::vector<uint8_t> image_;
  int64_t started_ns_ = 0;
  uint64_t read_ = 0;  // samples, since the start
  bool is_enabled_ = false;
  bool is_full_ = false;       // nothing comes any more
  bool awaits_first_ = false;  // which begins long before the start
};

}  // namespace gpufl::backend
