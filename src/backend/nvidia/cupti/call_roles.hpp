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
  bool only_waits = false;     // gives the GPU nothing to do, and holds no lock of the driver's
  bool makes_graph = false;    // or prepares one
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
  // Two bytes each, so that those in use share a few cache lines.
  using Table = std::array<uint16_t, kMaxFunctions>;
  static uint16_t pack(const WatchedCall& call) {
    return static_cast<uint16_t>(static_cast<uint16_t>(call.role) |
                                 static_cast<uint16_t>(call.shape) << 8 |
                                 static_cast<uint16_t>(call.makes_graph) << 13 |
                                 static_cast<uint16_t>(call.is_per_thread) << 14 |
                                 static_cast<uint16_t>(call.only_waits) << 15);
  }
  static WatchedCall at(const Table& table, CUpti_CallbackId id) {
    const uint16_t call = table[id < kMaxFunctions ? id : 0];
    return {static_cast<CallRole>(call & 0xff), static_cast<CallShape>(call >> 8 & 0x1f),
            (call >> 14 & 1) != 0, call >> 15 != 0, (call >> 13 & 1) != 0};
  }

  Table driver_{}, runtime_{};
};

}  // namespace gpufl::backend
