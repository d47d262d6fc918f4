// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/bare_cupti.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/nvidia/api_calls.hpp"
#include "backend/nvidia/cupti_api.hpp"

namespace gpufl::bench {
namespace {

using backend::CuptiApi;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kBuffers = 64;
constexpr std::chrono::milliseconds kFlushEvery{50};
constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};

struct Pool {
  std::mutex mutex;
  std::vector<uint8_t*> empty;
};
Pool& pool() {
  static Pool* const one = [] {
    auto* fresh = new Pool;
    for (size_t i = 0; i < kBuffers; ++i) fresh->empty.push_back(new uint8_t[kBufferBytes]());
    return fresh;
  }();
  return *one;
}

void CUPTIAPI on_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  *buffer = nullptr;
  if (!all.empty.empty()) {
    *buffer = all.empty.back();
    all.empty.pop_back();
  }
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI on_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  all.empty.push_back(buffer);
}

std::atomic<uint64_t> launches{0};

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT) {
    launches.fetch_add(1, std::memory_order_relaxed);
  }
}

uint64_t CUPTIAPI timestamp() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

struct BareCupti::Client {
  std::shared_ptr<backend::CuptiLibrary> cupti;
  CUpti_SubscriberHandle subscriber = nullptr;
  std::mutex mutex;
  std::condition_variable stop;
  bool stopping = false;
  std::thread flusher;

  base::Status start();
  void set_driver_calls(uint8_t enable);
  void flush_until_stopped();
};

base::Status BareCupti::Client::start() {
  const CuptiApi& api = cupti->api();
  if (base::Status s = GPUFL_CUPTI(api, cuptiSubscribe(&subscriber, on_call, nullptr)); !s)
    return s;
  if (base::Status s =
          GPUFL_CUPTI(api, cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                               CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
      !s) {
    return s;
  }
  if (base::Status s = GPUFL_CUPTI(api, cuptiActivityRegisterCallbacks(on_requested, on_completed));
      !s) {
    return s;
  }
  if (base::Status s = GPUFL_CUPTI(api, cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
      !s) {
    return s;
  }
  if (base::Status s = GPUFL_CUPTI(api, cuptiActivityRegisterTimestampCallback(timestamp)); !s)
    return s;
  for (const CUpti_ActivityKind kind : kKinds) {
    if (base::Status s = GPUFL_CUPTI(api, cuptiActivityEnable(kind)); !s) return s;
  }
  set_driver_calls(1);
  flusher = std::thread([this] { flush_until_stopped(); });
  return base::Status::ok();
}

void BareCupti::Client::set_driver_calls(uint8_t enable) {
  const CuptiApi& api = cupti->api();
  if (api.cuptiActivityEnableDriverApi == nullptr) {
    (void)(enable != 0 ? api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER)
                       : api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER));
    return;
  }
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS &&
        name != nullptr && backend::api_role(name) != backend::ApiRole::Other) {
      api.cuptiActivityEnableDriverApi(id, enable);
    }
  }
}

void BareCupti::Client::flush_until_stopped() {
  std::unique_lock lock(mutex);
  while (!stop.wait_for(lock, kFlushEvery, [this] { return stopping; })) {
    cupti->api().cuptiActivityFlushAll(0);
  }
}

BareCupti::BareCupti() : client_(std::make_unique<Client>()) {
  backend::Availability why;
  client_->cupti = backend::CuptiLibrary::open(why);
  if (!client_->cupti) {
    error_ = why.detail;
    return;
  }
  pool();
  if (const base::Status status = client_->start(); !status) error_ = status.message();
}

BareCupti::~BareCupti() {
  if (!client_->cupti) return;
  if (client_->flusher.joinable()) {
    {
      const std::lock_guard lock(client_->mutex);
      client_->stopping = true;
    }
    client_->stop.notify_all();
    client_->flusher.join();
  }
  const CuptiApi& api = client_->cupti->api();
  for (const CUpti_ActivityKind kind : kKinds) api.cuptiActivityDisable(kind);
  client_->set_driver_calls(0);
  api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (client_->subscriber != nullptr) api.cuptiUnsubscribe(client_->subscriber);
  api.cuptiFinalize();
}

}  // namespace gpufl::bench
