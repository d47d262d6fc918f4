// SPDX-License-Identifier: Apache-2.0
#include "torch_observer.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <nvtx3/nvToolsExt.h>

#include "torch_layout.hpp"
#include "torch_passes.hpp"

namespace gpufl::python::torch_observer {
namespace {

using namespace torch_layout;

nvtxDomainHandle_t op_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("torch.op");
  return domain;
}
nvtxDomainHandle_t module_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("torch.module");
  return domain;
}

struct Name {
  const char* text;
  nvtxStringHandle_t registered = nullptr;  // what NVTX calls the text; null: nothing
};

nvtxEventAttributes_t attributes_of(const Name& name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (name.registered != nullptr) {
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = name.registered;
  } else {
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.text;
  }
  return attributes;
}

// An operator of the dispatcher, whose name has a namespace and stays where it is for as long as
// the operator is there.
struct KnownOperator {
  const char* name;
  nvtxStringHandle_t registered;
  std::array<char, 48> text;

  // A name that was forgotten may have left its place to another.
  bool is(const char* wanted) const {
    return name == wanted && std::strncmp(text.data(), wanted, text.size()) == 0;
  }
};

// Operators by where their names lie. What is in it stays: NVTX keeps what is registered for ever,
// so there is room for a few names that somebody makes up, too.
class KnownOperators {
 public:
  // Null: not known.
  const KnownOperator* find(const char* name) const {
    for (size_t i = 0; i < kTries; ++i) {
      const KnownOperator* known = place(name, i).load(std::memory_order_acquire);
      if (known == nullptr) return nullptr;
      if (known->is(name)) return known;
    }
    return nullptr;
  }
  void add(const char* name) {
    const size_t length = std::strlen(name);
    if (length >= sizeof(KnownOperator::text)) return;
    for (size_t i = 0; i < kTries; ++i) {
      if (place(name, i).load(std::memory_order_relaxed) != nullptr) continue;
      auto* known = new (std::nothrow) KnownOperator{name, nullptr, {}};
      if (known == nullptr) return;
      std::memcpy(known->text.data(), name, length);
      known->registered = nvtxDomainRegisterStringA(op_domain(), name);
      const KnownOperator* none = nullptr;
      if (!place(name, i).compare_exchange_strong(none, known, std::memory_order_release)) {
        delete known;
      }
      return;
    }
  }

 private:
  static constexpr size_t kTries = 4;
  static constexpr int kLog2Places = 11;
  using Place = std::atomic<const KnownOperator*>;

  const Place& place(const char* name, size_t i) const {
    const uint64_t hash = reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15u;
    return places_[((hash >> (64 - kLog2Places)) + i) % places_.size()];
  }
  Place& place(const char* name, size_t i) {
    return const_cast<Place&>(std::as_const(*this).place(name, i));
  }

  std::array<Place, size_t{1} << kLog2Places> places_{};
};
constinit KnownOperators g_known_operators;

// `thread` is the one that makes nodes, or has made the node: PyTorch's number of it.
void push_op(OpCategory category, const Name& name, int64_t sequence, uint64_t thread) {
  nvtxEventAttributes_t attributes = attributes_of(name);
  attributes.category = static_cast<uint32_t>(category) | static_cast<uint32_t>(thread)
                                                              << kThreadShift;
  if (sequence != kNoSequence) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = sequence;
  }
  nvtxDomainRangePushEx(op_domain(), &attributes);
}

// What is inside an operator is PyTorch's own business: operators that the program did not call.
// Initial-exec: no call of the dynamic linker, for a few bytes.
struct ThreadState {
  bool is_in_operator = false;
  bool is_muted = false;
  torch_passes::ThreadPasses passes;
};
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadState t_state;

constinit std::atomic<bool> g_is_attached{false};

Context g_open_context;       // a range, in which others are told
Context g_operator_context;   // one that hides what is inside
Context g_open_node_context;  // the same, of nodes of the backward pass
Context g_node_context;
Context g_engine_context;  // no range of ours: the engine's own, around a node

std::unique_ptr<Context> begin_function(const RecordFunction& function);

void hide_operators(ThreadState& state) {
  state.is_in_operator = true;
  state.is_muted = mute_operators(begin_function);
}

void end(const RecordFunction& /*function*/, Context* context) {
  if (context == nullptr) return;
  ThreadState& state = t_state;
  if (context == &g_engine_context) {
    state.passes.is_before_node = false;
    return;
  }
  const bool is_node = context == &g_node_context || context == &g_open_node_context;
  if (context == &g_operator_context || context == &g_node_context) {
    state.is_in_operator = false;
    // Detached meanwhile: PyTorch may have emptied the list itself.
    if (state.is_muted && g_is_attached.load(std::memory_order_relaxed)) {
      unmute_operators(begin_function);
    }
    state.is_muted = false;
  }
  // What the engine does next is for this node.
  if (is_node && torch_passes::is_quiet()) hear_operators(begin_function, end);
  nvtxDomainRangePop(op_domain());
}

// Those without a namespace are functions written in Python, which call operators from lines of
// their own.
std::unique_ptr<Context> begin_function(const RecordFunction& function) {
  constexpr std::string_view kEngine = "autograd::engine::";
  ThreadState& state = t_state;
  if (state.is_in_operator) return nullptr;
  const char* name = g_torch.name(&function);
  if (std::strncmp(name, kEngine.data(), kEngine.size()) == 0) {
    state.passes.is_before_node = true;
    return std::unique_ptr<Context>(&g_engine_context);
  }
  // A number that the next operator has as well has made no node.
  const auto sequence = static_cast<int64_t>(g_torch.next_sequence_number());
  const uint64_t thread = g_torch.this_thread();
  torch_passes::on_operator(state.passes, thread);
  const KnownOperator* known = g_known_operators.find(name);
  push_op(OpCategory::Operator, {name, known != nullptr ? known->registered : nullptr}, sequence,
          thread);
  if (known == nullptr) {
    if (std::strstr(name, "::") == nullptr) return std::unique_ptr<Context>(&g_open_context);
    g_known_operators.add(name);
  }
  hide_operators(state);
  return std::unique_ptr<Context>(&g_operator_context);
}

// Nodes written in Python are called as their class, and PyTorch's own have a number at the end or
// a namespace.
std::unique_ptr<Context> begin_backward(const RecordFunction& function) {
  ThreadState& state = t_state;
  state.passes = {.runs_nodes = true, .is_before_node = false};
  if (state.is_in_operator) return nullptr;
  const char* name = g_torch.name(&function);
  push_op(OpCategory::Backward, {name}, sequence_of(function), forward_thread_of(function));
  const size_t length = std::strlen(name);
  const bool has_digit = length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
  if (has_digit || std::strstr(name, "::") != nullptr) {
    hide_operators(state);
    return std::unique_ptr<Context>(&g_node_context);
  }
  if (torch_passes::is_quiet()) hear_operators(begin_function, end);
  return std::unique_ptr<Context>(&g_open_node_context);
}

std::unique_ptr<Context> begin_section(const RecordFunction& function) {
  if (t_state.is_in_operator) return nullptr;
  push_op(OpCategory::Section, {g_torch.name(&function)}, kNoSequence, 0);
  return std::unique_ptr<Context>(&g_open_context);
}

constinit std::array<uint64_t, 3> g_handles{};

}  // namespace

std::string prepare(void (*run)(void*), void* argument) { return learn(run, argument); }

void attach() {
  if (g_is_attached) return;
  op_domain();
  module_domain();
  g_is_attached = true;
  g_handles = {add_callback(kFunction, begin_function, end),
               add_callback(kBackwardFunction, begin_backward, end),
               add_callback(kUserScope, begin_section, end)};
  torch_passes::attach(g_handles[0], begin_function);
}

void detach() {
  if (!g_is_attached) return;
  g_is_attached = false;
  torch_passes::detach();
  for (const uint64_t handle : g_handles) g_torch.remove_callback(handle);
}

bool begin_pass() { return g_is_attached && torch_passes::begin(t_state.passes); }

void end_pass() { torch_passes::end(); }

void push_module(const char* path) noexcept {
  const nvtxEventAttributes_t attributes = attributes_of({path});
  nvtxDomainRangePushEx(module_domain(), &attributes);
}

void pop_module() noexcept { nvtxDomainRangePop(module_domain()); }

void push_section(const char* name) noexcept {
  push_op(OpCategory::Section, {name}, kNoSequence, 0);
}

void pop_section() noexcept { nvtxDomainRangePop(op_domain()); }

}  // namespace gpufl::python::torch_observer
