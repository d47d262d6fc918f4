// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_store.hpp"

#include <cstring>

namespace gpufl::symbols {

uint32_t StackStore::add(uint64_t hash, std::span<const uint64_t> words,
                         uint64_t generation) noexcept {
  const auto drop = [&] {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return 0u;
  };
  // Looked at first, so that a full store does not count up for ever.
  if (words_used_.load(std::memory_order_relaxed) + words.size() > words_.size()) return drop();
  const uint64_t first = words_used_.fetch_add(words.size(), std::memory_order_relaxed);
  if (first + words.size() > words_.size()) return drop();
  const uint32_t id = ids_.new_id();
  if (id == 0 || stacks_.size() == 0) return drop();
  std::memcpy(&words_[first], words.data(), words.size_bytes());
  stacks_[id] = {generation, static_cast<uint32_t>(first), static_cast<uint32_t>(words.size())};
  return ids_.publish(hash, id, [&](uint32_t other) { return is_equal(other, words, generation); });
}

StackStore::Stack StackStore::get(uint32_t id) const noexcept {
  if (id >= stacks_.size()) return {};
  const Entry& entry = stacks_[id];
  return {std::span(&words_[entry.first], entry.count), entry.generation};
}

}  // namespace gpufl::symbols
