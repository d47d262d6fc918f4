// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "base/event_ring.hpp"

// The scope events of one thread on their way to the collector: an EventRing that keeps room for
// the ends of the scopes it has begun. A push is a clock read and 32 bytes stored.
namespace gpufl::capture {

// Which scope of which session: what begin_scope returns and end_scope takes. Never 0.
struct ScopeToken {
  uint64_t bits = 0;

  static ScopeToken make(uint32_t session, uint32_t ring, uint32_t sequence) {
    return {uint64_t{session & 0xffff} << 48 | uint64_t{ring & 0xffff} << 32 | sequence};
  }
  uint32_t session() const { return static_cast<uint32_t>(bits >> 48); }
  uint32_t ring() const { return static_cast<uint32_t>(bits >> 32) & 0xffff; }
  bool operator==(const ScopeToken&) const = default;
};

struct ScopeEvent {
  static constexpr uint32_t kEnd = UINT32_MAX;  // as `name`: the scope ends
  static constexpr uint32_t kDeep = 1u << 31;   // in `tag`: the scope is marked deep

  int64_t time_ns;  // monotonic clock
  ScopeToken token;
  uint32_t name;  // ids of the recorder's interner
  uint32_t tag;
  uint32_t repeat;
  uint32_t warmup;
  bool is_end() const { return name == kEnd; }
};
static_assert(sizeof(ScopeEvent) == 32, "two events to a cache line");

class ScopeRing : public base::EventRing<ScopeEvent> {
 public:
  using EventRing::EventRing;

  // Producer. A begin is taken only when the ends of all scopes open here still have room, so an
  // end of its own thread is never lost. Returns no token when dropped.
  ScopeToken begin(uint32_t session, uint32_t name, uint32_t tag, uint32_t repeat,
                   uint32_t warmup) noexcept {
    count_from(session);
    const uint32_t open = open_.load(std::memory_order_relaxed);
    const uint32_t reserved = open - released_.load(std::memory_order_relaxed);
    ScopeEvent* slot = claim_slot(uint64_t{reserved} + 2);
    if (slot == nullptr) return {};
    const ScopeToken token = ScopeToken::make(session, number(), ++sequence_);
    *slot = {base::monotonic_ns(), token, name, tag, repeat, warmup};
    open_.store(open + 1, std::memory_order_relaxed);
    publish();
    return token;
  }

  // Producer. `token` may be of another ring: a scope that another thread opened.
  void end(uint32_t session, ScopeToken token) noexcept {
    const int64_t now_ns = base::monotonic_ns();
    count_from(session);
    const uint32_t open = open_.load(std::memory_order_relaxed);
    const bool own = token.ring() == number();
    const uint32_t reserved = open - released_.load(std::memory_order_relaxed);
    ScopeEvent* slot = claim_slot(own ? 1 : uint64_t{reserved} + 1);
    if (slot == nullptr) return;
    *slot = {now_ns, token, ScopeEvent::kEnd, 0, 0, 0};
    if (own) {
      open_.store(open - 1, std::memory_order_relaxed);
    } else {
      add(foreign_ends_);
    }
    publish();
  }

  // Consumer. One scope that was opened here has ended on another thread: its room is free again.
  void release_one() { add(released_); }

  // Any thread: scopes of `session` that are open here, as of about now.
  uint32_t open_scopes(uint32_t session) const {
    if (this->session() != session) return 0;
    return open_.load(std::memory_order_relaxed) - released_.load(std::memory_order_relaxed);
  }
  uint64_t foreign_ends() const { return foreign_ends_.load(std::memory_order_relaxed); }

 private:
  // Scopes that outlived another session are not open in this one.
  void count_from(uint32_t session) noexcept {
    if (!enter_session(session)) return;
    open_.store(released_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  // Written by the producer.
  alignas(64) std::atomic<uint32_t> open_{0};  // begun minus ended here; released_ of it are void
  std::atomic<uint64_t> foreign_ends_{0};
  uint32_t sequence_ = 0;

  // Written by the consumer.
  alignas(64) std::atomic<uint32_t> released_{0};  // opened here, ended on another thread
};

}  // namespace gpufl::capture
