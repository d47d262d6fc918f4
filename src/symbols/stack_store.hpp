// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "symbols/id_table.hpp"
#include "symbols/lazy_array.hpp"

// Stacks by content: the same words in the same generation of loaded modules have the same id, from
// 1. Any thread, no lock, no allocation. Bounded; nothing is ever removed, so what get() returns
// stays.
namespace gpufl::symbols {

class StackStore {
 public:
  // At most 2^log2_stacks - 1 stacks and `max_words` words in all of them together.
  StackStore(int log2_stacks, uint64_t max_words)
      : ids_(log2_stacks), stacks_(size_t{1} << log2_stacks), words_(max_words) {}

  // 0: no room.
  uint32_t intern(std::span<const uint64_t> words, uint64_t generation) noexcept {
    const uint64_t hash = hash_of(words, generation);
    const auto is_same = [&](uint32_t id) { return is_equal(id, words, generation); };
    const uint32_t known = ids_.find(hash, is_same);
    return known != 0 ? known : add(hash, words, generation);
  }

  // Whether these are the words of a stack that intern() gave.
  bool is_equal(uint32_t id, std::span<const uint64_t> words, uint64_t generation) const noexcept {
    const Entry& entry = stacks_[id];
    if (entry.count != words.size() || entry.generation != generation) return false;
    const uint64_t* const stored = &words_[entry.first];
    // Mostly so few that a call of memcmp() would cost more.
    for (size_t i = 0; i < words.size(); ++i) {
      if (stored[i] != words[i]) return false;
    }
    return true;
  }

  struct Stack {
    std::span<const uint64_t> words;  // none: no such id
    uint64_t generation = 0;
  };
  Stack get(uint32_t id) const noexcept;
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    uint64_t generation;
    uint32_t first;
    uint32_t count;
  };

  static uint64_t hash_of(std::span<const uint64_t> words, uint64_t generation) {
    // Two lanes, because a multiplication has to wait for the one before.
    uint64_t even = generation, odd = words.size();
    size_t i = 0;
    for (; i + 1 < words.size(); i += 2) {
      even = mix_hash(even, words[i]);
      odd = mix_hash(odd, words[i + 1]);
    }
    if (i < words.size()) even = mix_hash(even, words[i]);
    return mix_hash(even, odd);
  }
  uint32_t add(uint64_t hash, std::span<const uint64_t> words, uint64_t generation) noexcept;

  IdTable ids_;
  LazyArray<Entry> stacks_;
  LazyArray<uint64_t> words_;
  std::atomic<uint64_t> words_used_{0};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace gpufl::symbols
