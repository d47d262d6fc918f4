// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/interner.hpp"

// The process's named counters: older and younger than any session, bounded, never freed. Looking
// up a known name takes no lock. Any thread.
namespace gpufl::capture::counters {

inline constexpr uint32_t kMaxCounters = 4096;

// The counter's value; beyond the bound all further names share one. "" is "<unnamed>".
std::atomic<int64_t>* find_or_add(std::string_view name) noexcept;

// Counters are numbered as an Interner numbers texts: from its kOverflowId to end()-1.
uint32_t end() noexcept;
std::string_view name(uint32_t id) noexcept;
int64_t value(uint32_t id) noexcept;
// How often a name found no room.
uint64_t overflowed() noexcept;

// Another copy of the library in this process: plain C, because copies may come from different
// compilers. Its counters are numbered as ours.
struct ForeignCounters {
  uint32_t (*end)();
  const std::atomic<int64_t>* (*at)(uint32_t id, const char** name, size_t* name_size);
};
ForeignCounters own_counters() noexcept;
// From here on what is counted there counts here, under the same names, until exclude(). False
// without room or memory for one more. `other` stays until then.
bool include(const ForeignCounters* other) noexcept;
void exclude(const ForeignCounters* other) noexcept;
// Adds what included copies have counted since the last time.
void gather() noexcept;

void before_fork() noexcept;
void after_fork() noexcept;  // in parent and child

}  // namespace gpufl::capture::counters
