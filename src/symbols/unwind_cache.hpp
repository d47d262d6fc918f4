// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "symbols/lazy_array.hpp"

// Unwind steps (packed) by address, for the whole process. Any thread, no lock; a lookup of a known
// address is one or two cache lines. An entry belongs to a generation of loaded modules: entries of
// older ones are never found and are overwritten. When an address finds no room near its place it
// is evaluated each time: slower, never wrong.
namespace gpufl::symbols {

class UnwindCache {
 public:
  explicit UnwindCache(int log2_entries)
      : entries_(size_t{1} << log2_entries), shift_(64 - log2_entries) {}

  // 0: not there.
  uint64_t find(uintptr_t address, uint64_t generation) const noexcept {
    if (entries_.size() == 0) return 0;
    const uint64_t key = make_key(address, generation);
    for (size_t probe = 0; probe < kProbes; ++probe) {
      const Entry& entry = entries_[place(address, probe)];
      const uint64_t seen = entry.key.load(std::memory_order_acquire);
      if (seen == 0) return 0;
      if (seen != key) continue;
      const uint64_t step = entry.step.load(std::memory_order_acquire);
      // A writer that takes the entry over changes the key before the step, so a key that is still
      // the same vouches for the step.
      if (entry.key.load(std::memory_order_relaxed) == key) return step;
    }
    return 0;
  }

  // `step` is not 0. A step that two threads find at once may be kept twice.
  void insert(uintptr_t address, uint64_t generation, uint64_t step) noexcept {
    if (entries_.size() == 0) return;
    const uint64_t key = make_key(address, generation);
    for (size_t probe = 0; probe < kProbes; ++probe) {
      Entry& entry = entries_[place(address, probe)];
      uint64_t seen = entry.key.load(std::memory_order_relaxed);
      if (seen == key) return;
      const bool is_free = seen == 0 || (seen != kBusy && seen >> kAddressBits != tag(generation));
      if (!is_free || !entry.key.compare_exchange_strong(seen, kBusy, std::memory_order_acquire)) {
        continue;
      }
      entry.step.store(step, std::memory_order_release);
      entry.key.store(key, std::memory_order_release);
      return;
    }
  }

 private:
  struct Entry {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> step;
  };
  static constexpr size_t kProbes = 16;
  // Addresses of programs have 47 bits; above them the key has the generation's lowest.
  static constexpr int kAddressBits = 48;
  // No code lies there, in any generation.
  static constexpr uint64_t kBusy = 1;

  static uint64_t tag(uint64_t generation) { return generation & 0xffff; }
  static uint64_t make_key(uintptr_t address, uint64_t generation) {
    return (address & ((uint64_t{1} << kAddressBits) - 1)) | generation << kAddressBits;
  }
  size_t place(uintptr_t address, size_t probe) const {
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
    return ((address * kMultiplier >> shift_) + probe) & (entries_.size() - 1);
  }

  LazyArray<Entry> entries_;
  int shift_;
};

}  // namespace gpufl::symbols
