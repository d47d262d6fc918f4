// SPDX-License-Identifier: Apache-2.0
#include "backend/markers/marker_recorder.hpp"

#include <pthread.h>

#include <mutex>

namespace gpufl::backend::marker_recorder {
namespace {

constexpr uint32_t kMaxLabels = 4096;

constinit std::mutex g_labels_mutex;  // for adding
constinit Label g_labels[kMaxLabels] = {};
constinit std::atomic<uint32_t> g_label_count{0};
constinit std::atomic<uint64_t> g_labels_overflowed{0};

constinit std::atomic<bool> g_attached{false};
constinit std::atomic<uint32_t> g_last_session{0};

// While no session records. Texts that a thread may still be using stay until this is tried again.
void forget_messages() {
  if (!g_messages.is_empty() && Rings::wait_until_outside()) g_messages.clear();
}

// The child of fork() has one thread, which must find no lock in another's hands, and no session:
// it writes nothing to its parent's log.
void before_fork() {
  g_labels_mutex.lock();
  g_domains.lock_for_fork();
  g_kept_texts.lock_for_fork();
  g_messages.lock_for_fork();
}

void after_fork_in_parent() {
  g_messages.unlock_after_fork();
  g_kept_texts.unlock_after_fork();
  g_domains.unlock_after_fork();
  g_labels_mutex.unlock();
}

void after_fork_in_child() {
  after_fork_in_parent();
  g_active_session.store(0, std::memory_order_relaxed);
  g_attached.store(false, std::memory_order_relaxed);
  Rings::after_fork_in_child();
}

bool watch_forks() {
  return pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

}  // namespace

uint32_t add_domain(uint32_t id) {
  for (const std::string_view domain : kDomainsWithStacks) {
    if (g_domains.text(id) == domain) g_has_stacks[id].store(true, std::memory_order_relaxed);
  }
  return id;
}

void add_label(Label::Kind kind, uint32_t domain, uint32_t number, uint32_t text) noexcept {
  const std::lock_guard lock(g_labels_mutex);
  const uint32_t count = g_label_count.load(std::memory_order_relaxed);
  for (uint32_t i = count; i-- > 0;) {
    const Label& known = g_labels[i];
    if (known.kind != kind || known.domain != domain || known.number != number) continue;
    if (known.text == text) return;
    break;
  }
  if (count == kMaxLabels) {
    g_labels_overflowed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  g_labels[count] = {kind, static_cast<uint16_t>(domain), number, text};
  g_label_count.store(count + 1, std::memory_order_release);
}

uint32_t label_count() { return g_label_count.load(std::memory_order_acquire); }

Label label(uint32_t number) { return g_labels[number]; }

uint32_t attach() {
  static const bool watched [[maybe_unused]] = watch_forks();
  if (g_attached.exchange(true, std::memory_order_acquire)) return 0;
  forget_messages();
  Rings::start_anew();
  uint32_t session = (g_last_session.load(std::memory_order_relaxed) + 1) & 0xffff;
  if (session == 0) session = 1;
  g_last_session.store(session, std::memory_order_relaxed);
  return session;
}

void start_recording(uint32_t session, StackRecorder* stacks) {
  g_stacks.store(stacks, std::memory_order_relaxed);
  g_active_session.store(session, std::memory_order_release);
}

void stop_recording() { g_active_session.store(0, std::memory_order_release); }

void release() {
  forget_messages();
  Rings::return_memory();
  g_attached.store(false, std::memory_order_release);
}

uint64_t texts_overflowed() {
  return g_domains.overflowed() + g_kept_texts.overflowed() + g_messages.overflowed() +
         g_labels_overflowed.load(std::memory_order_relaxed);
}

}  // namespace gpufl::backend::marker_recorder
