// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/nvml_health.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

#include "backend/nvidia/nvml/gpu_processes.hpp"
#include "backend/nvidia/nvml/nvml_device.hpp"
#include "backend/nvidia/nvml/nvml_readers.hpp"
#include "backend/nvidia/nvml/xid.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr int64_t kMaxRecoveryFactor = 32;
constexpr int kMaxEventsPerSample = 64;

// One device, and what each of the two samplers knows of it.
struct Watched {
  explicit Watched(NvmlDevice found)
      : device(std::move(found)), slow(device), handle(device.handle), lost(device.lost) {}

  const NvmlDevice device;
  FastReader fast;  // the fast sampler's
  SlowReader slow;  // the slow sampler's
  // Shared: either sampler may find the device lost; only the slow one announces that and brings
  // it back.
  std::atomic<nvmlDevice_t> handle;
  std::atomic<nvmlReturn_t> lost;
  // The slow sampler's.
  bool announced = false;
  int64_t retry_ns = 0;
  int64_t retry_interval_ns = 0;
};

class NvmlHealth : public HealthSource {
 public:
  NvmlHealth(std::shared_ptr<NvmlLibrary> nvml, NvmlHealthOptions options);
  ~NvmlHealth() override;

  std::vector<DeviceFacts> devices() override;
  void sample_fast(std::vector<MetricValue>& out) override;
  void sample_slow(std::vector<MetricValue>& out, std::vector<ProcessUse>& processes,
                   std::vector<DeviceEvent>& events) override;

 private:
  void register_events(nvmlDevice_t handle);
  void poll_events(std::vector<DeviceEvent>& events);
  void announce_loss(Watched& watched, std::vector<DeviceEvent>& events);
  void try_to_recover(Watched& watched, std::vector<DeviceEvent>& events);
  nvmlDevice_t find_again(const Watched& watched) const;

  const std::shared_ptr<NvmlLibrary> nvml_;
  const NvmlApi& api_;
  const NvmlHealthOptions options_;
  std::deque<Watched> watched_;  // a deque, because atomics do not move
  GpuProcesses processes_;
  nvmlEventSet_t event_set_ = nullptr;
};

NvmlHealth::NvmlHealth(std::shared_ptr<NvmlLibrary> nvml, NvmlHealthOptions options)
    : nvml_(std::move(nvml)), api_(nvml_->api()), options_(options) {
  for (NvmlDevice& device : find_devices(*nvml_, options_.first_device)) {
    watched_.emplace_back(std::move(device));
  }
  if (call(api_.nvmlEventSetCreate, &event_set_) != NVML_SUCCESS) event_set_ = nullptr;
  for (const Watched& watched : watched_) {
    if (!watched.device.facts.parent) register_events(watched.handle);
  }
}

NvmlHealth::~NvmlHealth() {
  if (event_set_ != nullptr) call(api_.nvmlEventSetFree, event_set_);
}

std::vector<DeviceFacts> NvmlHealth::devices() {
  std::vector<DeviceFacts> all;
  for (const Watched& watched : watched_) all.push_back(watched.device.facts);
  return all;
}

void NvmlHealth::sample_fast(std::vector<MetricValue>& out) {
  for (Watched& watched : watched_) {
    if (watched.lost != NVML_SUCCESS) continue;
    MetricEmitter emitter(out, watched.device.facts.device);
    const nvmlReturn_t code = watched.fast.read(api_, watched.handle, emitter);
    if (code != NVML_SUCCESS) watched.lost = code;
  }
}

void NvmlHealth::sample_slow(std::vector<MetricValue>& out, std::vector<ProcessUse>& processes,
                             std::vector<DeviceEvent>& events) {
  // First, so that the Xid of a GPU that fell off the bus comes before the loss itself.
  poll_events(events);
  for (Watched& watched : watched_) {
    if (watched.lost != NVML_SUCCESS) try_to_recover(watched, events);
    if (watched.lost == NVML_SUCCESS) {
      MetricEmitter emitter(out, watched.device.facts.device);
      nvmlReturn_t code = watched.slow.read(api_, watched.handle, emitter);
      if (code == NVML_SUCCESS && !watched.device.has_instances) {
        code = processes_.read(api_, watched.handle, watched.device.facts.device, processes);
      }
      if (code != NVML_SUCCESS) watched.lost = code;
    }
    if (watched.lost != NVML_SUCCESS) announce_loss(watched, events);
  }
}

void NvmlHealth::announce_loss(Watched& watched, std::vector<DeviceEvent>& events) {
  if (watched.announced) return;
  watched.announced = true;
  watched.retry_interval_ns = options_.recovery_interval_ns;
  watched.retry_ns = base::monotonic_ns() + watched.retry_interval_ns;
  const nvmlReturn_t code = watched.lost;
  events.push_back({watched.device.facts.device, "device_lost", code,
                    nvml_status(api_, code, "the GPU stopped answering").message()});
}

void NvmlHealth::try_to_recover(Watched& watched, std::vector<DeviceEvent>& events) {
  const int64_t now_ns = base::monotonic_ns();
  if (!watched.announced || now_ns < watched.retry_ns) return;
  const nvmlDevice_t handle = find_again(watched);
  if (handle == nullptr) {
    watched.retry_interval_ns =
        std::min(watched.retry_interval_ns * 2, options_.recovery_interval_ns * kMaxRecoveryFactor);
    watched.retry_ns = now_ns + watched.retry_interval_ns;
    return;
  }
  if (!watched.device.facts.parent) register_events(handle);
  watched.announced = false;
  watched.handle = handle;
  watched.lost = NVML_SUCCESS;
  events.push_back(
      {watched.device.facts.device, "device_recovered", std::nullopt, "the GPU answers again"});
}

// A handle that answers, or null. By UUID: numbers may have moved.
nvmlDevice_t NvmlHealth::find_again(const Watched& watched) const {
  nvmlDevice_t handle = nullptr;
  const std::string& uuid = watched.device.facts.uuid;
  const nvmlReturn_t found =
      uuid.empty() ? api_.nvmlDeviceGetHandleByIndex_v2(watched.device.nvml_index, &handle)
                   : api_.nvmlDeviceGetHandleByUUID(uuid.c_str(), &handle);
  nvmlMemory_t memory{};
  if (found != NVML_SUCCESS || api_.nvmlDeviceGetMemoryInfo(handle, &memory) != NVML_SUCCESS) {
    return nullptr;
  }
  return handle;
}

void NvmlHealth::register_events(nvmlDevice_t handle) {
  if (event_set_ == nullptr || handle == nullptr) return;
  // A GPU that has no such events refuses here and has none below.
  call(api_.nvmlDeviceRegisterEvents, handle, nvmlEventTypeXidCriticalError, event_set_);
}

void NvmlHealth::poll_events(std::vector<DeviceEvent>& events) {
  if (event_set_ == nullptr) return;
  for (int i = 0; i < kMaxEventsPerSample; ++i) {
    nvmlEventData_t data{};
    if (call(api_.nvmlEventSetWait_v2, event_set_, &data, 0u) != NVML_SUCCESS) return;
    const auto source = std::find_if(watched_.begin(), watched_.end(),
                                     [&](const Watched& w) { return w.handle == data.device; });
    if (source == watched_.end() || data.eventType != nvmlEventTypeXidCriticalError) continue;
    const auto xid = static_cast<int64_t>(data.eventData);
    events.push_back({source->device.facts.device, "xid", xid, xid_text(xid)});
  }
}

}  // namespace

std::unique_ptr<HealthSource> make_nvml_health(std::shared_ptr<NvmlLibrary> nvml,
                                               NvmlHealthOptions options) {
  return std::make_unique<NvmlHealth>(std::move(nvml), options);
}

}  // namespace gpufl::backend
