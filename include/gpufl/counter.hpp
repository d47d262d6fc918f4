// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

// Named counts of the program's own work ("tokens", "requests"). One relaxed add each; sampled
// into the log. Safe before init and after shutdown. Any thread.
namespace gpufl {

class Counter {
 public:
#ifndef GPUFL_COMPILED_OUT
  void add(int64_t n = 1) const noexcept { value_->fetch_add(n, std::memory_order_relaxed); }
  int64_t value() const noexcept { return value_->load(std::memory_order_relaxed); }

  explicit Counter(std::atomic<int64_t>* value) noexcept : value_(value) {}

 private:
  std::atomic<int64_t>* value_;
#else
  void add(int64_t = 1) const noexcept {}
  int64_t value() const noexcept { return 0; }
#endif
};

#ifndef GPUFL_COMPILED_OUT
// The counter of that name; the same one for every caller. Looks the name up, without a lock when
// it is known: keep the Counter where the count is hot. "" is "<unnamed>". Beyond 4,094 names all
// further ones share one counter that the ledger reports.
GPUFL_API Counter counter(std::string_view name) noexcept;
// counter(name).add(n).
GPUFL_API void tick(std::string_view name, int64_t n = 1) noexcept;
#else
inline Counter counter(std::string_view) noexcept { return {}; }
inline void tick(std::string_view, int64_t = 1) noexcept {}
#endif

}  // namespace gpufl
