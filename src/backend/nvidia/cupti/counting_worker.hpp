// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/nvidia/cupti/context_worker.hpp"
#include "backend/nvidia/cupti/sampling_support.hpp"

// What engines of counters have in common.
namespace gpufl::backend {

class CountingWorker : public ContextWorker {
 public:
  using ContextWorker::ContextWorker;

  const char* hang_reason() const override { return "counting_hangs"; }

 protected:
  // Metrics that a GPU does not have, as the option names them.
  void tell_unknown(uint32_t device, const std::vector<std::string>& metrics, const char* option) {
    if (metrics.empty()) return;
    std::string names;
    for (const std::string& name : metrics) names.append(names.empty() ? "" : ", ").append(name);
    tell_lacking({false, "unknown_metrics",
                  "CUDA device " + std::to_string(device) + " has no " + names,
                  std::string("see ") + option + ": the rest is counted"});
  }
  void end_calls() override {
    make_or_fail("cuptiProfilerDeInitialize", [&] {
      end_sampling(api_);
      return Availability{true, "", "", ""};
    });
  }

 private:
  Availability ask(uint32_t device, CUcontext) override {
    return sampling_support(api_, driver_, devices_, device);
  }
};

}  // namespace gpufl::backend
