// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

// The memory that CUPTI writes its records to. CUPTI takes empty buffers and gives full ones back
// on any thread, often in the middle of somebody's launch: both are one short lock, and no
// allocation unless more comes between two rounds than the pool holds. The collector's thread takes
// the full ones, decodes them, returns them and keeps the pool filled. One object per process,
// never destroyed: CUPTI may call back late.
namespace gpufl::backend {

class ActivityBuffers {
 public:
  static constexpr size_t kBufferBytes = size_t{1} << 20;  // some 3,500 launches
  static constexpr size_t kSpareBuffers = 8;
  static constexpr size_t kMaxBuffers = 128;

  struct Full {
    uint8_t* data;
    size_t valid_bytes;
  };

  ActivityBuffers();

  // CUPTI's side. take_empty() maps a buffer when the pool is empty, and is null beyond the bound.
  // CUPTI then drops records, holds on to the GPU's own memory of them, and in the end gives
  // kernels the times of others: the bound is far.
  uint8_t* take_empty();
  void give_full(uint8_t* data, size_t valid_bytes);

  // The collector's side. begin() before each tracing: forgets what an earlier one left behind.
  void begin();
  void take_full(std::vector<Full>& out);  // replaces what `out` holds
  void give_empty(uint8_t* data);
  // Once a round. Takes memory until there are spare buffers, up to the bound, and gives back those
  // that a burst needed and nobody has since: a spare one that was never used is not resident.
  void refill();
  void release_spare();  // at the end of tracing: all that CUPTI does not hold

  // Since the process began.
  struct Counts {
    uint64_t refusals = 0;         // there was none
    uint64_t delivered = 0;        // came back from CUPTI
    uint64_t delivered_bytes = 0;  // with records in them
  };
  Counts counts() const;
  size_t allocated() const;

 private:
  static constexpr uint32_t kRoundsKept = 100;  // some five seconds, or one of many records

  bool may_grow() const;  // under the lock, as reclaim_full()
  void reclaim_full();

  // Mapped one by one, so that what is given back is the system's at once.
  struct Unmap {
    void operator()(uint8_t* data) const;
  };
  using Memory = std::unique_ptr<uint8_t, Unmap>;
  static Memory map_buffer();
  std::vector<Memory> take_idle();

  mutable std::mutex mutex_;
  std::vector<uint8_t*> empty_;  // the last one is taken next: those in front are idle
  std::vector<Full> full_;
  std::vector<Memory> owned_;
  size_t least_empty_ = 0;  // since rounds were counted anew
  uint32_t rounds_ = 0;
  size_t kept_by_cupti_ = 0;  // of owned_: never came back from an earlier tracing
  Counts counts_;
};

}  // namespace gpufl::backend
