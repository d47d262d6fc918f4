// SPDX-License-Identifier: Apache-2.0
#pragma once

// What kernels and their tests have to agree on with every reader of a capture: tags, slots, lanes
// of the side block, and the one argument that tells a kernel all of it. Plain C++17 that nvcc,
// NVRTC and host compilers take alike; no state, no memory of its own.
#if defined(__CUDACC_RTC__)
// NVRTC may have no include path at all. The types are those that libcu++ gives it.
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <cstdint>
#endif

#define WARPSCOPE_WIRE_VERSION 1

#if defined(__CUDACC__)
#define WS_BOTH __host__ __device__ __forceinline__
#else
#define WS_BOTH inline
#endif

namespace ws {

enum EventType : uint32_t { kBegin = 0, kEnd = 1, kInstant = 2, kFinalize = 3 };

// An event by its number, 0 to 1023; higher bits are ignored.
struct Ev {
  uint32_t id;
};

// A range that open() began. It outlives iterations; close() ends it.
struct Token {
  uint32_t event;
  uint32_t id;  // kNoToken: it was opened outside of what is captured
};

enum class Clock : uint32_t { Globaltimer = 0, Cycles = 1 };

// The size of a whole buffer, for init() instead of a lane's cap.
struct Slots {
  uint64_t count;
};

inline constexpr uint32_t kUncapped = 0xffffffff;
inline constexpr uint32_t kNoToken = 0xffffffff;
inline constexpr uint32_t kMaxLanes = 1u << 20;
inline constexpr uint32_t kSideHeaderWords = 16;
inline constexpr uint32_t kSideLaneWords = 8;

// Which part of a launch is captured: the same blocks and tiles in every lane, so that lanes can be
// compared. An end of 0 is no end; a step of 0 or 1 leaves nothing out.
struct Window {
  uint32_t first_block, end_block, every_block;
  uint32_t first_tile, end_tile, every_tile;

  static WS_BOTH bool holds(uint32_t index, uint32_t first, uint32_t end, uint32_t every) {
    if (index < first || (end != 0 && index >= end)) return false;
    return every <= 1 || (index - first) % every == 0;
  }
  WS_BOTH bool has_block(uint32_t block) const {
    return holds(block, first_block, end_block, every_block);
  }
  WS_BOTH bool has_tile(uint32_t tile) const {
    return holds(tile, first_tile, end_tile, every_tile);
  }
};

enum : uint32_t { kPlacedStrided = 0, kPlacedInLanes = 1 };
enum : uint32_t { kKeepFirst = 0, kKeepLast = 1, kKeepBoth = 2 };

// All that a kernel has to know of the capture it writes into; a kernel argument. 80 bytes in this
// order, 8-byte aligned, for those who make it in another language.
struct Capture {
  uint64_t* words;       // the v1 region
  uint64_t* side;        // the side block, or null
  uint64_t* extensions;  // the extension words, or null
  uint32_t num_blocks;
  uint32_t num_groups;
  uint32_t write_stride;  // strided
  uint32_t max_records;   // slots of a lane, the finalize record's included
  uint32_t placement;
  uint32_t policy;
  Window window;
  uint32_t reserved[2];
};
static_assert(sizeof(Capture) == 80, "other languages make this argument");

#if !defined(__CUDACC_RTC__)
// The argument for a capture at `words` in the GPU's memory, from the host's copy of its side
// block.
inline Capture capture_at(uint64_t* words, const uint64_t* side_block) {
  const auto low = [&](int word) { return static_cast<uint32_t>(side_block[word]); };
  const auto high = [&](int word) { return static_cast<uint32_t>(side_block[word] >> 32); };
  Capture capture = {};
  capture.words = words;
  capture.side = words + side_block[5];
  capture.extensions = (high(7) & 1) != 0 ? capture.side + low(13) : nullptr;
  capture.num_blocks = low(3);
  capture.num_groups = high(3);
  capture.write_stride = low(4);
  capture.max_records = high(4);
  capture.placement = low(2);
  capture.policy = low(7);
  capture.window = {low(8), high(8), low(9), low(10), high(10), high(9)};
  return capture;
}
#endif

WS_BOTH uint32_t make_tag(uint32_t lane, uint32_t event, uint32_t type) {
  return lane << 12 | (event & 0x3ff) << 2 | type;
}

WS_BOTH uint64_t make_record(uint32_t time, uint32_t tag) {
  return static_cast<uint64_t>(time) << 32 | tag;
}

// The extension word of a record, its two halves apart.
struct Extension {
  uint32_t payload;
  uint32_t flags;

  static WS_BOTH Extension none() { return {0, 0}; }
  static WS_BOTH Extension of_payload(uint32_t payload) { return {payload, 1u << 31}; }
  WS_BOTH Extension with_token(uint32_t token) const {
    return {payload, flags | 1u << 30 | (token & 0x3fffffff)};
  }
  WS_BOTH uint64_t word() const { return make_record(flags, payload); }
};

// Where the records of one lane go.
struct LanePlace {
  uint64_t first;  // word of record 0
  uint32_t step;   // words from one record to the next
  uint32_t slots;  // the finalize record's included; kUncapped: nobody knows
  uint32_t policy;

  // Slots for everything but the finalize record, which is in the one behind them.
  WS_BOTH uint32_t room() const {
    return slots == kUncapped ? kUncapped : slots - (slots != 0 ? 1 : 0);
  }
  // The slot that follows the last of those; kUncapped: none, what comes then is dropped.
  WS_BOTH uint32_t wrap() const {
    if (policy == kKeepFirst || room() == 0) return kUncapped;
    return policy == kKeepBoth ? room() / 2 : 0;
  }
};

WS_BOTH LanePlace place_lane(const Capture& capture, uint32_t lane) {
  if (capture.placement == kPlacedInLanes) {
    return {2 + static_cast<uint64_t>(lane) * capture.max_records, 1, capture.max_records,
            capture.policy};
  }
  return {1 + static_cast<uint64_t>(lane), capture.write_stride, capture.max_records,
          capture.policy};
}

// The slots that each lane of a strided buffer of `slots` words has.
WS_BOTH uint32_t slots_of_lane(Slots slots, uint32_t write_stride) {
  if (slots.count == 0 || write_stride == 0) return 0;
  const uint64_t each = (slots.count - 1) / write_stride;
  return each < kUncapped ? static_cast<uint32_t>(each) : kUncapped - 1;
}

}  // namespace ws
