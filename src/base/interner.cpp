// SPDX-License-Identifier: Apache-2.0
#include "base/interner.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

namespace gpufl::base {

namespace {

constexpr std::string_view kOverflowText = "<overflow>";

uint64_t load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

uint32_t load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint64_t Interner::hash_text(std::string_view text) noexcept {
  constexpr uint64_t kSeed = 0x9e3779b97f4a7c15, kMultiplier = 0xd6e8feb86659fd93;
  const char* p = text.data();
  size_t n = text.size();
  uint64_t h = kSeed ^ n;
  if (n >= 8) {
    const char* last = p + n - 8;
    for (; n > 8; p += 8, n -= 8) h = mix(h ^ load64(p), kMultiplier);
    return mix(h ^ load64(last), kSeed);
  }
  if (n >= 4) return mix(h ^ (uint64_t{load32(p)} << 32 | load32(p + n - 4)), kMultiplier);
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
  return mix(h ^ (byte(0) << 16 | byte(n / 2) << 8 | byte(n - 1)), kMultiplier);
}

const Interner::Entry* Interner::find(std::string_view text, uint64_t hash) const noexcept {
  const std::atomic<const Entry*>* slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return nullptr;
  const uint64_t mask = uint64_t{max_entries_} * 2 - 1;
  for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
    const Entry* entry = slots[i].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash == hash && entry->size == text.size() &&
        std::memcmp(entry->data, text.data(), text.size()) == 0) {
      return entry;
    }
  }
}

uint32_t Interner::add(std::string_view text, uint64_t hash) noexcept {
  if (full_.load(std::memory_order_relaxed)) return overflow();
  std::lock_guard lock(mutex_);
  if (!make_table()) return overflow();
  if (const Entry* found = find(text, hash)) return found->id;
  const char* data = keep(text);
  Entry* entry = data != nullptr ? new_entry() : nullptr;
  if (entry == nullptr) {
    full_.store(true, std::memory_order_relaxed);
    return overflow();
  }
  const uint32_t id = size_.load(std::memory_order_relaxed);
  *entry = {data, static_cast<uint32_t>(text.size()), id, hash};
  std::atomic<const Entry*>* slots = slots_.load(std::memory_order_relaxed);
  const uint64_t mask = uint64_t{max_entries_} * 2 - 1;
  uint64_t i = hash & mask;
  while (slots[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
  slots[i].store(entry, std::memory_order_release);
  size_.store(id + 1, std::memory_order_release);
  return id;
}

std::string_view Interner::text(uint32_t id) const noexcept {
  if (id == kEmptyId) return {};
  if (id == kOverflowId || id >= size()) return kOverflowText;
  return chunks_[id / kChunkEntries].load(std::memory_order_acquire)[id % kChunkEntries].text();
}

// Pages of a fresh anonymous mapping are zero and cost nothing until touched: an empty table is
// one of null pointers, and most of it is never resident.
bool Interner::make_table() noexcept {
  if (slots_.load(std::memory_order_relaxed) != nullptr) return true;
  void* memory =
      mmap(nullptr, table_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_.store(static_cast<std::atomic<const Entry*>*>(memory), std::memory_order_release);
  return true;
}

Interner::Entry* Interner::new_entry() noexcept {
  const uint32_t id = size_.load(std::memory_order_relaxed);
  if (id >= max_entries_) return nullptr;
  std::atomic<Entry*>& chunk = chunks_[id / kChunkEntries];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    auto* entries = new (std::nothrow) Entry[kChunkEntries];
    if (entries == nullptr) return nullptr;
    chunk.store(entries, std::memory_order_release);
  }
  return chunk.load(std::memory_order_relaxed) + id % kChunkEntries;
}

const char* Interner::keep(std::string_view text) noexcept {
  if (bytes_ + text.size() > max_bytes_) return nullptr;
  if (block_left_ < text.size()) {
    auto* block = new (std::nothrow) Block;
    if (block == nullptr) return nullptr;
    block->next = blocks_;
    blocks_ = block;
    block_left_ = sizeof(block->text);
  }
  char* kept = blocks_->text + sizeof(blocks_->text) - block_left_;
  std::memcpy(kept, text.data(), text.size());
  block_left_ -= text.size();
  bytes_ += text.size();
  return kept;
}

void Interner::clear() noexcept {
  std::lock_guard lock(mutex_);  // for a fork() on another thread
  if (auto* slots = slots_.exchange(nullptr, std::memory_order_relaxed)) {
    munmap(slots, table_bytes());
  }
  for (std::atomic<Entry*>& chunk : chunks_) {
    delete[] chunk.exchange(nullptr, std::memory_order_relaxed);
  }
  while (blocks_ != nullptr) delete std::exchange(blocks_, blocks_->next);
  block_left_ = 0;
  bytes_ = 0;
  full_.store(false, std::memory_order_relaxed);
  size_.store(kFirstFreeId, std::memory_order_release);
}

uint32_t Interner::overflow() noexcept {
  overflowed_.fetch_add(1, std::memory_order_relaxed);
  return kOverflowId;
}

std::string_view Interner::cut(std::string_view text) noexcept {
  overflow();
  return text.substr(0, kMaxTextBytes);
}

}  // namespace gpufl::base
