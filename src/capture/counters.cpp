// SPDX-License-Identifier: Apache-2.0
#include "capture/counters.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

namespace gpufl::capture::counters {

namespace {

// Alone in its cache line, so that counters of different threads do not slow each other down.
struct alignas(64) Cell {
  std::atomic<int64_t> value{0};
};

constexpr uint32_t kCellsPerBlock = 64;
constexpr uint32_t kBlocks = kMaxCounters / kCellsPerBlock;
constexpr size_t kMaxNameBytes = size_t{1} << 20;
constexpr std::string_view kUnnamed = "<unnamed>";

constinit base::Interner g_names{kMaxCounters, kMaxNameBytes};
constinit std::atomic<Cell*> g_blocks[kBlocks] = {};
constinit Cell g_overflow;

Cell* make_block(uint32_t number) noexcept {
  auto* made = new (std::nothrow) Cell[kCellsPerBlock];
  Cell* expected = nullptr;
  if (g_blocks[number].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) {
    return made;
  }
  delete[] made;
  return expected;
}

Cell* cell(uint32_t id) noexcept {
  if (id == base::Interner::kOverflowId) return &g_overflow;
  Cell* block = g_blocks[id / kCellsPerBlock].load(std::memory_order_acquire);
  return block != nullptr ? block + id % kCellsPerBlock : nullptr;
}

constexpr size_t kMaxGuests = 8;

// A copy of the library whose counts are added to ours.
struct Guest {
  const ForeignCounters* source = nullptr;
  std::unique_ptr<int64_t[]> seen;  // by its numbers: what has been added, or was there before
};

struct Guests {
  std::mutex mutex;
  Guest all[kMaxGuests];

  Guest* find(const ForeignCounters* source) {
    Guest* const end = all + kMaxGuests;
    Guest* const found =
        std::find_if(all, end, [&](const Guest& guest) { return guest.source == source; });
    return found != end ? found : nullptr;
  }
};

// Never destroyed: collectors run at exit.
Guests& guests() {
  static auto* const one = new Guests;
  return *one;
}

void add_counted(Guest& guest) noexcept {
  const uint32_t end = std::min(guest.source->end(), kMaxCounters);
  for (uint32_t id = base::Interner::kOverflowId; id < end; ++id) {
    const char* text = nullptr;
    size_t size = 0;
    const std::atomic<int64_t>* source = guest.source->at(id, &text, &size);
    if (source == nullptr) continue;
    const int64_t value = source->load(std::memory_order_relaxed);
    const int64_t more = value - guest.seen[id];
    if (more == 0) continue;
    guest.seen[id] = value;
    auto* const own =
        id == base::Interner::kOverflowId ? &g_overflow.value : find_or_add({text, size});
    own->fetch_add(more, std::memory_order_relaxed);
  }
}

}  // namespace

std::atomic<int64_t>* find_or_add(std::string_view name) noexcept {
  const uint32_t id = g_names.intern(name.empty() ? kUnnamed : name);
  if (Cell* known = cell(id)) return &known->value;
  Cell* block = make_block(id / kCellsPerBlock);
  return block != nullptr ? &block[id % kCellsPerBlock].value : &g_overflow.value;
}

uint32_t end() noexcept { return g_names.size(); }

std::string_view name(uint32_t id) noexcept { return g_names.text(id); }

int64_t value(uint32_t id) noexcept {
  const Cell* known = cell(id);
  return known != nullptr ? known->value.load(std::memory_order_relaxed) : 0;
}

uint64_t overflowed() noexcept { return g_names.overflowed(); }

ForeignCounters own_counters() noexcept {
  return {[] { return end(); },
          [](uint32_t id, const char** text, size_t* size) -> const std::atomic<int64_t>* {
            const Cell* known = cell(id);
            if (known == nullptr) return nullptr;
            *text = name(id).data();
            *size = name(id).size();
            return &known->value;
          }};
}

bool include(const ForeignCounters* other) noexcept {
  const std::lock_guard lock(guests().mutex);
  if (guests().find(other) != nullptr) return true;
  Guest* const guest = guests().find(nullptr);
  if (guest == nullptr) return false;
  guest->seen.reset(new (std::nothrow) int64_t[kMaxCounters]());
  if (!guest->seen) return false;
  guest->source = other;
  const uint32_t end = std::min(other->end(), kMaxCounters);
  for (uint32_t id = base::Interner::kOverflowId; id < end; ++id) {
    const char* text = nullptr;
    size_t size = 0;
    if (const auto* before = other->at(id, &text, &size)) guest->seen[id] = before->load();
  }
  return true;
}

void exclude(const ForeignCounters* other) noexcept {
  const std::lock_guard lock(guests().mutex);
  Guest* const guest = guests().find(other);
  if (guest == nullptr) return;
  add_counted(*guest);
  *guest = {};
}

void gather() noexcept {
  const std::lock_guard lock(guests().mutex);
  for (Guest& guest : guests().all) {
    if (guest.source != nullptr) add_counted(guest);
  }
}

void before_fork() noexcept {
  guests().mutex.lock();
  g_names.lock_for_fork();
}

void after_fork() noexcept {
  g_names.unlock_after_fork();
  guests().mutex.unlock();
}

}  // namespace gpufl::capture::counters
