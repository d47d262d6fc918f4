// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/bare_cupti.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/nvidia/cupti/activity_buffers.hpp"
#include "backend/nvidia/cupti/activity_kinds.hpp"
#include "backend/nvidia/cupti/call_roles.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

namespace gpufl::bench {
namespace {

using backend::ActivityBuffers;
using backend::CuptiApi;

constexpr std::chrono::milliseconds kFlushEvery{50};

struct Pool {
  std::mutex mutex;
  std::vector<uint8_t*> empty;
};
// As many as Trace begins with; never destroyed, because CUPTI may call back late.
Pool& pool() {
  static Pool* const one = [] {
    auto* fresh = new Pool;
    for (size_t i = 0; i < ActivityBuffers::kSpareBuffers; ++i) {
      fresh->empty.push_back(new uint8_t[ActivityBuffers::kBufferBytes]);
    }
    return fresh;
  }();
  return *one;
}

void CUPTIAPI on_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  if (all.empty.empty()) all.empty.push_back(new uint8_t[ActivityBuffers::kBufferBytes]);
  *buffer = all.empty.back();
  all.empty.pop_back();
  *size = ActivityBuffers::kBufferBytes;
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
  backend::ActivityKinds kinds;
  std::mutex mutex;
  std::condition_variable stop;
  bool stopping = false;
  std::thread flusher;

  base::Status start();
  base::Status enable_callbacks();
  void flush_until_stopped();
};

base::Status BareCupti::Client::start() {
  const CuptiApi& api = cupti->api();
  if (base::Status s = GPUFL_CUPTI(api, cuptiSubscribe(&subscriber, on_call, nullptr)); !s)
    return s;
  if (base::Status s = enable_callbacks(); !s) return s;
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
  std::vector<backend::Limitation> left_out;
  const backend::Availability enabled = kinds.enable(api, backend::TraceOptions{}, left_out);
  if (!enabled.available) return {base::Code::Unavailable, enabled.detail};
  flusher = std::thread([this] { flush_until_stopped(); });
  return base::Status::ok();
}

// Those that Trace has when it counts launches and takes no stacks.
base::Status BareCupti::Client::enable_callbacks() {
  const CuptiApi& api = cupti->api();
  const auto watched = std::make_unique<backend::WatchedCalls>();
  watched->look_up(api);
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    return GPUFL_CUPTI(api, cuptiEnableCallback(1, subscriber, domain, id));
  };
  for (CUpti_CallbackId id = 1; id < backend::WatchedCalls::kMaxFunctions; ++id) {
    if (watched->driver(id).role != backend::CallRole::None) {
      if (base::Status s = enable(CUPTI_CB_DOMAIN_DRIVER_API, id); !s) return s;
    }
    if (watched->runtime(id).role != backend::CallRole::None) {
      if (base::Status s = enable(CUPTI_CB_DOMAIN_RUNTIME_API, id); !s) return s;
    }
  }
  return enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
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
  client_->kinds.disable(api);
  api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (client_->subscriber != nullptr) api.cuptiUnsubscribe(client_->subscriber);
  api.cuptiFinalize();
}

}  // namespace gpufl::bench
