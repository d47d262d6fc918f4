// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

// Named phases of the program. A scope costs two clock reads and two stores into a ring of its
// thread, which is made at the thread's first scope; without a session, one load. Any thread, at
// least 16,384 deep; not in signal handlers.
namespace gpufl {

// How often a benchmark scope's body runs: the counts are stored with the scope, so that reports
// can show figures per iteration. And whether all that can be had is wanted of it.
struct ScopeMeta {
  uint32_t repeat = 0;  // 0: not a benchmark
  uint32_t warmup = 0;
  bool deep = false;  // while it is open the GPU is recorded whatever overhead_budget says

  constexpr ScopeMeta& setRepeat(uint32_t n) {
    repeat = n;
    return *this;
  }
  constexpr ScopeMeta& setWarmup(uint32_t n) {
    warmup = n;
    return *this;
  }
  constexpr ScopeMeta& setDeep(bool on = true) {
    deep = on;
    return *this;
  }
};

namespace detail {

#ifndef GPUFL_COMPILED_OUT
// Non-zero while a session records.
GPUFL_API extern std::atomic<uint32_t> active_session;
// What begin_scope returns names the scope and its session, so that one which outlives its session
// does not end in the next; 0 when it was not recorded.
GPUFL_API uint64_t begin_scope(std::string_view name, std::string_view tag,
                               ScopeMeta meta) noexcept;
GPUFL_API void end_scope(uint64_t scope) noexcept;
// The body of a benchmark scope of that name is about to run again.
GPUFL_API void next_iteration(uint64_t scope, std::string_view name) noexcept;
#endif

}  // namespace detail

// A scope as an object: it lasts as long as the object does.
class ScopedMonitor {
 public:
#ifndef GPUFL_COMPILED_OUT
  explicit ScopedMonitor(std::string_view name, std::string_view tag = {},
                         ScopeMeta meta = {}) noexcept {
    if (detail::active_session.load(std::memory_order_relaxed) != 0) {
      scope_ = detail::begin_scope(name, tag, meta);
    }
  }
  ~ScopedMonitor() {
    if (scope_ != 0) detail::end_scope(scope_);
  }
#else
  explicit ScopedMonitor(std::string_view, std::string_view = {}, ScopeMeta = {}) noexcept {}
  ~ScopedMonitor() {}
#endif
  // Of a benchmark: what ran so far was an iteration, and another one follows. `name` is the
  // scope's.
  void nextIteration([[maybe_unused]] std::string_view name) noexcept {
#ifndef GPUFL_COMPILED_OUT
    if (scope_ != 0) detail::next_iteration(scope_, name);
#endif
  }
  ScopedMonitor(std::string_view name, ScopeMeta meta) noexcept : ScopedMonitor(name, {}, meta) {}

  ScopedMonitor(const ScopedMonitor&) = delete;
  ScopedMonitor& operator=(const ScopedMonitor&) = delete;

 private:
#ifndef GPUFL_COMPILED_OUT
  uint64_t scope_ = 0;
#endif
};

// Runs `fn` inside a scope and returns what it returns.
template <typename Fn>
auto monitor(std::string_view name, Fn&& fn) -> std::invoke_result_t<Fn&&> {
  ScopedMonitor scope(name);
  return std::forward<Fn>(fn)();
}

template <typename Fn>
auto monitor(std::string_view name, std::string_view tag, Fn&& fn) -> std::invoke_result_t<Fn&&> {
  ScopedMonitor scope(name, tag);
  return std::forward<Fn>(fn)();
}

namespace detail {

// GFL_BENCH's other half: `Bench{name, meta} + body`.
class Bench {
 public:
  Bench(std::string_view name, ScopeMeta meta) noexcept : name_(name), meta_(meta) {}

  template <typename Body>
  void operator+(Body&& body) const {
    if (meta_.warmup > 0) {
      ScopedMonitor scope(WarmupName(name_).view());
      for (uint32_t i = 0; i < meta_.warmup; ++i) body();
    }
    ScopedMonitor scope(name_, meta_);
    for (uint32_t i = 0; i < meta_.repeat; ++i) {
      if (i > 0) scope.nextIteration(name_);
      body();
    }
  }

 private:
  // "<name>_warmup"; allocates for long names only.
  class WarmupName {
   public:
    explicit WarmupName(std::string_view name) noexcept {
      constexpr std::string_view kSuffix = "_warmup";
      const size_t wanted = name.size() + kSuffix.size();
      if (wanted > sizeof(short_)) long_.reset(new (std::nothrow) char[wanted]);
      text_ = long_ ? long_.get() : short_;
      size_ = name.copy(text_, (long_ ? wanted : sizeof(short_)) - kSuffix.size());
      size_ += kSuffix.copy(text_ + size_, kSuffix.size());
    }
    std::string_view view() const noexcept { return {text_, size_}; }

   private:
    char short_[256];
    std::unique_ptr<char[]> long_;
    char* text_;
    size_t size_;
  };

  std::string_view name_;
  ScopeMeta meta_;
};

}  // namespace detail

}  // namespace gpufl

#define GPUFL_DETAIL_JOIN2(a, b) a##b
#define GPUFL_DETAIL_JOIN(a, b) GPUFL_DETAIL_JOIN2(a, b)

// GFL_SCOPE("name") { ... }, GFL_SCOPE("name", "tag") { ... }: the block is a scope. break,
// continue and return inside it mean what they mean without it.
#define GFL_SCOPE(...)                                                                           \
  if (::gpufl::ScopedMonitor GPUFL_DETAIL_JOIN(gpufl_scope_, __COUNTER__){__VA_ARGS__}; false) { \
  } else

// GFL_BENCH("name", gpufl::ScopeMeta{}.setRepeat(10).setWarmup(3)) { ... }; runs the block warm-up
// times in the scope <name>_warmup, then repeat times in the scope <name>. The trailing semicolon
// is required; `return` leaves one iteration.
#define GFL_BENCH(name, meta) ::gpufl::detail::Bench{name, meta} + [&]()->void
