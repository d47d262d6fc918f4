// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/activity_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace gpufl::backend {

void ActivityBuffers::Unmap::operator()(uint8_t* data) const { munmap(data, kBufferBytes); }

ActivityBuffers::Memory ActivityBuffers::map_buffer() {
  void* const data =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Memory(data != MAP_FAILED ? static_cast<uint8_t*>(data) : nullptr);
}

ActivityBuffers::ActivityBuffers() {
  // So that nothing is allocated under the lock.
  empty_.reserve(kMaxBuffers);
  full_.reserve(kMaxBuffers);
  owned_.reserve(kMaxBuffers);
}

bool ActivityBuffers::may_grow() const { return owned_.size() - kept_by_cupti_ < kMaxBuffers; }

uint8_t* ActivityBuffers::take_empty() {
  const std::lock_guard lock(mutex_);
  if (empty_.empty()) {
    Memory fresh = may_grow() ? map_buffer() : nullptr;
    if (fresh == nullptr) {
      ++counts_.refusals;
      return nullptr;
    }
    least_empty_ = 0;
    owned_.push_back(std::move(fresh));
    return owned_.back().get();
  }
  uint8_t* data = empty_.back();
  empty_.pop_back();
  least_empty_ = std::min(least_empty_, empty_.size());
  return data;
}

void ActivityBuffers::give_full(uint8_t* data, size_t valid_bytes) {
  const std::lock_guard lock(mutex_);
  full_.push_back({data, valid_bytes});
  ++counts_.delivered;
  counts_.delivered_bytes += valid_bytes;
}

void ActivityBuffers::take_full(std::vector<Full>& out) {
  out.clear();
  out.reserve(kMaxBuffers);
  const std::lock_guard lock(mutex_);
  out.swap(full_);
}

void ActivityBuffers::reclaim_full() {
  for (const Full& buffer : full_) empty_.push_back(buffer.data);
  full_.clear();
}

void ActivityBuffers::begin() {
  const std::lock_guard lock(mutex_);
  reclaim_full();
  kept_by_cupti_ = owned_.size() - empty_.size();
}

void ActivityBuffers::give_empty(uint8_t* data) {
  const std::lock_guard lock(mutex_);
  empty_.push_back(data);
}

// Those that nobody has taken for a while.
std::vector<ActivityBuffers::Memory> ActivityBuffers::take_idle() {
  std::vector<Memory> idle;
  const std::lock_guard lock(mutex_);
  if (++rounds_ < kRoundsKept) return idle;
  const auto end = empty_.begin() + static_cast<std::ptrdiff_t>(least_empty_);
  const auto kept = std::partition(owned_.begin(), owned_.end(), [&](const Memory& buffer) {
    return std::find(empty_.begin(), end, buffer.get()) == end;
  });
  idle.assign(std::make_move_iterator(kept), std::make_move_iterator(owned_.end()));
  owned_.erase(kept, owned_.end());
  empty_.erase(empty_.begin(), end);
  least_empty_ = empty_.size();
  rounds_ = 0;
  return idle;
}

void ActivityBuffers::refill() {
  take_idle().clear();  // unmapped without the lock
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (empty_.size() >= kSpareBuffers || !may_grow()) break;
    }
    Memory fresh = map_buffer();
    if (fresh == nullptr) return;
    const std::lock_guard lock(mutex_);
    // In front: those that have been used, and are resident, are taken first.
    empty_.insert(empty_.begin(), fresh.get());
    ++least_empty_;
    owned_.push_back(std::move(fresh));
  }
}

void ActivityBuffers::release_spare() {
  const std::lock_guard lock(mutex_);
  reclaim_full();
  std::erase_if(owned_, [&](const auto& buffer) {
    return std::find(empty_.begin(), empty_.end(), buffer.get()) != empty_.end();
  });
  empty_.clear();
  least_empty_ = rounds_ = 0;
}

ActivityBuffers::Counts ActivityBuffers::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

size_t ActivityBuffers::allocated() const {
  const std::lock_guard lock(mutex_);
  return owned_.size();
}

}  // namespace gpufl::backend
