// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/metric_catalog.hpp"
#include "backend/nvidia/nvperf/nvperf_api.hpp"

// Hardware counters of one chip, as libnvperf_host has them. One thread.
namespace gpufl::backend {

class NvperfChip final : public MetricCatalog {
 public:
  static base::Result<std::unique_ptr<NvperfChip>> make(std::shared_ptr<NvperfLibrary> library,
                                                        const std::string& chip);
  ~NvperfChip() override;
  NvperfChip(const NvperfChip&) = delete;
  NvperfChip& operator=(const NvperfChip&) = delete;

  std::string chip() const override { return chip_; }
  std::string source() const override { return library_->path(); }
  std::vector<MetricFacts> list() const override;
  std::optional<MetricFacts> describe(const std::string& name) const override;
  std::vector<std::string> forms(const MetricFacts& metric) const override;
  std::string unit(const std::string& metric) const override;
  std::string why_not(CountedBy by) const override;
  std::optional<uint32_t> passes(CountedBy by,
                                 const std::vector<std::string>& metrics) const override;

 private:
  NvperfChip(std::shared_ptr<NvperfLibrary> library, std::string chip)
      : library_(std::move(library)), api_(library_->api()), chip_(std::move(chip)) {}

  struct Place {
    uint8_t type = 0;  // NVPW_MetricType
    size_t index = 0;
  };
  bool initialize();
  std::optional<Place> find(const std::string& base) const;
  std::optional<NVPW_MetricEvalRequest> request_of(const std::string& metric) const;
  MetricFacts facts_of(std::string name, Place place) const;
  std::vector<const char*> raw_metrics(const std::string& metric) const;

  const std::shared_ptr<NvperfLibrary> library_;
  const NvperfApi& api_;
  const std::string chip_;
  std::vector<uint8_t> scratch_;
  NVPW_MetricsEvaluator* evaluator_ = nullptr;
};

}  // namespace gpufl::backend
