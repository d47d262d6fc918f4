// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// Which kernels a thread has launched last, by correlation id: for the name of one that hangs,
// which has no record yet. The thread writes, in three stores a launch; any thread reads. As many
// as a GPU's queue takes before launches wait. What a symbol points to is the vendor's, and may be
// gone.
namespace gpufl::backend {

class LaunchedSymbols {
 public:
  void add(uint32_t correlation, const char* symbol) noexcept {
    Entry& entry = entries_[next_++ % kCount];
    entry.correlation.store(0, std::memory_order_relaxed);
    entry.symbol.store(symbol,
                       std::memory_order_release);  // who sees it sees that 0, or what follows
    entry.correlation.store(correlation, std::memory_order_release);
  }
  // The thread's: ids begin again with a new subscription.
  void clear() noexcept {
    for (Entry& entry : entries_) entry.correlation.store(0, std::memory_order_relaxed);
  }
  // Null: not among the last ones.
  const char* find(uint32_t correlation) const noexcept {
    for (const Entry& entry : entries_) {
      if (entry.correlation.load(std::memory_order_acquire) != correlation) continue;
      const char* const symbol = entry.symbol.load(std::memory_order_acquire);
      if (entry.correlation.load(std::memory_order_relaxed) == correlation) return symbol;
    }
    return nullptr;
  }

 private:
  static constexpr uint32_t kCount = 1024;
  struct Entry {
    std::atomic<uint32_t> correlation{0};
    std::atomic<const char*> symbol{nullptr};
  };
  Entry entries_[kCount];
  uint32_t next_ = 0;
};

}  // namespace gpufl::backend
