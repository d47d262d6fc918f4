// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

// What warpscope.cuh asks of a GPU, on a CPU: one thread, clocks that stand still until they are
// set, and a copy engine that reads and writes each as late as it may, so that a ring whose half is
// used again too early shows, and a slot that is written while an older copy to it is under way.
// Included before warpscope.cuh, by one source of a test.
#define WARPSCOPE_EMULATED
#define WS_DEVICE inline
#define WS_NOT_UNROLLED
#define WS_UNLIKELY(condition) (condition)

#include <warpscope/wire.cuh>

namespace emulated {

struct Index {
  uint32_t x = 0, y = 0, z = 0;
};

struct Copy {
  void* to;
  const void* from;
  uint32_t bytes;
  std::vector<char> read = {};  // what it read; empty: nothing yet
};

struct Machine {
  Index block, grid = {1, 1, 1};
  uint64_t timer = 0;
  uint64_t cycles = 0;
  uint32_t sm = 0, warp = 0, rank = 0;
  uint64_t fences = 0;
  char* shared = nullptr;   // the ring: all of shared memory
  std::deque<Copy> copies;  // not written yet

  // All but the newest `pending`.
  void read_copies(size_t pending) {
    for (size_t i = 0; i + pending < copies.size(); ++i) {
      Copy& copy = copies[i];
      const char* const from = static_cast<const char*>(copy.from);
      if (copy.read.empty()) copy.read.assign(from, from + copy.bytes);
    }
  }
  void write_copies() {
    read_copies(0);
    for (; !copies.empty(); copies.pop_front()) {
      std::memcpy(copies.front().to, copies.front().read.data(), copies.front().bytes);
    }
  }
};
inline Machine machine;

// A lane's ring, which is all of the shared memory while it is in use.
template <typename P>
std::unique_ptr<typename P::Ring> shared_ring() {
  auto ring = std::make_unique<typename P::Ring>();
  machine.shared = reinterpret_cast<char*>(ring.get());
  return ring;
}

}  // namespace emulated

namespace ws {

inline uint32_t globaltimer_lo() { return static_cast<uint32_t>(emulated::machine.timer); }

namespace device {

inline uint64_t globaltimer() { return emulated::machine.timer; }
inline uint64_t clock() { return emulated::machine.cycles; }
template <Clock kClock>
uint32_t read_clock() {
  return kClock == Clock::Cycles ? static_cast<uint32_t>(clock()) : globaltimer_lo();
}
inline uint32_t smid() { return emulated::machine.sm; }
inline uint32_t warpid() { return emulated::machine.warp; }
inline uint32_t cluster_rank() { return emulated::machine.rank; }
inline uint32_t block_index() {
  const auto& [x, y, z] = emulated::machine.block;
  return (z * emulated::machine.grid.y + y) * emulated::machine.grid.x + x;
}
inline void fence_block() { ++emulated::machine.fences; }

inline void store_global(uint64_t* at, uint64_t word) { *at = word; }
inline void store_global(uint64_t* at, uint32_t low, uint32_t high) {
  *at = static_cast<uint64_t>(high) << 32 | low;
}
inline void store_global_high(uint64_t* at, uint32_t high) {
  *at = (*at & 0xffffffff) | static_cast<uint64_t>(high) << 32;
}

using SharedAddress = uint32_t;
inline SharedAddress shared_address(const void* at) {
  return static_cast<uint32_t>(static_cast<const char*>(at) - emulated::machine.shared);
}
template <uint32_t offset>
void store_shared(SharedAddress at, uint32_t low, uint32_t high) {
  const uint64_t word = static_cast<uint64_t>(high) << 32 | low;
  std::memcpy(emulated::machine.shared + at + offset, &word, sizeof(word));
}

inline void copy_out(uint64_t* to, SharedAddress from, uint32_t bytes) {
  emulated::machine.copies.push_back({to, emulated::machine.shared + from, bytes});
}
template <uint32_t pending>
void copy_wait() {
  emulated::machine.read_copies(pending);
}
inline void copy_wait_all() { emulated::machine.write_copies(); }
inline void copy_after_stores() {}

}  // namespace device
}  // namespace ws
