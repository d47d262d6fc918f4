// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <cupti.h>

#include "tests/standin/cupti/standin_pm_sampling.hpp"
#include "tests/standin/cupti/standin_ranging.hpp"
#include "tests/standin/cupti/standin_sampling.hpp"
#include "tests/trace/tracer_fixture.hpp"

// A tracer that is asked for hardware counters over time.
namespace gpufl::backend {

constexpr const char* kPmMetric = "smsp__inst_executed.sum";

class PmSamplingFixture : public TracerFixture {
 protected:
  void SetUp() override {
    TracerFixture::SetUp();
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    pm_ = reinterpret_cast<standin::CuptiStandinPmSamplingFunction*>(
        dlsym(handle, "cupti_standin_pm_sampling"))();
    ranging_ = reinterpret_cast<standin::CuptiStandinRangingFunction*>(
        dlsym(handle, "cupti_standin_ranging"))();
    sampling_ = reinterpret_cast<standin::CuptiStandinSamplingFunction*>(
        dlsym(handle, "cupti_standin_sampling"))();
    sampling_->reset();
    ranging_->reset();
    pm_->reset();
    set_metrics({{}});
    options_.pm_sampling.emplace();
    options_.pm_sampling->metrics = {kPmMetric};
    options_.pm_sampling->scope_only = false;
  }
  void TearDown() override {
    pm_->hang(nullptr);
    tracer_.reset();
  }

  void set_metrics(const std::vector<standin::RangedMetric>& metrics, uint32_t together = 1) {
    ranging_->set_metrics(metrics.data(), static_cast<uint32_t>(metrics.size()), together);
  }
  void begin() {
    ASSERT_TRUE(start(options_).available);
    callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  bool drain_until_started(uint32_t times = 1) {
    return drain_until([&] { return pm_->started() >= times; });
  }
  // There were samples to keep.
  bool drain_past_samples() {
    const int64_t from_ns = base::monotonic_ns();
    return drain_until_started() &&
           drain_until([&] { return base::monotonic_ns() - from_ns > 50'000'000; });
  }
  std::string lacking(const char* value = "reason") {
    for (const base::Json& line : sink_.lines[format::Kind::Capability]) {
      if (line["asked"].as_string() == "PmSampling") return line[value].as_string();
    }
    return "";
  }
  std::string metric(const std::vector<int64_t>& row) {
    return sink_.value(format::Dict::Metric, row[format::pm_sample_column::kMetric]);
  }
  double sum_of(const std::string& name) {
    double sum = 0;
    for (const auto& row : rows(format::Kind::PmSample)) {
      if (metric(row) == name) {
        sum += static_cast<double>(row[format::pm_sample_column::kValue]) *
               std::pow(10, static_cast<double>(row[format::pm_sample_column::kExponent]));
      }
    }
    return sum;
  }

  const standin::CuptiStandinPmSampling* pm_ = nullptr;
  const standin::CuptiStandinRanging* ranging_ = nullptr;
  const standin::CuptiStandinSampling* sampling_ = nullptr;
  TraceOptions options_;
};

}  // namespace gpufl::backend
