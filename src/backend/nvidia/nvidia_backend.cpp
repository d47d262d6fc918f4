// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvidia_backend.hpp"

#include "backend/nvidia/nvml_api.hpp"
#include "backend/nvidia/nvml_health.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kNoTrace = "tracing of NVIDIA GPUs is not in this version yet";

class NvidiaBackend : public Backend {
 public:
  std::string_view name() const override { return "nvidia"; }

  Availability health_available() override {
    if (!asked_) {
      asked_ = true;
      health_ = open();
    }
    return health_;
  }

  Availability trace_available() override { return {false, "not_built", kNoTrace, ""}; }

  base::Result<std::unique_ptr<HealthSource>> make_health_source() override {
    if (!health_available().available) {
      return base::Status(base::Code::Unavailable, health_.detail);
    }
    return make_nvml_health(nvml_);
  }

  base::Result<std::unique_ptr<Tracer>> make_tracer() override {
    return base::Status(base::Code::Unsupported, kNoTrace);
  }

 private:
  Availability open() {
    Availability why;
    nvml_ = NvmlLibrary::open(why);
    if (!nvml_) return why;
    const std::string versions =
        "driver " + nvml_->driver_version() + ", CUDA " + nvml_->cuda_version();
    unsigned count = 0;
    const base::Status status = GPUFL_NVML(nvml_->api(), nvmlDeviceGetCount_v2(&count));
    if (!status) return {false, "nvml_error", status.message(), ""};
    if (count == 0) {
      return {false, "no_gpu", "the driver shows no GPU (" + versions + ")",
              "see nvidia-smi and dmesg; in a container check NVIDIA_VISIBLE_DEVICES"};
    }
    return {true, "", std::to_string(count) + " GPU(s), " + versions, ""};
  }

  bool asked_ = false;
  Availability health_;
  std::shared_ptr<NvmlLibrary> nvml_;
};

}  // namespace

std::unique_ptr<Backend> make_nvidia_backend() { return std::make_unique<NvidiaBackend>(); }

}  // namespace gpufl::backend
