// SPDX-License-Identifier: Apache-2.0
#include "torch_observer.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <nvtx3/nvToolsExt.h>

namespace gpufl::python::torch_observer {
namespace {

// --- What PyTorch declares in ATen/record_function.h

struct RecordFunction;  // read by PyTorch's own functions, but for one word

// at::ObserverContext: owned by PyTorch, from a start callback to the end one. Ours are constants.
struct Context {
  virtual ~Context() = default;
  static void operator delete(void* /*constant*/) {}
};

using StartCallback = std::unique_ptr<Context> (*)(const RecordFunction&);
using EndCallback = void (*)(const RecordFunction&, Context*);

// at::RecordFunctionCallback. PyTorch has as many scopes as it has kinds, and then three flags that
// are to be false: all that follows the kinds which are wanted is.
struct Callback {
  StartCallback start;
  EndCallback end;
  double sampling_probability = 1.0;
  std::array<bool, 40> scopes{};
};

enum Kind : size_t { kFunction = 0, kBackwardFunction = 1, kUserScope = 7 };

struct Torch {
  uint64_t (*add_global_callback)(Callback) = nullptr;
  void (*remove_callback)(uint64_t handle) = nullptr;
  const char* (*name)(const RecordFunction*) = nullptr;
  uint64_t (*next_sequence_number)() = nullptr;  // that the thread's next node will have
};

constinit Torch g_torch;

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
      find(library, "_ZN2at15sequence_number4peekEv", found.next_sequence_number);
  // The library stays loaded: its functions are called from now on.
  if (!is_complete) return "this version of PyTorch has other callbacks than those known here";
  g_torch = found;
  return {};
}

// --- Where a RecordFunction holds its sequence number

constexpr size_t kMaxWords = 64;
constexpr int kMinProbes = 8;

// Words of a RecordFunction that were the expected number each time; the object lies on the stack
// of the thread that runs the operator, with the frames of its callers behind.
struct Probe {
  pthread_t thread{};
  int count = 0;
  std::array<bool, kMaxWords> is_candidate{};
};
constinit Probe g_probe;
constinit size_t g_sequence_word = kMaxWords;  // kMaxWords: not known

int64_t word_of(const RecordFunction& function, size_t word) {
  int64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&function) + word * sizeof(value),
              sizeof(value));
  return value;
}

std::unique_ptr<Context> probe(const RecordFunction& function) {
  if (pthread_equal(g_probe.thread, pthread_self()) == 0) return nullptr;
  if (std::string_view(g_torch.name(&function)) != "aten::neg") return nullptr;
  const auto expected = static_cast<int64_t>(g_torch.next_sequence_number());
  // The operator is told again below autograd, where it has no number.
  bool has_number = false;
  for (size_t i = 0; i < kMaxWords; ++i) has_number |= word_of(function, i) == expected;
  if (!has_number) return nullptr;
  ++g_probe.count;
  for (size_t i = 0; i < kMaxWords; ++i) {
    g_probe.is_candidate[i] &= word_of(function, i) == expected;
  }
  return nullptr;
}

uint64_t add_callback(Kind kind, StartCallback start, EndCallback end) {
  Callback callback{start, end};
  callback.scopes[kind] = true;
  return g_torch.add_global_callback(callback);
}

// --- Ranges

nvtxDomainHandle_t op_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("torch.op");
  return domain;
}
nvtxDomainHandle_t module_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("torch.module");
  return domain;
}

nvtxEventAttributes_t attributes_of(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

constexpr int64_t kNoSequence = -1;

void push_op(OpCategory category, const char* name, int64_t sequence) {
  nvtxEventAttributes_t attributes = attributes_of(name);
  attributes.category = static_cast<uint32_t>(category);
  if (sequence != kNoSequence) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = sequence;
  }
  nvtxDomainRangePushEx(op_domain(), &attributes);
}

// What is inside an operator is PyTorch's own business: operators that the program did not call.
thread_local uint32_t t_operators = 0;

Context g_open_context;      // a range, in which others are told
Context g_operator_context;  // a range that counts in t_operators

std::unique_ptr<Context> begin(OpCategory category, const char* name, int64_t sequence,
                               bool hides) {
  push_op(category, name, sequence);
  if (hides) ++t_operators;
  return std::unique_ptr<Context>(hides ? &g_operator_context : &g_open_context);
}

void end(const RecordFunction& /*function*/, Context* context) {
  if (context == nullptr) return;
  if (context == &g_operator_context && t_operators > 0) --t_operators;
  nvtxDomainRangePop(op_domain());
}

// The dispatcher's operators have a namespace. Others are functions written in Python, which call
// operators from lines of their own.
std::unique_ptr<Context> begin_function(const RecordFunction& function) {
  constexpr std::string_view kEngine = "autograd::engine::";  // the engine's own, around a node
  if (t_operators > 0) return nullptr;
  const char* name = g_torch.name(&function);
  if (std::strncmp(name, kEngine.data(), kEngine.size()) == 0) return nullptr;
  // A number that the next operator has as well has made no node.
  const auto sequence = static_cast<int64_t>(g_torch.next_sequence_number());
  return begin(OpCategory::Operator, name, sequence, std::strstr(name, "::") != nullptr);
}

// Nodes written in Python are called as their class, and PyTorch's own have a number at the end or
// a namespace.
std::unique_ptr<Context> begin_backward(const RecordFunction& function) {
  if (t_operators > 0) return nullptr;
  const char* name = g_torch.name(&function);
  const size_t length = std::strlen(name);
  const bool has_digit = length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
  const int64_t sequence =
      g_sequence_word < kMaxWords ? word_of(function, g_sequence_word) : kNoSequence;
  return begin(OpCategory::Backward, name, sequence,
               has_digit || std::strstr(name, "::") != nullptr);
}

std::unique_ptr<Context> begin_section(const RecordFunction& function) {
  if (t_operators > 0) return nullptr;
  return begin(OpCategory::Section, g_torch.name(&function), kNoSequence, false);
}

constinit std::array<uint64_t, 3> g_handles{};
constinit bool g_is_attached = false;

}  // namespace

std::string prepare(void (*run)(void*), void* argument) {
  if (g_sequence_word < kMaxWords) return {};
  if (std::string error = find_torch(); !error.empty()) return error;
  g_probe = {};
  g_probe.thread = pthread_self();
  g_probe.is_candidate.fill(true);
  const uint64_t handle = add_callback(kFunction, probe, nullptr);
  try {
    run(argument);
  } catch (...) {
    g_torch.remove_callback(handle);
    throw;
  }
  g_torch.remove_callback(handle);
  if (g_probe.count < kMinProbes) return "PyTorch told nothing of operators that ran";
  for (size_t i = kMaxWords; i-- > 0;) {
    if (g_probe.is_candidate[i]) g_sequence_word = i;
  }
  return g_sequence_word < kMaxWords ? "" : "PyTorch's operators have no sequence number";
}

void attach() {
  if (g_is_attached) return;
  op_domain();
  module_domain();
  g_handles = {add_callback(kFunction, begin_function, end),
               add_callback(kBackwardFunction, begin_backward, end),
               add_callback(kUserScope, begin_section, end)};
  g_is_attached = true;
}

void detach() {
  if (!g_is_attached) return;
  for (const uint64_t handle : g_handles) g_torch.remove_callback(handle);
  g_is_attached = false;
}

void push_module(const char* path) noexcept {
  const nvtxEventAttributes_t attributes = attributes_of(path);
  nvtxDomainRangePushEx(module_domain(), &attributes);
}

void pop_module() noexcept { nvtxDomainRangePop(module_domain()); }

void push_section(const char* name) noexcept { push_op(OpCategory::Section, name, kNoSequence); }

void pop_section() noexcept { nvtxDomainRangePop(op_domain()); }

}  // namespace gpufl::python::torch_observer
