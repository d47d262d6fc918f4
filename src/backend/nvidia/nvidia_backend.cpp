// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvidia_backend.hpp"

#include "backend/nvidia/nvidia_probe.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"
#include "backend/nvidia/nvml/nvml_health.hpp"
#ifdef GPUFL_HAS_NVTX
#include "backend/nvidia/nvtx/nvtx_injection.hpp"
#endif
#ifdef GPUFL_HAS_CUPTI
#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/cupti/cupti_tracer.hpp"
#include "backend/nvidia/cupti/sampling_support.hpp"
#include "backend/nvidia/globaltimer/globaltimer_clock.hpp"
#include "backend/nvidia/nvml/nvml_device.hpp"
#endif

namespace gpufl::backend {
namespace {

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

  Availability trace_available() override {
#ifdef GPUFL_HAS_CUPTI
    if (cupti_) return {true, "", cupti_->description(), ""};
    if (should_wait_for_cuda()) return {true, "", "opened when the program initialises CUDA", ""};
    Availability why;
    cupti_ = CuptiLibrary::open(why);
    return why;
#else
    return {false, "not_built", "this build has no CUPTI: cupti.h was not found",
            "build with ./dev build, which fetches the header"};
#endif
  }

#ifdef GPUFL_HAS_CUPTI
  Availability sampling_available() override { return part_available(kPcSampling); }
  Availability counting_available() override { return part_available(kSassMetrics); }
  Availability ranging_available() override { return part_available(kRangeProfiler); }
  Availability pm_sampling_available() override { return part_available(kPmSampling); }
  Availability ask_sampling() override { return ask_every_gpu(kPcSampling); }
  Availability ask_counting() override { return ask_every_gpu(kSassMetrics); }
  Availability ask_ranging() override { return ask_every_gpu(kRangeProfiler); }
  Availability ask_pm_sampling() override { return ask_every_gpu(kPmSampling); }
#else
  Availability sampling_available() override { return trace_available(); }
  Availability counting_available() override { return trace_available(); }
  Availability ranging_available() override { return trace_available(); }
  Availability pm_sampling_available() override { return trace_available(); }
#endif

  base::Result<std::unique_ptr<HealthSource>> make_health_source() override {
    if (!health_available().available) {
      return base::Status(base::Code::Unavailable, health_.detail);
    }
    NvmlHealthOptions options;
    options.first_device = first_device();
    return make_nvml_health(nvml_, options);
  }

  base::Result<std::unique_ptr<Tracer>> make_tracer(
      [[maybe_unused]] const TraceOptions& options) override {
    const Availability why = trace_available();
    if (!why.available) return base::Status(base::Code::Unavailable, why.detail);
#ifdef GPUFL_HAS_CUPTI
    TraceOptions with_clock = options;
    with_clock.own_kernels = globaltimer().get();
    with_clock.device_clock = globaltimer();
    return make_cupti_tracer(cupti_, with_clock, session_devices());
#else
    return base::Status(base::Code::Unsupported, why.detail);
#endif
  }

#ifdef GPUFL_HAS_CUPTI
  DeviceClock* device_clock() override { return globaltimer().get(); }
  base::Status copy_from_device(const void* from, void* to, size_t bytes) override {
    return copy_from_current_gpu(from, to, bytes);
  }
#endif

#ifdef GPUFL_HAS_NVTX
  std::optional<Availability> offer_markers() override { return offer_nvtx_injection(); }
#endif

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

#ifdef GPUFL_HAS_CUPTI
  Availability part_available(const CuptiPart& part) {
    if (cupti_) {
      if (Availability has = cupti_->has(part); !has.available) return has;
    }
    return counter_access("");
  }

  Availability ask_every_gpu(const CuptiPart& part) {
    Availability known = part_available(part);
    if (!known.available) return known;
    const int gpus = start_cuda();
    if (gpus == 0) {
      return {false, "no_gpu", "CUDA does not start here, or finds no GPU",
              "check the driver with nvidia-smi, and CUDA_VISIBLE_DEVICES"};
    }
    // Opened only now, where it waited for CUDA.
    if (!trace_available().available) return trace_available();
    if (known = part_available(part); !known.available) return known;
    const CudaDriver driver;
    const SessionDevices devices = session_devices();
    DeviceNumbers numbers(driver, devices);
    for (uint32_t i = 0; i < static_cast<uint32_t>(gpus); ++i) {
      Availability why = sampling_support(cupti_->api(), driver, devices, i);
      if (why.available) continue;
      why.detail = "GPU " + std::to_string(numbers.of(i)) + ": " + why.detail;
      return why;
    }
    return known;
  }

  // Without UUIDs where NVML is not there.
  SessionDevices session_devices() {
    SessionDevices devices;
    devices.first = first_device();
    if (!health_available().available) return devices;
    for (const NvmlDevice& device : find_devices(*nvml_, 0)) {
      const auto number = static_cast<size_t>(device.facts.device);
      if (devices.uuids.size() <= number) devices.uuids.resize(number + 1);
      devices.uuids[number] = device.facts.uuid;
      if (device.is_shared) devices.shared.push_back(device.facts.uuid);
    }
    return devices;
  }

  const std::shared_ptr<GlobaltimerClock>& globaltimer() {
    if (!globaltimer_) globaltimer_ = std::make_shared<GlobaltimerClock>(session_devices());
    return globaltimer_;
  }

  std::shared_ptr<CuptiLibrary> cupti_;
  std::shared_ptr<GlobaltimerClock> globaltimer_;
#endif
  bool asked_ = false;
  Availability health_;
  std::shared_ptr<NvmlLibrary> nvml_;
};

}  // namespace

std::unique_ptr<Backend> make_nvidia_backend() { return std::make_unique<NvidiaBackend>(); }

}  // namespace gpufl::backend
