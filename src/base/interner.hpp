// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

// Texts by content: the same text has the same small id until clear(). Any thread. Looking up a
// known text takes no lock and writes nothing; a new one takes a lock that readers of entries never
// take. Bounded: beyond the bound everything is "<overflow>". A global one needs no constructor to
// run and is never destroyed, so scopes work while statics come and go.
namespace gpufl::base {

class Interner {
 public:
  struct Entry {
    const char* data;
    uint32_t size;
    uint32_t id;
    uint64_t hash;
    std::string_view text() const { return {data, size}; }
  };

  static constexpr uint32_t kEmptyId = 0;
  static constexpr uint32_t kOverflowId = 1;
  static constexpr uint32_t kFirstFreeId = 2;
  static constexpr size_t kMaxTextBytes = size_t{64} << 10;  // a longer text is cut, and counted

  // `max_entries` is a power of two of at most kChunkEntries * kMaxChunks.
  constexpr Interner(uint32_t max_entries, size_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  uint32_t intern(std::string_view text) noexcept {
    if (text.empty()) return kEmptyId;
    if (text.size() > kMaxTextBytes) text = cut(text);
    const uint64_t hash = hash_text(text);
    const Entry* found = find(text, hash);
    return found != nullptr ? found->id : add(text, hash);
  }

  // The text of an id that intern() gave. No lock.
  std::string_view text(uint32_t id) const noexcept;
  bool is_empty() const noexcept { return size() == kFirstFreeId; }
  // Ids below this are defined.
  uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // How often a text found no room, or not for all of it; clear() does not change it.
  uint64_t overflowed() const noexcept { return overflowed_.load(std::memory_order_relaxed); }

  // Forgets all texts and gives their memory back. No other thread may be inside intern() or
  // text(), or use what they gave.
  void clear() noexcept;

  // Around fork(): the child must not inherit the lock in another thread's hands.
  void lock_for_fork() noexcept { mutex_.lock(); }
  void unlock_after_fork() noexcept { mutex_.unlock(); }

 private:
  static constexpr uint32_t kChunkEntries = 512;
  static constexpr uint32_t kMaxChunks = 128;
  struct Block {
    Block* next;
    char text[kMaxTextBytes];
  };

  static uint64_t hash_text(std::string_view text) noexcept;
  const Entry* find(std::string_view text, uint64_t hash) const noexcept;
  uint32_t add(std::string_view text, uint64_t hash) noexcept;
  Entry* new_entry() noexcept;
  const char* keep(std::string_view text) noexcept;
  size_t table_bytes() const noexcept {
    return size_t{max_entries_} * 2 * sizeof(std::atomic<const Entry*>);
  }
  bool make_table() noexcept;
  uint32_t overflow() noexcept;
  std::string_view cut(std::string_view text) noexcept;

  const uint32_t max_entries_;
  const size_t max_bytes_;
  // Open addressing, twice as many slots as entries, so that a probe always meets an empty one.
  std::atomic<std::atomic<const Entry*>*> slots_{nullptr};
  std::atomic<Entry*> chunks_[kMaxChunks] = {};
  std::atomic<uint32_t> size_{kFirstFreeId};
  std::atomic<bool> full_{false};
  std::atomic<uint64_t> overflowed_{0};

  std::mutex mutex_;         // guards what follows, and adding
  Block* blocks_ = nullptr;  // the newest first; texts are added to it
  size_t block_left_ = 0;
  size_t bytes_ = 0;
};

}  // namespace gpufl::base
