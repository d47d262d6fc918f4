// SPDX-License-Identifier: Apache-2.0
#include "capture/scope_recorder.hpp"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <gpufl/scope.hpp>
#include <new>

namespace gpufl::detail {

constinit std::atomic<uint32_t> active_session{0};

}  // namespace gpufl::detail

namespace gpufl::capture::scope_recorder {

namespace {

using detail::active_session;

constexpr size_t kMaxTextBytes = size_t{16} << 20;

constinit base::Interner g_names{kMaxNames, kMaxTextBytes};
constinit base::Interner g_tags{kMaxTags, kMaxTextBytes};
constinit std::atomic<ScopeRing*> g_rings[kMaxRings] = {};
constinit std::atomic<uint32_t> g_ring_count{0};
constinit std::atomic<uint64_t> g_ringless_drops{0};
constinit std::atomic<bool> g_attached{false};
constinit std::atomic<uint32_t> g_last_session{0};

// Initial-exec: one load from the thread's own block instead of a call to the dynamic linker. Its
// eight bytes fit the space that the linker keeps for libraries that are opened late.
__attribute__((tls_model("initial-exec"))) constinit thread_local ScopeRing* t_ring = nullptr;
// The session in which this thread was refused a ring: it is not asked for at every scope.
__attribute__((tls_model("initial-exec"))) constinit thread_local uint32_t t_refused = 0;

// Tells of a thread's end. A pthread key and not a thread_local's destructor, because it runs
// after all of those: scopes in them are still recorded. It does not run for the main thread at
// exit(), which goes on to run the destructors of statics.
bool make_exit_key(pthread_key_t& key) {
  return pthread_key_create(&key, [](void* ring) {
           t_ring = nullptr;
           static_cast<ScopeRing*>(ring)->exit_thread();
         }) == 0;
}

void watch_thread_exit(ScopeRing* ring) {
  static pthread_key_t key;
  static const bool made = make_exit_key(key);
  if (made) pthread_setspecific(key, ring);
}

ScopeRing* make_ring(uint32_t number, int64_t thread_id) {
  void* events = mmap(nullptr, ScopeRing::kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (events == MAP_FAILED) return nullptr;
  madvise(events, ScopeRing::kBytes, MADV_NOHUGEPAGE);  // a page for a few scopes, not 2 MiB
  auto* ring = new (std::nothrow) ScopeRing(number, static_cast<ScopeEvent*>(events), thread_id);
  if (ring == nullptr) munmap(events, ScopeRing::kBytes);
  return ring;
}

ScopeRing* claim_or_make_ring(int64_t thread_id) {
  const uint32_t made = ring_count();
  for (uint32_t i = 0; i < made; ++i) {
    ScopeRing* ring = scope_recorder::ring(i);
    if (ring != nullptr && ring->claim(thread_id)) return ring;
  }
  const uint32_t number = g_ring_count.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMaxRings) {
    g_ring_count.store(kMaxRings, std::memory_order_relaxed);
    return nullptr;
  }
  ScopeRing* ring = make_ring(number, thread_id);
  g_rings[number].store(ring, std::memory_order_release);
  return ring;
}

__attribute__((noinline)) ScopeRing* ring_of_new_thread(uint32_t session) noexcept {
  if (t_refused != session) {
    t_ring = claim_or_make_ring(gettid());
    if (t_ring != nullptr) {
      watch_thread_exit(t_ring);
      return t_ring;
    }
    t_refused = session;
  }
  g_ringless_drops.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

ScopeRing* ring_of_thread(uint32_t session) noexcept {
  return t_ring != nullptr ? t_ring : ring_of_new_thread(session);
}

// Every thread is made to pass a fence, in the kernel, so that none has to pay for one in
// begin_scope. False where the system does not offer it.
bool fence_all_threads() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// While no session records. A thread that is inside begin_scope is either seen here, and waited
// for, or sees that nothing is recorded. One that does not come out soon keeps the names alive
// until this is tried again.
void forget_names() {
  constexpr int kTries = 1000;
  if (g_names.is_empty() && g_tags.is_empty()) return;
  if (!fence_all_threads()) return;
  int tries = 0;
  for (uint32_t i = 0; i < ring_count(); ++i) {
    const ScopeRing* r = ring(i);
    while (r != nullptr && r->is_inside()) {
      if (++tries > kTries) return;
      sched_yield();
    }
  }
  g_names.clear();
  g_tags.clear();
}

}  // namespace

uint32_t attach() {
  if (g_attached.exchange(true, std::memory_order_acquire)) return 0;
  forget_names();
  for (uint32_t i = 0; i < ring_count(); ++i) {
    ScopeRing* r = ring(i);
    if (r == nullptr) continue;
    r->discard();
    if (r->state() == ScopeRing::State::Exited) r->make_free(0);
  }
  ScopeRing::share_anew();
  uint32_t session = (g_last_session.load(std::memory_order_relaxed) + 1) & 0xffff;
  if (session == 0) session = 1;
  g_last_session.store(session, std::memory_order_relaxed);
  return session;
}

void start_recording(uint32_t session) { active_session.store(session, std::memory_order_release); }

void stop_recording() { active_session.store(0, std::memory_order_release); }

void release() {
  forget_names();
  for (uint32_t i = 0; i < ring_count(); ++i) {
    if (ScopeRing* r = ring(i)) r->return_memory();
  }
  g_attached.store(false, std::memory_order_release);
}

uint32_t ring_count() { return std::min(g_ring_count.load(std::memory_order_acquire), kMaxRings); }

ScopeRing* ring(uint32_t number) { return g_rings[number].load(std::memory_order_acquire); }

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

uint64_t ringless_drops() { return g_ringless_drops.load(std::memory_order_relaxed); }

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
  for (uint32_t i = 0; i < ring_count(); ++i) {
    ScopeRing* r = ring(i);
    if (r != nullptr) r->after_fork(r == t_ring ? gettid() : 0);
  }
  ScopeRing::share_anew();
}

}  // namespace gpufl::capture::scope_recorder

namespace gpufl::detail {

using capture::ScopeRing;
using capture::ScopeToken;

uint64_t begin_scope(std::string_view name, std::string_view tag, ScopeMeta meta) noexcept {
  namespace recorder = capture::scope_recorder;
  uint32_t session = active_session.load(std::memory_order_relaxed);
  if (session == 0) return 0;
  ScopeRing* ring = recorder::ring_of_thread(session);
  if (ring == nullptr) return 0;
  ring->enter();
  session = active_session.load(std::memory_order_acquire);  // again: see forget_names()
  uint64_t scope = 0;
  if (session != 0) {
    const uint32_t name_id = recorder::g_names.intern(name);
    const uint32_t tag_id = recorder::g_tags.intern(tag);
    scope = ring->begin(session, name_id, tag_id, meta.repeat, meta.warmup).bits;
  }
  ring->leave();
  return scope;
}

void end_scope(uint64_t scope) noexcept {
  const ScopeToken token{scope};
  const uint32_t session = active_session.load(std::memory_order_acquire);
  if (session != token.session()) return;
  ScopeRing* ring = capture::scope_recorder::ring_of_thread(session);
  if (ring != nullptr) ring->end(session, token);
}

}  // namespace gpufl::detail
