// SPDX-License-Identifier: Apache-2.0
#include "capture/counters.hpp"

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

void before_fork() noexcept { g_names.lock_for_fork(); }

void after_fork() noexcept { g_names.unlock_after_fork(); }

}  // namespace gpufl::capture::counters
