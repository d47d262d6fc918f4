// SPDX-License-Identifier: Apache-2.0
#include "client/joining.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <gpufl/scope.hpp>
#include <mutex>
#include <new>
#include <span>
#include <string_view>

namespace gpufl::client::joining {
namespace {

constexpr size_t kMaxCopies = 16;  // of the library in one process; what comes later is not seen
constexpr size_t kMaxAnnotations = 64;  // copies of annotation APIs that find this copy; likewise
constexpr std::string_view kNoteName{"GPUFL\0", 6};

bool take_member(SessionTable* member);
void let_member_go(SessionTable* member);
void forget_owner();
void pass_annotations(SessionTable* owner);

}  // namespace

// Known to the note by this name.
extern "C" __attribute__((visibility("hidden"))) SessionTable gpufl_session_v1;
constinit SessionTable gpufl_session_v1 = {
    .version = 0,
    .size = sizeof(SessionTable),
    .owner = nullptr,
    .join = [](SessionTable* member) { return take_member(member); },
    .leave = [](SessionTable* member) { let_member_go(member); },
    .scopes = {[](const char* name, size_t name_size, const char* tag, size_t tag_size,
                  uint32_t repeat, uint32_t warmup) {
                 return detail::begin_scope({name, name_size}, {tag, tag_size},
                                            {repeat, warmup, false});
               },
               [](uint64_t scope) { detail::end_scope(scope); }},
    .system_start = nullptr,
    .system_stop = nullptr,
    .flushed_folder = nullptr,
    .driver_starts = nullptr,
    .annotations_start = nullptr,
    .owner_ended = [] { forget_owner(); },
    .pass_annotations = [](SessionTable* owner) { pass_annotations(owner); },
    .counters = {nullptr, nullptr},
    .open_warpscope = nullptr,
    .record_warpscope = nullptr,
    .begin_deep_scope =
        [](const char* name, size_t name_size, const char* tag, size_t tag_size, uint32_t repeat,
           uint32_t warmup) {
          return detail::begin_scope({name, name_size}, {tag, tag_size}, {repeat, warmup, true});
        },
    .open_deep_window = nullptr,
    .close_deep_window = nullptr,
    .is_deep_window_open = nullptr,
    .next_iteration = [](uint64_t scope, const char* name,
                         size_t name_size) { detail::next_iteration(scope, {name, name_size}); },
};

// Name size, value size, type; name; value: the table's address, counted from the value's own, so
// that nothing has to be relocated.
__asm__(
    ".pushsection .note.gpufl,\"a\",@note\n"
    ".balign 4\n"
    ".long 6\n"
    ".long 8\n"
    ".long 1\n"
    ".ascii \"GPUFL\\0\"\n"
    ".balign 4\n"
    ".quad gpufl_session_v1 - .\n"
    ".popsection\n");

namespace {

// Members of this copy's session.
struct Members {
  std::mutex mutex;
  bool open = false;  // this copy is the owner
  SessionTable* all[kMaxCopies] = {};
};

// Never destroyed: members leave at exit, in any order.
Members& members() {
  static auto* const one = new Members;
  return *one;
}

constinit std::atomic<SessionTable*> g_joined{nullptr};
constinit std::atomic<capture::AnnotationTables> g_annotations[kMaxAnnotations] = {};
constinit std::atomic<size_t> g_annotations_count{0};

struct Copies {
  SessionTable* all[kMaxCopies] = {};
  size_t count = 0;

  std::span<SessionTable* const> list() const { return {all, count}; }
  void add(const char* value) {
    int64_t distance = 0;
    std::memcpy(&distance, value, sizeof distance);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the note holds a distance
    auto* table = reinterpret_cast<SessionTable*>(reinterpret_cast<intptr_t>(value) + distance);
    if (table->version.load(std::memory_order_acquire) != kTableVersion) return;
    if (count < kMaxCopies) all[count++] = table;
  }
};

__attribute__((constructor)) void show_table() {
  gpufl_session_v1.version.store(kTableVersion, std::memory_order_release);
}

size_t aligned(size_t size, size_t alignment) { return (size + alignment - 1) & ~(alignment - 1); }

void read_notes(const char* notes, size_t size, size_t alignment, Copies& copies) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t value_at = aligned(sizeof note + note.n_namesz, alignment);
    const size_t next_at = aligned(value_at + note.n_descsz, alignment);
    if (value_at + note.n_descsz > size) return;
    if (note.n_type == kTableVersion && note.n_descsz == sizeof(int64_t) &&
        std::string_view(notes + sizeof note, note.n_namesz) == kNoteName) {
      copies.add(notes + value_at);
    }
    if (next_at >= size) return;
    notes += next_at;
    size -= next_at;
  }
}

int read_module(dl_phdr_info* module, size_t, void* copies) {
  for (const auto& segment : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader speaks in addresses
    const auto* notes = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
    read_notes(notes, segment.p_memsz, segment.p_align == 8 ? 8 : 4, *static_cast<Copies*>(copies));
  }
  return 0;
}

// In the order in which they were loaded.
Copies find_copies() {
  Copies copies;
  dl_iterate_phdr(read_module, &copies);
  return copies;
}

bool take_member(SessionTable* member) {
  Members& ours = members();
  const std::lock_guard lock(ours.mutex);
  if (!ours.open) return false;
  if (std::find(ours.all, ours.all + kMaxCopies, member) != ours.all + kMaxCopies) return true;
  auto* const place = std::find(ours.all, ours.all + kMaxCopies, nullptr);
  if (place == ours.all + kMaxCopies) return false;
  *place = member;
  capture::counters::include(&member->counters);
  return true;
}

void let_member_go(SessionTable* member) {
  Members& ours = members();
  const std::lock_guard lock(ours.mutex);
  auto* const place = std::find(ours.all, ours.all + kMaxCopies, member);
  if (place == ours.all + kMaxCopies) return;
  *place = nullptr;
  capture::counters::exclude(&member->counters);
}

void pass_annotations(SessionTable* owner) {
  const size_t count =
      std::min(g_annotations_count.load(std::memory_order_acquire), kMaxAnnotations);
  for (const auto& kept : std::span(g_annotations, count)) {
    // Null: just being kept, and its thread sees the owner.
    if (auto tables = kept.load(std::memory_order_acquire)) owner->annotations_start(tables);
  }
}

SessionTable* find_owner(const Copies& copies) {
  for (SessionTable* copy : copies.list()) {
    if (SessionTable* owner = copy->owner.load()) return owner;
  }
  return nullptr;
}

void forget_owner() {
  capture::scope_recorder::forward_to(nullptr);
  g_joined.store(nullptr, std::memory_order_release);
}

}  // namespace

void set_up(const OwnerCalls& calls) {
  show_table();  // constructors of the program may come before ours
  gpufl_session_v1.system_start = calls.system_start;
  gpufl_session_v1.system_stop = calls.system_stop;
  gpufl_session_v1.flushed_folder = calls.flushed_folder;
  gpufl_session_v1.driver_starts = calls.driver_starts;
  gpufl_session_v1.annotations_start = calls.annotations_start;
  gpufl_session_v1.open_warpscope = calls.open_warpscope;
  gpufl_session_v1.record_warpscope = calls.record_warpscope;
  gpufl_session_v1.open_deep_window = calls.open_deep_window;
  gpufl_session_v1.close_deep_window = calls.close_deep_window;
  gpufl_session_v1.is_deep_window_open = calls.is_deep_window_open;
  gpufl_session_v1.counters = capture::counters::own_counters();
}

SessionTable* claim() {
  const Copies copies = find_copies();
  SessionTable* owner = find_owner(copies);
  // This copy is in the list, unless there are too many.
  if (owner == nullptr && copies.count > 0) {
    copies.all[0]->owner.compare_exchange_strong(owner, &gpufl_session_v1);
  }
  if (owner != nullptr && owner != &gpufl_session_v1) return owner;
  {
    const std::lock_guard lock(members().mutex);
    members().open = true;
  }
  for (SessionTable* copy : copies.list()) {
    if (copy != &gpufl_session_v1) copy->pass_annotations(&gpufl_session_v1);
  }
  return nullptr;
}

void release() {
  SessionTable* left[kMaxCopies] = {};
  {
    Members& ours = members();
    const std::lock_guard lock(ours.mutex);
    ours.open = false;
    std::swap(left, ours.all);
  }
  for (SessionTable* member : left) {
    if (member == nullptr) continue;
    member->owner_ended();
    capture::counters::exclude(&member->counters);
  }
  const Copies copies = find_copies();
  for (SessionTable* copy : copies.list()) {
    SessionTable* expected = &gpufl_session_v1;
    copy->owner.compare_exchange_strong(expected, nullptr);
  }
}

bool join(SessionTable* owner) {
  if (!owner->join(&gpufl_session_v1)) return false;
  g_joined.store(owner, std::memory_order_release);
  capture::scope_recorder::forward_to(&owner->scopes,
                                      takes_deep_scopes(*owner) ? owner->begin_deep_scope : nullptr,
                                      takes_iterations(*owner) ? owner->next_iteration : nullptr);
  return true;
}

SessionTable* joined() { return g_joined.load(std::memory_order_acquire); }

void leave() {
  SessionTable* const owner = joined();
  if (owner == nullptr) return;
  forget_owner();
  owner->leave(&gpufl_session_v1);
}

int annotations_start(capture::AnnotationTables tables) {
  const size_t place = g_annotations_count.fetch_add(1);
  if (place < kMaxAnnotations) g_annotations[place].store(tables);
  // After it was kept: an owner that is not seen here will see it there.
  SessionTable* const owner = find_owner(find_copies());
  return owner != nullptr ? owner->annotations_start(tables) : capture::annotations_start(tables);
}

void after_fork_in_child() {
  gpufl_session_v1.owner.store(nullptr, std::memory_order_relaxed);
  g_joined.store(nullptr, std::memory_order_relaxed);
  // A thread that is not there may hold the lock: a new one.
  new (&members()) Members;
}

}  // namespace gpufl::client::joining
