// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <optional>
#include <vector>

// Contexts that callbacks have met in one subscription, and that are there still. Callbacks add and
// remove, on the program's threads: no lock, no allocation. Of an earlier subscription none is
// kept: one that was destroyed unseen must not be asked about.
namespace gpufl::backend {

class SeenContexts {
 public:
  void add(CUcontext context) noexcept {
    if (context == nullptr) return;
    for (const Place& place : places_) {
      if (place.load(std::memory_order_relaxed) == context) return;
    }
    for (Place& place : places_) {
      CUcontext none = nullptr;
      if (place.compare_exchange_strong(none, context)) return;
    }
    are_too_many_.store(true, std::memory_order_relaxed);
  }
  // Two threads may have added it at once.
  void remove(CUcontext context) noexcept {
    for (Place& place : places_) {
      CUcontext found = context;
      place.compare_exchange_strong(found, nullptr);
    }
  }
  void forget() noexcept {
    for (Place& place : places_) place.store(nullptr, std::memory_order_relaxed);
    are_too_many_.store(false, std::memory_order_relaxed);
  }
  // Nothing: there were more than there are places for.
  std::optional<std::vector<CUcontext>> all() const {
    if (are_too_many_.load(std::memory_order_relaxed)) return std::nullopt;
    std::vector<CUcontext> contexts;
    for (const Place& place : places_) {
      if (CUcontext const context = place.load(std::memory_order_relaxed)) {
        contexts.push_back(context);
      }
    }
    return contexts;
  }

 private:
  using Place = std::atomic<CUcontext>;
  std::array<Place, 32> places_{};
  std::atomic<bool> are_too_many_{false};
};

}  // namespace gpufl::backend
