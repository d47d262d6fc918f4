// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

// For tests: waits for what another thread or process does, as long as it takes. A machine may be
// busy; the deadline only keeps a test that cannot pass from running for ever.
namespace gpufl::base {

template <typename Condition>
bool eventually(Condition&& condition) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace gpufl::base
