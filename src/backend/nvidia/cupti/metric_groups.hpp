// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/nvidia/cupti/metric_presets.hpp"

// Which hardware counters of a GPU can be had together: metrics that the hardware counts in one
// pass are a group, and those that need several passes are one more. The GPU is not touched.
namespace gpufl::backend {

// What counts, and how: in ranges, or in samples over time, which not all metrics can be had in.
struct CountingChip {
  std::string name;  // CUPTI's: "GH100"
  CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  std::vector<uint8_t> availability;  // of counters now, CUPTI's; empty: it was not asked
};

// Of CUDA's number of a GPU.
Availability read_chip_name(const CuptiApi& api, uint32_t ordinal, std::string& name);

// CUPTI's object that knows the metrics of a chip.
class ProfilerHost {
 public:
  // The table outlives it.
  ProfilerHost(const CuptiApi& api, const CountingChip& chip);
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  CUptiResult result() const { return result_; }  // of making it
  bool knows(const std::string& metric) const;
  // CUPTI's plan for them, and the passes that it takes. Nothing: it has none. Once.
  std::optional<uint32_t> plan(const std::vector<std::string>& metrics,
                               std::vector<uint8_t>& config);
  // Of metrics that were planned, in their order; not a number: there is no such value. `place`: of
  // the range, or the sample, in the image.
  CUptiResult evaluate(const std::vector<std::string>& metrics, const std::vector<uint8_t>& image,
                       size_t place, std::vector<double>& values) const;

 private:
  const CuptiApi& api_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  CUptiResult result_;
};

struct MetricGroup {
  std::vector<std::string> metrics;
  std::vector<uint8_t> config;  // CUPTI's
  uint32_t passes = 1;
  std::shared_ptr<ProfilerHost> host;  // that planned them
};

// Between cuptiProfilerInitialize and cuptiProfilerDeInitialize.
class MetricGroups {
 public:
  MetricGroups(const CuptiApi& api, const MetricOption& option) : api_(api), option_(option) {}
  Availability make(CountingChip chip, const std::vector<std::string>& wanted);
  bool is_made() const { return is_made_; }
  const std::vector<MetricGroup>& groups() const { return groups_; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  uint32_t passes_together() const;  // of all groups

 private:
  std::optional<MetricGroup> plan(std::vector<std::string> metrics) const;
  std::optional<uint32_t> passes(const std::vector<std::string>& metrics) const;

  const CuptiApi& api_;
  const MetricOption option_;
  bool is_made_ = false;
  CountingChip chip_;
  std::vector<MetricGroup> groups_;
  std::vector<std::string> unknown_;
};

}  // namespace gpufl::backend
