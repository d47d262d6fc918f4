// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/launch_counter.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

namespace gpufl::backend {
namespace {

constexpr std::chrono::milliseconds kFinalizeWait{20};
// Left with a call when it begins while we count.
constexpr uint64_t kSeenAtEntry = 0x6770'7566'6c00'0001;

// NOLINTBEGIN(readability-identifier-naming)
constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};
constexpr CUpti_CallbackId kGraphLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};
// The numbers of ...ToGraph (12.3) are written out for headers that lack them.
constexpr CUpti_CallbackId kCaptureBegins[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    720,
    721,
};
constexpr CUpti_CallbackId kCaptureEnds[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};
// NOLINTEND(readability-identifier-naming)

bool is_one_of(std::span<const CUpti_CallbackId> ids, CUpti_CallbackId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The stream of a launch; false where the function does not say.
bool launch_stream(CUpti_CallbackId id, const void* parameters, CUstream& stream) {
  bool per_thread = false;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: per_thread = true; [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: per_thread = true; [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      stream = static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: per_thread = true; [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      stream = static_cast<const cuLaunchCooperativeKernel_params*>(parameters)->hStream;
      break;
    default: return false;
  }
  if (per_thread && stream == nullptr) stream = CU_STREAM_PER_THREAD;
  return true;
}

}  // namespace

LaunchCounter& LaunchCounter::instance() {
  static LaunchCounter* const counter = new LaunchCounter;
  return *counter;
}

Availability LaunchCounter::subscribe(const CuptiApi& api, const CudaDriver& driver) {
  for (Shard& shard : shards_) shard.launches.store(0, std::memory_order_relaxed);
  graph_launches_ = 0;
  captures_ = 0;
  finalize_wanted_ = false;
  finalized_ = false;
  api_ = &api;
  driver_ = &driver;
  const CUptiResult code = api.cuptiSubscribe(&subscriber_, on_call, this);
  if (code != CUPTI_SUCCESS) {
    subscriber_ = nullptr;
    return cupti_failure(api, code, "cuptiSubscribe(&subscriber, on_call, this)");
  }
  for (const std::span<const CUpti_CallbackId> ids :
       {std::span<const CUpti_CallbackId>(kLaunches),
        std::span<const CUpti_CallbackId>(kGraphLaunches),
        std::span<const CUpti_CallbackId>(kCaptureBegins),
        std::span<const CUpti_CallbackId>(kCaptureEnds)}) {
    for (const CUpti_CallbackId id : ids) {
      const CUptiResult enabled =
          api.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
      // A version that lacks a function has no calls of it either.
      if (enabled == CUPTI_SUCCESS || enabled == CUPTI_ERROR_INVALID_PARAMETER) continue;
      unsubscribe();
      return cupti_failure(api, enabled, "cuptiEnableCallback(1, subscriber, DRIVER_API, id)");
    }
  }
  return {true, "", "", ""};
}

void LaunchCounter::unsubscribe() {
  counting_ = false;
  if (subscriber_ == nullptr) return;
  api_.load()->cuptiUnsubscribe(subscriber_);
  subscriber_ = nullptr;
}

void LaunchCounter::finalize() {
  if (subscriber_ == nullptr) return;
  const CuptiApi& api = *api_.load();
  finalize_wanted_ = true;
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API);
  api.cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API);
  const auto end = std::chrono::steady_clock::now() + kFinalizeWait;
  while (!finalized_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (finalize_wanted_.exchange(false)) {
    api.cuptiUnsubscribe(subscriber_);
    api.cuptiFinalize();
  } else {
    // A callback has taken it on: it only has to come to its end.
    while (!finalized_) std::this_thread::yield();
  }
  subscriber_ = nullptr;
}

uint64_t LaunchCounter::launches() const {
  uint64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.launches.load(std::memory_order_relaxed);
  return sum;
}

void CUPTIAPI LaunchCounter::on_call(void* counter, CUpti_CallbackDomain domain,
                                     CUpti_CallbackId id, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  auto& self = *static_cast<LaunchCounter*>(counter);
  const bool counting = self.counting_.load(std::memory_order_acquire);
  if (call.callbackSite != CUPTI_API_EXIT) {
    *call.correlationData = counting ? kSeenAtEntry : 0;
    return;
  }
  if (counting) {
    const bool is_ours = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    if (is_ours && *call.correlationData == kSeenAtEntry) self.on_return(id, call);
    return;
  }
  if (self.finalize_wanted_.load(std::memory_order_relaxed) &&
      self.finalize_wanted_.exchange(false)) {
    self.api_.load()->cuptiFinalize();
    self.finalized_ = true;
  }
}

void LaunchCounter::on_return(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const bool failed = *static_cast<const CUresult*>(call.functionReturnValue) != CUDA_SUCCESS;
  if (is_one_of(kLaunches, id)) {
    if (!failed && !is_captured(id, call)) {
      shard().launches.fetch_add(1, std::memory_order_relaxed);
    }
  } else if (is_one_of(kGraphLaunches, id)) {
    if (!failed) graph_launches_.fetch_add(1, std::memory_order_relaxed);
  } else if (is_one_of(kCaptureBegins, id)) {
    if (!failed) captures_.fetch_add(1, std::memory_order_relaxed);
  } else if (is_one_of(kCaptureEnds, id)) {
    // A capture that went wrong ends with an error; one that began before us was never counted.
    uint32_t captures = captures_.load(std::memory_order_relaxed);
    while (captures != 0 && !captures_.compare_exchange_weak(captures, captures - 1)) {
    }
  }
}

// Asks the driver only while some stream captures. In doubt the launch is not counted: a launch
// too few hides nothing that a record would have shown, one too many cries wolf.
bool LaunchCounter::is_captured(CUpti_CallbackId id, const CUpti_CallbackData& call) const {
  if (captures_.load(std::memory_order_relaxed) == 0) return false;
  CUstream stream = nullptr;
  if (!launch_stream(id, call.functionParams, stream)) return true;
  return driver_.load()->is_capturing(stream).value_or(true);
}

LaunchCounter::Shard& LaunchCounter::shard() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t mine = threads.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shards_[mine];
}

}  // namespace gpufl::backend
