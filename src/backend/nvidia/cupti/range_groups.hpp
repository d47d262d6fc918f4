// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/nvidia/cupti/cupti_api.hpp"

// Which hardware counters of a GPU can be had together: metrics that the hardware counts in one
// pass are a group, and those that need several passes are one more. The GPU is not touched.
namespace gpufl::backend {

// CUPTI's object that knows the metrics of a chip.
class ProfilerHost {
 public:
  // The table outlives it.
  ProfilerHost(const CuptiApi& api, const char* chip);
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  CUptiResult result() const { return result_; }  // of making it
  bool knows(const std::string& metric) const;
  // CUPTI's plan for them, and the passes that it takes. Nothing: it has none. Once.
  std::optional<uint32_t> plan(const std::vector<std::string>& metrics,
                               std::vector<uint8_t>& config);
  // Of metrics that were planned, in their order; not a number: the range has no such value.
  CUptiResult evaluate(const std::vector<std::string>& metrics, const std::vector<uint8_t>& image,
                       std::vector<double>& values) const;

 private:
  const CuptiApi& api_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  CUptiResult result_;
};

struct RangeGroup {
  std::vector<std::string> metrics;
  std::vector<uint8_t> config;  // CUPTI's
  uint32_t passes = 1;
  std::shared_ptr<ProfilerHost> host;  // that planned them
};

// Of CUDA's number of a GPU, between cuptiProfilerInitialize and cuptiProfilerDeInitialize.
class RangeDevice {
 public:
  RangeDevice(const CuptiApi& api, uint32_t ordinal) : api_(api), ordinal_(ordinal) {}
  Availability make(const std::vector<std::string>& wanted);
  bool is_made() const { return is_made_; }
  const std::vector<RangeGroup>& groups() const { return groups_; }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::optional<RangeGroup> plan(std::vector<std::string> metrics) const;
  void add(RangeGroup alone);

  const CuptiApi& api_;
  const uint32_t ordinal_;
  bool is_made_ = false;
  std::string chip_;
  std::vector<RangeGroup> groups_;
  std::vector<std::string> unknown_;
};

}  // namespace gpufl::backend
