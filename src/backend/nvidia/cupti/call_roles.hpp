// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/tracing/call_role.hpp"

// Which of CUDA's functions the callbacks watch, and as what. Told by name, so that variants which
// other versions have, lack or renumber are told as well.
namespace gpufl::backend {

// Where a call says its stream or its event.
enum class CallShape : uint8_t {
  Unknown,
  Kernel,
  KernelEx,
  Cooperative,
  Graph,
  Stream,
  Event,
  StreamAndEvent,
};

struct WatchedCall {
  CallRole role = CallRole::None;
  CallShape shape = CallShape::Unknown;
  bool is_per_thread = false;  // its default stream is the thread's own
};

WatchedCall watched_driver_call(std::string_view name);
WatchedCall watched_runtime_call(std::string_view name);

// By CUPTI's number, for one version of CUPTI.
class WatchedCalls {
 public:
  static constexpr CUpti_CallbackId kMaxFunctions = 2048;  // 13.1 has some 850

  void look_up(const CuptiApi& api);
  WatchedCall driver(CUpti_CallbackId id) const { return at(driver_, id); }
  WatchedCall runtime(CUpti_CallbackId id) const { return at(runtime_, id); }

 private:
  // A byte each, so that those in use share a few cache lines: role, shape, thread's own stream.
  using Table = std::array<uint8_t, kMaxFunctions>;
  static uint8_t pack(const WatchedCall& call) {
    return static_cast<uint8_t>(static_cast<uint8_t>(call.role) |
                                static_cast<uint8_t>(call.shape) << 4 | call.is_per_thread << 7);
  }
  static WatchedCall at(const Table& table, CUpti_CallbackId id) {
    const uint8_t call = table[id < kMaxFunctions ? id : 0];
    return {static_cast<CallRole>(call & 0xf), static_cast<CallShape>(call >> 4 & 0x7),
            call >> 7 != 0};
  }

  Table driver_{}, runtime_{};
};

}  // namespace gpufl::backend
