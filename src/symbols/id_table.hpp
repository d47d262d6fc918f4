// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "symbols/lazy_array.hpp"

// Finds ids by the content that they stand for: open addressing, lock-free, any thread. What an id
// stands for is written before publish() and never changes. There are at most half as many ids as
// slots, so that a probe always meets an empty one.
namespace gpufl::symbols {

class IdTable {
 public:
  // Room for 2^log2_ids - 1 ids.
  explicit IdTable(int log2_ids) : slots_(size_t{2} << log2_ids), max_ids_(1u << log2_ids) {
    if (slots_.size() == 0) max_ids_ = 0;
  }

  // `is_same(id)` compares what id stands for with what is looked for. 0: not there.
  template <typename IsSame>
  uint32_t find(uint64_t hash, IsSame&& is_same) const {
    if (max_ids_ == 0) return 0;
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const uint64_t slot = slots_[i].load(std::memory_order_acquire);
      if (slot == 0) return 0;
      if (is_match(slot, hash) && is_same(id_of(slot))) return id_of(slot);
    }
  }

  // The next id; 0: there is no room. One that is not published is lost, which happens when two
  // threads meet the same content at once.
  uint32_t new_id() {
    // Looked at first, so that a full table does not count up for ever.
    if (used_.load(std::memory_order_relaxed) + 1 >= max_ids_) return 0;
    const uint32_t id = used_.fetch_add(1, std::memory_order_relaxed) + 1;
    return id < max_ids_ ? id : 0;
  }

  // Makes `id` the one to be found; or gives the one that another thread has published meanwhile.
  template <typename IsSame>
  uint32_t publish(uint64_t hash, uint32_t id, IsSame&& is_same) {
    const uint64_t wanted = (hash & kHashBits) | id;
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      uint64_t slot = 0;
      if (slots_[i].compare_exchange_strong(slot, wanted, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
        return id;
      }
      if (is_match(slot, hash) && is_same(id_of(slot))) return id_of(slot);
    }
  }

 private:
  static constexpr uint64_t kHashBits = 0xffffffff'00000000;

  static uint32_t id_of(uint64_t slot) { return static_cast<uint32_t>(slot); }
  static bool is_match(uint64_t slot, uint64_t hash) { return ((slot ^ hash) & kHashBits) == 0; }
  size_t mask() const { return slots_.size() - 1; }

  LazyArray<std::atomic<uint64_t>> slots_;
  uint32_t max_ids_;
  std::atomic<uint32_t> used_{0};
};

// Mixes a word into a hash.
inline uint64_t mix_hash(uint64_t hash, uint64_t word) {
  const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9e3779b97f4a7c15u;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace gpufl::symbols
