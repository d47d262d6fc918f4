// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda_driver.hpp"
#include "backend/nvidia/cupti_api.hpp"

// Counts launches as the driver sees them, independently of CUPTI's records: every launch of the
// runtime ends in one of the driver's. A callback on those functions only; it takes no lock and
// allocates nothing. A launch that fails or is recorded into a graph is not counted. One object
// per process, never destroyed: callbacks may end late. All but the callback is called by one
// thread at a time.
namespace gpufl::backend {

class LaunchCounter {
 public:
  static LaunchCounter& instance();

  // Not available: somebody else holds CUPTI's callbacks, or worse.
  Availability subscribe(const CuptiApi& api, const CudaDriver& driver);
  // Launches that begin after start() and return before stop() are counted, from zero. The
  // subscription outlasts stop().
  void start() { counting_ = true; }
  void stop() { counting_ = false; }
  // Gives CUPTI up entirely (cuptiFinalize), so that the program runs at its old speed. CUPTI
  // allows that when an API call returns, or when none is under way: waits briefly for a call to
  // return, then takes it that there are none.
  void finalize();
  // Gives up the subscription alone.
  void unsubscribe();

  uint64_t launches() const;
  uint64_t graph_launches() const { return graph_launches_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Shard {
    std::atomic<uint64_t> launches{0};
  };
  static constexpr size_t kShards = 64;

  static void CUPTIAPI on_call(void* counter, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data);
  void on_return(CUpti_CallbackId id, const CUpti_CallbackData& call);
  bool is_captured(CUpti_CallbackId id, const CUpti_CallbackData& call) const;
  Shard& shard();

  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> graph_launches_{0};
  std::atomic<uint32_t> captures_{0};  // streams that record into a graph now
  std::atomic<bool> counting_{false};
  std::atomic<bool> finalize_wanted_{false};
  std::atomic<bool> finalized_{false};
  std::atomic<const CuptiApi*> api_{nullptr};
  std::atomic<const CudaDriver*> driver_{nullptr};
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace gpufl::backend
