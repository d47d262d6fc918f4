// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_table.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <iterator>
#include <mutex>
#include <new>
#include <span>

#include "base/interner.hpp"
#include "symbols/modules.hpp"
#include "symbols/python_frames.hpp"
#include "symbols/python_layout.hpp"
#include "symbols/stack_store.hpp"
#include "symbols/unwind_cache.hpp"
#include "symbols/unwinder.hpp"

namespace gpufl::symbols {

namespace {

// A frame is one word: an address of code, or with the highest bit set a place in Python code.
constexpr uint64_t kPythonWord = uint64_t{1} << 63;
constexpr uint64_t kCutWord = uint64_t{1} << 62;

constexpr int kLog2Steps = 16, kLog2Stacks = 16, kLog2Places = 16;
constexpr uint64_t kMaxWords = uint64_t{1} << 20;
constexpr uint32_t kMaxTexts = 1u << 15;
constexpr size_t kMaxTextBytes = size_t{8} << 20;

struct Tables {
  UnwindCache steps{kLog2Steps};
  StackStore stacks{kLog2Stacks, kMaxWords};
  base::Interner texts{kMaxTexts, kMaxTextBytes};
  PythonPlaces places{kLog2Places, texts};
  std::atomic<uint64_t> generation{0};
  std::atomic<const PythonRuntime*> python{nullptr};  // null: none that can be read

  std::mutex mutex;  // guards what follows; never taken by record()
  ModuleMap modules;
  PythonSearch python_search;
};

Tables& tables() {
  static Tables* const made = new Tables;
  return *made;
}

void find_interpreter(Tables& all) {
  if (all.python_search.is_found) return;
  all.python_search = find_python(RTLD_DEFAULT);
  std::string library;
  if (!all.python_search.is_found && all.modules.has_python_library(library)) {
    // Loaded by someone who keeps its symbols to themselves.
    if (void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      all.python_search = find_python(handle);
    }
  }
  if (!all.python_search.is_usable) return;
  // Its functions are called from now on: it must not be unloaded. The program itself is not.
  Dl_info info;
  if (dladdr(all.python_search.runtime.code_type, &info) != 0) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  all.python.store(&all.python_search.runtime, std::memory_order_release);
}

void refresh_locked(Tables& all) {
  const ModuleChange change = all.modules.refresh();
  if (change == ModuleChange::None) return;
  all.generation.store(all.modules.generation(), std::memory_order_release);
  find_interpreter(all);
}

// The words of a stack in the making.
class Words {
 public:
  bool is_full() const { return count_ == kMaxFrames; }
  void add(uint64_t word) { words_[count_++] = word; }
  // The last of them is there for this.
  void mark_cut() { words_[count_++] = kCutWord; }
  std::span<const uint64_t> all() const { return {words_, count_}; }

 private:
  uint64_t words_[kMaxFrames + 1];
  size_t count_ = 0;
};

// Places that a thread has been at lately, so that most frames are not looked up. Code may have
// been freed and other code made at the same address, a library's too (what torch.fx writes): its
// identity is looked at each time.
class RecentPlaces {
 public:
  struct Place {
    const char* code = nullptr;
    uintptr_t instruction = 0;
    uint64_t identity = 0;
    uint32_t id : 31 = 0;
    uint32_t is_users : 1 = 0;
    uint32_t last_stack = 0;  // which the place was the innermost of; 0: none
  };
  static_assert(sizeof(Place) == 32);

  // Null: it is no code.
  Place* find(PythonPlaces& places, const PythonRuntime& python, const PythonWalk& walk,
              const char* code, uintptr_t instruction) noexcept {
    const uint64_t hash = mix_hash(reinterpret_cast<uintptr_t>(code), instruction);
    Place& recent = places_[hash % std::size(places_)];
    if (recent.code == code && recent.instruction == instruction &&
        recent.identity == PythonPlaces::identity_of(python.layout, code)) {
      return &recent;
    }
    if (!walk.is_code(code)) return nullptr;
    const uint32_t id = places.intern(python.layout, code, walk.offset_of(code, instruction));
    recent = {code, instruction,         PythonPlaces::identity_of(python.layout, code),
              id,   places.is_users(id), 0};
    return &recent;
  }

 private:
  alignas(64) Place places_[256];
};
// A pointer, because the thread-local memory of a library that is opened late is scarce.
__attribute__((tls_model("initial-exec"))) constinit thread_local RecentPlaces* t_recent_places =
    nullptr;

// Freed when the thread ends, by a key: after the destructors of all thread-local objects.
[[gnu::noinline]] RecentPlaces* make_recent_places() noexcept {
  static pthread_key_t key;
  static const bool is_made = pthread_key_create(&key, [](void* places) {
                                t_recent_places = nullptr;
                                delete static_cast<RecentPlaces*>(places);
                              }) == 0;
  if (!is_made) return nullptr;
  t_recent_places = new (std::nothrow) RecentPlaces;
  pthread_setspecific(key, t_recent_places);
  return t_recent_places;
}

// The calling thread's state in the interpreter; null: it has none, or the interpreter ends, which
// frees the states of threads that it does not wait for.
const void* python_thread(const PythonRuntime& python) {
  return python.is_finalizing() == 0 ? python.this_thread_state() : nullptr;
}

// Puts the Python frames of a run of the interpreter in the place of the C function that runs them.
class Merge {
 public:
  Merge(const NativeStack& native, size_t first, Words& words)
      : native_(native), next_(first), words_(words) {}

  bool is_cut() const { return is_cut_; }

  void add_python(Tables& all, const PythonRuntime& python, const void* thread_state,
                  uintptr_t stack_begin) {
    PythonWalk walk(python, thread_state);
    uintptr_t anchor = 0;
    while (!is_cut_ && walk.next_run(anchor)) {
      // An anchor on another stack than the one that was walked (a coroutine's) says nothing.
      add_native_until(anchor >= stack_begin ? anchor : UINTPTR_MAX);
      const char* code = nullptr;
      int64_t offset = 0;
      while (walk.next_frame(code, offset)) {
        const uint32_t place = all.places.intern(python.layout, code, offset);
        if (!add(kPythonWord | place)) return;
      }
    }
  }

  void add_rest() { add_native_until(UINTPTR_MAX); }

 private:
  bool add(uint64_t word) {
    is_cut_ = words_.is_full();
    if (!is_cut_) words_.add(word);
    return !is_cut_;
  }

  // Everything inside of the frame that holds `anchor`, and that frame not.
  void add_native_until(uintptr_t anchor) {
    while (next_ < native_.count && native_.cfa[next_] <= anchor) {
      if (!add(native_.pc[next_])) return;
      ++next_;
    }
    if (next_ < native_.count && anchor != UINTPTR_MAX && holds(anchor)) ++next_;
  }
  bool holds(uintptr_t anchor) const { return next_ == 0 || native_.cfa[next_ - 1] <= anchor; }

  const NativeStack& native_;
  size_t next_;
  Words& words_;
  bool is_cut_ = false;
};

}  // namespace

StackTable& StackTable::instance() {
  static StackTable* const made = [] {
    prepare_find_code_module();
    // A child of fork() must not find a lock in the hands of a thread that it does not have.
    pthread_atfork(
        [] {
          tables().mutex.lock();
          tables().texts.lock_for_fork();
        },
        [] {
          tables().texts.unlock_after_fork();
          tables().mutex.unlock();
        },
        [] {
          tables().texts.unlock_after_fork();
          tables().mutex.unlock();
        });
    auto* table = new StackTable;
    table->refresh();
    return table;
  }();
  return *made;
}

[[gnu::noinline]] uint32_t StackTable::record() noexcept {
  const Registers start = start_registers();
  Tables& all = tables();
  const uint64_t generation = all.generation.load(std::memory_order_acquire);
  NativeStack native;
  unwind(start, all.steps, generation, native);

  Words words;
  Merge merge(native, 1, words);  // from our caller on
  if (const PythonRuntime* python = all.python.load(std::memory_order_acquire)) {
    const void* state = python_thread(*python);
    if (state != nullptr) merge.add_python(all, *python, state, start.rsp);
  }
  merge.add_rest();
  if (merge.is_cut() || native.is_cut) words.mark_cut();
  return words.all().empty() ? 0 : all.stacks.intern(words.all(), generation);
}

uint32_t StackTable::record_python_line() noexcept {
  Tables& all = tables();
  const PythonRuntime* python = all.python.load(std::memory_order_acquire);
  const void* state = python != nullptr ? python_thread(*python) : nullptr;
  if (state == nullptr) return 0;
  RecentPlaces* recent = t_recent_places != nullptr ? t_recent_places : make_recent_places();
  if (recent == nullptr) return 0;
  PythonWalk walk(*python, state);
  Words words;
  RecentPlaces::Place* innermost = nullptr;
  const char* code = nullptr;
  uintptr_t instruction = 0;
  while (walk.next_of_any(code, instruction)) {
    if (words.is_full()) {
      words.mark_cut();
      break;
    }
    RecentPlaces::Place* place = recent->find(all.places, *python, walk, code, instruction);
    if (place == nullptr) break;
    if (innermost == nullptr) innermost = place;
    words.add(kPythonWord | place->id);
    if (place->is_users) break;
  }
  if (innermost == nullptr) return 0;
  const uint64_t generation = all.generation.load(std::memory_order_acquire);
  // Most lines are reached in one way. The place may be another's by now: the words decide.
  uint32_t& stack = innermost->last_stack;
  if (stack == 0 || !all.stacks.is_equal(stack, words.all(), generation)) {
    stack = all.stacks.intern(words.all(), generation);
  }
  return stack;
}

std::vector<StackFrame> StackTable::frames(uint32_t id) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  const StackStore::Stack stack = all.stacks.get(id);
  std::vector<StackFrame> frames;
  const Module* own =
      all.modules.find(reinterpret_cast<uintptr_t>(&tables), all.modules.generation());
  for (const uint64_t word : stack.words) {
    StackFrame& frame = frames.emplace_back();
    if (word == kCutWord) {
      frame.function = "<cut>";
    } else if ((word & kPythonWord) != 0) {
      const PythonPlaces::View place = all.places.get(static_cast<uint32_t>(word));
      // A place that found no room has no name.
      frame.function = place.function.empty() ? "<overflow>" : place.function;
      frame.file = place.file;
      frame.line = place.line;
    } else {
      const Module* module = all.modules.find(word, stack.generation);
      if (module == nullptr) {
        refresh_locked(all);  // loaded since the last round
        module = all.modules.find(word, stack.generation);
      }
      frame.offset = word + 1;
      if (module == nullptr) continue;
      frame.module = module->path;
      frame.build_id = module->build_id;
      frame.module_bytes = module->end - module->begin;
      frame.offset = word + 1 - module->bias;
      frame.is_program = module->is_program;
      frame.holds_gpufl = module == own;
    }
  }
  return frames;
}

void StackTable::refresh() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  refresh_locked(all);
}

uint64_t StackTable::dropped() const { return tables().stacks.dropped(); }

std::vector<StackLimitation> StackTable::limitations() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  std::vector<StackLimitation> limitations;
  if (!kCanUnwind) {
    limitations.push_back({"machine_unsupported", "CPU stacks can be taken on x86-64 only"});
  }
  if (all.python_search.is_found && !all.python_search.is_usable) {
    limitations.push_back(
        {all.python_search.reason, all.python_search.detail + "; stacks have native frames only"});
  }
  return limitations;
}

}  // namespace gpufl::symbols
