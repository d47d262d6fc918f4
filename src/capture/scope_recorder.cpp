// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_recorder.hpp"

#include <gpufl/scope.hpp>

#include "backend/scope_stops.hpp"
#include "base/thread_rings.hpp"

namespace gpufl::detail {

constinit std::atomic<uint32_t> active_session{0};

}  // namespace gpufl::detail

namespace gpufl::capture::scope_recorder {

namespace {

using detail::active_session;
using Rings = base::ThreadRings<ScopeRing>;

constexpr size_t kMaxTextBytes = size_t{16} << 20;

constinit base::Interner g_names{kMaxNames, kMaxTextBytes};
constinit base::Interner g_tags{kMaxTags, kMaxTextBytes};
constinit std::atomic<bool> g_attached{false};
constinit std::atomic<uint32_t> g_last_session{0};
constinit std::atomic<const ForeignRecorder*> g_foreign{nullptr};
constinit std::atomic<ForeignBegin> g_foreign_deep{nullptr};
constinit std::atomic<ForeignIteration> g_foreign_iteration{nullptr};
// As active_session: scopes are another copy's. No session's number, and never in a token.
constexpr uint32_t kForeign = 0x10000;

// While no session records. Names that a thread may still be using stay until this is tried again.
void forget_names() {
  if (g_names.is_empty() && g_tags.is_empty()) return;
  if (!Rings::wait_until_outside()) return;
  g_names.clear();
  g_tags.clear();
}

}  // namespace

uint32_t attach() {
  if (g_attached.exchange(true, std::memory_order_acquire)) return 0;
  forget_names();
  Rings::start_anew();
  uint32_t session = (g_last_session.load(std::memory_order_relaxed) + 1) & 0xffff;
  if (session == 0) session = 1;
  g_last_session.store(session, std::memory_order_relaxed);
  return session;
}

void start_recording(uint32_t session) { active_session.store(session, std::memory_order_release); }

void stop_recording() { active_session.store(0, std::memory_order_release); }

void release() {
  forget_names();
  Rings::return_memory();
  g_attached.store(false, std::memory_order_release);
}

void forward_to(const ForeignRecorder* other, ForeignBegin begin_deep,
                ForeignIteration next_iteration) {
  if (other != nullptr) {
    g_foreign_iteration.store(next_iteration, std::memory_order_release);
    g_foreign_deep.store(begin_deep != nullptr ? begin_deep : other->begin_scope,
                         std::memory_order_release);
    g_foreign.store(other, std::memory_order_release);
  }
  uint32_t expected = other != nullptr ? 0 : kForeign;
  active_session.compare_exchange_strong(expected, other != nullptr ? kForeign : 0,
                                         std::memory_order_acq_rel);
}

uint32_t ring_count() { return Rings::count(); }

ScopeRing* ring(uint32_t number) { return Rings::at(number); }

base::Interner& names() { return g_names; }

base::Interner& tags() { return g_tags; }

bool any_scope_open(uint32_t session) {
  for (uint32_t i = 0; i < ring_count(); ++i) {
    const ScopeRing* r = ring(i);
    if (r != nullptr && r->state() == ScopeRing::State::Claimed && r->open_scopes(session) > 0) {
      return true;
    }
  }
  return false;
}

uint64_t ringless_drops() { return Rings::ringless_drops(); }

void before_fork() {
  g_names.lock_for_fork();
  g_tags.lock_for_fork();
}

void after_fork_in_parent() {
  g_tags.unlock_after_fork();
  g_names.unlock_after_fork();
}

void after_fork_in_child() {
  after_fork_in_parent();
  active_session.store(0, std::memory_order_relaxed);
  g_attached.store(false, std::memory_order_relaxed);
  Rings::after_fork_in_child();
  backend::ScopeStops::instance().after_fork_in_child();
}

}  // namespace gpufl::capture::scope_recorder

namespace gpufl::detail {

using capture::ScopeEvent;
using capture::ScopeRing;
using capture::ScopeToken;

namespace {

backend::ScopeStops& stops() { return backend::ScopeStops::instance(); }

}  // namespace

uint64_t begin_scope(std::string_view name, std::string_view tag, ScopeMeta meta) noexcept {
  namespace recorder = capture::scope_recorder;
  uint32_t session = active_session.load(std::memory_order_relaxed);
  if (session == 0) return 0;
  if (session == recorder::kForeign) {
    const auto* foreign = recorder::g_foreign.load(std::memory_order_acquire);
    const auto begin =
        meta.deep ? recorder::g_foreign_deep.load(std::memory_order_acquire) : foreign->begin_scope;
    return begin(name.data(), name.size(), tag.data(), tag.size(), meta.repeat, meta.warmup);
  }
  ScopeRing* ring = recorder::Rings::of_thread(session);
  if (ring == nullptr) return 0;
  const bool has_range = stops().is_listening() && stops().before_begin(name);
  ring->enter();
  session = active_session.load(std::memory_order_acquire);  // again: see forget_names()
  uint64_t scope = 0;
  if (session != 0 && session != recorder::kForeign) {
    const uint32_t name_id = recorder::g_names.intern(name);
    const uint32_t tag_id = recorder::g_tags.intern(tag) | (meta.deep ? ScopeEvent::kDeep : 0);
    scope = ring->begin(session, name_id, tag_id, meta.repeat, meta.warmup).bits;
  }
  ring->leave();
  if (has_range) stops().begun(scope, ring->thread_id());
  return scope;
}

void next_iteration(uint64_t scope, std::string_view name) noexcept {
  namespace recorder = capture::scope_recorder;
  const uint32_t session = active_session.load(std::memory_order_acquire);
  if (session == recorder::kForeign) {
    const auto next = recorder::g_foreign_iteration.load(std::memory_order_acquire);
    if (next != nullptr) next(scope, name.data(), name.size());
    return;
  }
  if (!stops().is_listening() || session != ScopeToken{scope}.session()) return;
  ScopeRing* const ring = recorder::Rings::of_thread(session);
  stops().ended(scope);
  if (ring != nullptr && stops().before_begin(name)) stops().begun(scope, ring->thread_id());
}

void end_scope(uint64_t scope) noexcept {
  namespace recorder = capture::scope_recorder;
  const ScopeToken token{scope};
  const uint32_t session = active_session.load(std::memory_order_acquire);
  if (session == recorder::kForeign) {
    return recorder::g_foreign.load(std::memory_order_acquire)->end_scope(scope);
  }
  if (session != token.session()) return;
  ScopeRing* ring = recorder::Rings::of_thread(session);
  if (ring != nullptr) ring->end(session, token);
  if (stops().is_listening()) stops().ended(scope);
}

}  // namespace gpufl::detail
