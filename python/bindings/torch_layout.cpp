// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_layout.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstring>
#include <string_view>

namespace gpufl::python::torch_layout {

constinit Torch g_torch;

namespace {

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

std::string find_torch() {
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "libtorch_cpu.so is not loaded";
  Torch found;
  const bool is_complete =
      find(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
           found.add_global_callback) &&
      find(library, "_ZN2at14removeCallbackEm", found.remove_callback) &&
      find(library, "_ZNK2at14RecordFunction4nameEv", found.name) &&
      find(library, "_ZN2at15sequence_number4peekEv", found.next_sequence_number) &&
      find(library, "_ZN2at14RecordFunction15currentThreadIdEv", found.this_thread);
  // The library stays loaded: its functions are called from now on.
  if (!is_complete) return "this version of PyTorch has other callbacks than those known here";
  find(library, "_ZN2at24get_record_function_tls_Ev", found.this_threads_callbacks);
  find(library, "_ZN2at15disableCallbackEm", found.disable_callback);
  find(library, "_ZN2at16reenableCallbackEm", found.enable_callback);
  g_torch = found;
  return {};
}

// --- Words of a RecordFunction: those that were the expected number each time. The object lies on
// the stack of the thread that runs the operator, with the frames of its callers behind.

constexpr size_t kMaxWords = 64;
constexpr int kMinProbes = 8;

struct Probe {
  pthread_t thread{};
  int count = 0;
  std::array<bool, kMaxWords> is_sequence{};
  std::array<bool, kMaxWords> has_forward_thread{};  // where it is the sequence number
  size_t list_offset = 0;
};
constinit Probe g_probe;

constexpr size_t kUnknown = SIZE_MAX;
constinit size_t g_sequence_word = kUnknown;
constinit bool g_has_forward_thread = false;
constinit size_t g_list_offset = 0;  // 0: not known

int64_t word_of(const RecordFunction& function, size_t word) {
  int64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&function) + word * sizeof(value),
              sizeof(value));
  return value;
}

// What follows the sequence number: a view of inputs, a std::unordered_map, a std::vector, and the
// number of the thread that made a node. An operator has none, and the other two are empty.
constexpr size_t kMap = 3, kVector = 10, kForwardThread = 13;

bool has_forward_thread(const RecordFunction& function, size_t sequence_word) {
  if (sequence_word + kForwardThread >= kMaxWords) return false;
  const auto word = [&](size_t i) { return word_of(function, sequence_word + i); };
  // The one bucket of an empty map is its own last word.
  const auto bucket =
      reinterpret_cast<uintptr_t>(&function) + (sequence_word + kVector - 1) * sizeof(int64_t);
  if (word(kMap) != static_cast<int64_t>(bucket) || word(kMap + 1) != 1) return false;
  for (size_t i = kVector; i <= kForwardThread; ++i) {
    if (word(i) != 0) return false;
  }
  return true;
}

// --- A thread's list of callbacks for operators: a c10::SmallVector of pairs in PyTorch's cache
// for the thread, with room for four inside, then the thread's number and the kind that it is for.

struct CallbackList {
  const void* begin;
  uint32_t size, capacity;
  StartCallback start;  // of the first
  EndCallback end;
  void* others[6];
  uint64_t thread;
  uint8_t kind;

  bool has_room_inside(uint32_t count) const {
    return begin == &start && capacity == 4 && size == count;
  }
  bool is_of(StartCallback wanted, uint32_t count) const {
    return has_room_inside(count) && start == wanted;
  }
  bool is_operators_of(uint64_t wanted_thread) const {
    return thread == wanted_thread && kind == kFunction;
  }
};

CallbackList& list_at(size_t offset) {
  auto* callbacks = static_cast<char*>(const_cast<void*>(g_torch.this_threads_callbacks()));
  return *reinterpret_cast<CallbackList*>(callbacks + offset);
}

// At g_list_offset, which is known. PyTorch keeps it where it is for as long as the thread lives.
CallbackList& this_threads_list() {
  __attribute__((tls_model("initial-exec"))) static constinit thread_local CallbackList* t_list =
      nullptr;
  if (t_list == nullptr) t_list = &list_at(g_list_offset);
  return *t_list;
}

// How far behind what this_threads_callbacks() returns; 0: it is not there, or holds another's too.
// The cache has a list for each of PyTorch's ten kinds: it is several times as large as what is
// read.
size_t find_list(StartCallback start) {
  constexpr size_t kMaxOffset = 1024;
  if (g_torch.this_threads_callbacks == nullptr) return 0;
  for (size_t offset = sizeof(void*); offset < kMaxOffset; offset += sizeof(void*)) {
    const CallbackList& list = list_at(offset);
    if (list.is_of(start, 1) && list.is_operators_of(g_torch.this_thread())) return offset;
  }
  return 0;
}

// --- What is learnt

std::unique_ptr<Context> probe(const RecordFunction& function) {
  if (pthread_equal(g_probe.thread, pthread_self()) == 0) return nullptr;
  if (std::string_view(g_torch.name(&function)) != "aten::neg") return nullptr;
  const auto expected = static_cast<int64_t>(g_torch.next_sequence_number());
  // The operator is told again below autograd, where it has no number.
  bool has_number = false;
  for (size_t i = 0; i < kMaxWords; ++i) has_number |= word_of(function, i) == expected;
  if (!has_number) return nullptr;
  if (g_probe.count++ == 0) g_probe.list_offset = find_list(probe);
  for (size_t i = 0; i < kMaxWords; ++i) {
    g_probe.is_sequence[i] &= word_of(function, i) == expected;
    g_probe.has_forward_thread[i] &= has_forward_thread(function, i);
  }
  return nullptr;
}

void run_probes(void (*run)(void*), void* argument) {
  struct Registered {
    const uint64_t handle = add_callback(kFunction, probe, nullptr);
    ~Registered() { g_torch.remove_callback(handle); }
  } const registered;
  run(argument);
}

}  // namespace

uint64_t add_callback(Kind kind, StartCallback start, EndCallback end) {
  Callback callback{start, end};
  callback.scopes[kind] = true;
  return g_torch.add_global_callback(callback);
}

std::string learn(void (*run)(void*), void* argument) {
  if (g_sequence_word != kUnknown) return {};
  if (std::string error = find_torch(); !error.empty()) return error;
  g_probe = {};
  g_probe.thread = pthread_self();
  g_probe.is_sequence.fill(true);
  g_probe.has_forward_thread.fill(true);
  run_probes(run, argument);
  if (g_probe.count < kMinProbes) return "PyTorch did not report the operators that ran";
  for (size_t i = kMaxWords; i-- > 0;) {
    if (g_probe.is_sequence[i]) g_sequence_word = i;
  }
  if (g_sequence_word == kUnknown) return "PyTorch's operators have no sequence number";
  g_has_forward_thread = g_probe.has_forward_thread[g_sequence_word];
  g_list_offset = g_probe.list_offset;
  return {};
}

int64_t sequence_of(const RecordFunction& function) { return word_of(function, g_sequence_word); }

uint64_t forward_thread_of(const RecordFunction& function) {
  if (!g_has_forward_thread) return 0;
  return static_cast<uint64_t>(word_of(function, g_sequence_word + kForwardThread));
}

bool mute_operators(StartCallback start) noexcept {
  if (g_list_offset == 0) return false;
  CallbackList& list = this_threads_list();
  if (!list.is_of(start, 1)) return false;
  list.size = 0;
  return true;
}

void unmute_operators(StartCallback start) noexcept {
  CallbackList& list = this_threads_list();
  if (list.is_of(start, 0)) list.size = 1;
}

bool hears_alone(StartCallback start) noexcept {
  return g_list_offset != 0 && this_threads_list().is_of(start, 1);
}

void hear_operators(StartCallback start, EndCallback end) noexcept {
  CallbackList& list = this_threads_list();
  if (!list.has_room_inside(0) || !list.is_operators_of(g_torch.this_thread())) return;
  list.start = start;
  list.end = end;
  list.size = 1;
}

}  // namespace gpufl::python::torch_layout
