// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"
#include "backend/nvidia/nvml/nvml_device.hpp"

// Reads the fields of one device for one sampler. What the device does not support is noticed at
// the first answer and not asked again; what fails this once is left out this once. One thread.
namespace gpufl::backend {

// Where a reader puts its values; NVML's "not available" is left out here.
class MetricEmitter {
 public:
  MetricEmitter(std::vector<MetricValue>& out, int64_t device) : out_(out), device_(device) {}

  void add(std::string_view metric, unsigned value, int64_t index = 0);
  void add(std::string_view metric, unsigned long long value, int64_t index = 0);
  void add_signed(std::string_view metric, int64_t value, int64_t index = 0) {
    out_.push_back({device_, index, metric, value});
  }

 private:
  std::vector<MetricValue>& out_;
  const int64_t device_;
};

// Fields that come by number through nvmlDeviceGetFieldValues, all in one call.
class FieldQuery {
 public:
  // `scale` multiplies what NVML answers; `scope` is NVML's (a link, or 0).
  void add(unsigned field, std::string_view metric, unsigned scope = 0, int64_t scale = 1);
  nvmlReturn_t read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);

 private:
  struct Target {
    std::string_view metric;
    int64_t index;
    int64_t scale;
  };
  std::vector<nvmlFieldValue_t> values_;  // values_[i] is for targets_[i]
  std::vector<Target> targets_;
};

using ReadFunction = nvmlReturn_t (*)(const NvmlApi&, nvmlDevice_t, MetricEmitter&);

// A set of functions, less those that the device has refused for good.
class ReaderSet {
 public:
  explicit ReaderSet(std::vector<ReadFunction> readers) : readers_(std::move(readers)) {}
  // NVML_SUCCESS, or the code that says that the device is lost.
  nvmlReturn_t read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);

 private:
  std::vector<ReadFunction> readers_;
};

class FastReader {
 public:
  FastReader();
  nvmlReturn_t read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);

 private:
  ReaderSet functions_;
  FieldQuery fields_;
};

class SlowReader {
 public:
  explicit SlowReader(const NvmlDevice& device);
  nvmlReturn_t read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);

 private:
  struct Link {
    unsigned number;
    FieldQuery counters;
  };
  nvmlReturn_t read_links(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);
  nvmlReturn_t read_fans(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter);

  ReaderSet functions_;
  FieldQuery fields_;
  std::vector<Link> links_;
  unsigned fan_count_;
};

// The answer will be the same next time.
bool is_refusal(nvmlReturn_t code);

}  // namespace gpufl::backend
