// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_observer.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <nvtx3/nvToolsExt.h>

#include "backend/markers/framework_ranges.hpp"
#include "bindings/torch_layout.hpp"
#include "bindings/torch_passes.hpp"

namespace gpufl::python::torch_observer {
namespace {

using namespace torch_layout;
namespace framework_ranges = backend::framework_ranges;

// As NVTX knows it and as the recorder does. Made once, by attach(), before any range.
struct Domain {
  nvtxDomainHandle_t handle = nullptr;
  uint16_t number = 0;

  void make(const char* name) {
    if (handle == nullptr) handle = nvtxDomainCreateA(name);
    number = framework_ranges::domain(name);
  }
};
constinit Domain g_op_domain, g_module_domain;

// An operator of the dispatcher, whose name has a namespace and stays where it is for as long as
// the operator is there. One cache line.
struct alignas(64) KnownOperator {
  std::atomic<const char*> name{nullptr};  // null: none; kClaimed: in the making
  nvtxStringHandle_t registered = nullptr;
  uint32_t kept_text = 0;
  std::array<char, 44> text{};

  // A name that was forgotten may have left its place to another.
  bool is(const char* wanted) const {
    return name.load(std::memory_order_acquire) == wanted &&
           std::strncmp(text.data(), wanted, text.size()) == 0;
  }
};
static_assert(sizeof(KnownOperator) == 64);
constexpr char kClaimed[] = "";

// Operators by where their names lie. What is in it stays: NVTX keeps what is registered for ever,
// so there is room for a few names that somebody makes up, too.
class KnownOperators {
 public:
  // Null: not known.
  const KnownOperator* find(const char* name) const {
    for (size_t i = 0; i < kTries; ++i) {
      const KnownOperator& known = places_[place_of(name, i)];
      if (known.is(name)) return &known;
    }
    return nullptr;
  }
  void add(const char* name) {
    const size_t length = std::strlen(name);
    if (length >= sizeof(KnownOperator::text)) return;
    for (size_t i = 0; i < kTries; ++i) {
      KnownOperator& known = places_[place_of(name, i)];
      const char* none = nullptr;
      if (!known.name.compare_exchange_strong(none, kClaimed, std::memory_order_relaxed)) continue;
      std::memcpy(known.text.data(), name, length);
      known.registered = nvtxDomainRegisterStringA(g_op_domain.handle, name);
      known.kept_text = framework_ranges::keep_text(name);
      known.name.store(name, std::memory_order_release);
      return;
    }
  }

 private:
  static constexpr size_t kTries = 4;
  static constexpr int kLog2Places = 11;

  size_t place_of(const char* name, size_t i) const {
    const uint64_t hash = reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15u;
    return ((hash >> (64 - kLog2Places)) + i) % places_.size();
  }

  std::array<KnownOperator, size_t{1} << kLog2Places> places_{};
};
constinit KnownOperators g_known_operators;

// True: this shared object's session has it; false: NVTX has. pop() is to be told.
bool push(const Domain& domain, const framework_ranges::Range& range,
          nvtxStringHandle_t registered = nullptr) {
  if (framework_ranges::push(range)) return true;
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = range.category;
  if (registered != nullptr) {
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = registered;
  } else {
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = range.text;
  }
  if (range.payload != framework_ranges::kNoPayload) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = range.payload;
  }
  nvtxDomainRangePushEx(domain.handle, &attributes);
  return false;
}

void pop(const Domain& domain, bool is_recorded) {
  if (is_recorded) {
    framework_ranges::pop(domain.number);
  } else {
    nvtxDomainRangePop(domain.handle);
  }
}

// `thread` is the one that makes nodes, or has made the node: PyTorch's number of it.
bool push_op(OpCategory category, const char* name, const KnownOperator* known, int64_t sequence,
             uint64_t thread) {
  return push(
      g_op_domain,
      {.domain = g_op_domain.number,
       .category = static_cast<uint32_t>(category) | static_cast<uint32_t>(thread) << kThreadShift,
       .kept_text = known != nullptr ? known->kept_text : 0,
       .text = name,
       .payload = sequence != kNoSequence ? sequence : framework_ranges::kNoPayload},
      known != nullptr ? known->registered : nullptr);
}

// What is inside an operator is PyTorch's own business: operators that the program did not call.
// Initial-exec: no call of the dynamic linker, for a few bytes.
struct ThreadState {
  bool is_in_operator = false;
  bool is_muted = false;
  torch_passes::ThreadPasses passes;
  uint64_t number = 0;  // PyTorch's; 0: not asked for yet

  uint64_t known_number() {
    if (number == 0) number = g_torch.this_thread();
    return number;
  }
};
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadState t_state;

constinit std::atomic<bool> g_is_attached{false};

// A range of ours, as the end callback is told of it.
struct RangeContext : Context {
  bool is_node;
  bool hides_operators;  // those inside
  bool is_recorded;      // see push()

  RangeContext(bool node, bool hides, bool recorded)
      : is_node(node), hides_operators(hides), is_recorded(recorded) {}
};
RangeContext g_ranges[] = {{false, false, false}, {false, false, true}, {false, true, false},
                           {false, true, true},   {true, false, false}, {true, false, true},
                           {true, true, false},   {true, true, true}};
Context g_engine_context;  // no range of ours: the engine's own, around a node

std::unique_ptr<Context> context_of(bool is_node, bool hides_operators, bool is_recorded) {
  return std::unique_ptr<Context>(&g_ranges[is_node * 4 + hides_operators * 2 + is_recorded]);
}

std::unique_ptr<Context> begin_function(const RecordFunction& function);

void hide_operators(ThreadState& state) {
  state.is_in_operator = true;
  state.is_muted = mute_operators(begin_function);
}

void end(const RecordFunction& /*function*/, Context* context) {
  if (context == nullptr) return;
  ThreadState& state = t_state;
  if (context == &g_engine_context) {
    state.passes.end_engine_range();
    return;
  }
  const RangeContext& range = *static_cast<RangeContext*>(context);
  if (range.hides_operators) {
    state.is_in_operator = false;
    // Detached meanwhile: PyTorch may have emptied the list itself.
    if (state.is_muted && g_is_attached.load(std::memory_order_relaxed)) {
      unmute_operators(begin_function);
    }
    state.is_muted = false;
  }
  if (range.is_node) {
    if (!range.hides_operators) --state.passes.open_nodes;
    // What the engine does next is for this node.
    if (torch_passes::is_quiet()) hear_operators(begin_function, end);
  }
  pop(g_op_domain, range.is_recorded);
}

// Those without a namespace are functions written in Python, which call operators from lines of
// their own.
std::unique_ptr<Context> begin_function(const RecordFunction& function) {
  constexpr std::string_view kEngine = "autograd::engine::";
  ThreadState& state = t_state;
  if (state.is_in_operator) return nullptr;
  const char* name = g_torch.name(&function);
  const KnownOperator* known = g_known_operators.find(name);
  if (known == nullptr && std::strncmp(name, kEngine.data(), kEngine.size()) == 0) {
    state.passes.begin_engine_range();
    return std::unique_ptr<Context>(&g_engine_context);
  }
  // A number that the next operator has as well has made no node.
  const auto sequence = static_cast<int64_t>(g_torch.next_sequence_number());
  const uint64_t thread = state.known_number();
  torch_passes::on_operator(state.passes, thread);
  const bool is_recorded = push_op(OpCategory::Operator, name, known, sequence, thread);
  if (known == nullptr) {
    if (std::strstr(name, "::") == nullptr) return context_of(false, false, is_recorded);
    g_known_operators.add(name);
  }
  hide_operators(state);
  return context_of(false, true, is_recorded);
}

// Nodes written in Python are called as their class, and PyTorch's own have a number at the end or
// a namespace.
std::unique_ptr<Context> begin_backward(const RecordFunction& function) {
  ThreadState& state = t_state;
  state.passes.begin_node();
  if (state.is_in_operator) return nullptr;
  const char* name = g_torch.name(&function);
  const bool is_recorded = push_op(OpCategory::Backward, name, nullptr, sequence_of(function),
                                   forward_thread_of(function));
  const size_t length = std::strlen(name);
  const bool has_digit = length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9';
  if (has_digit || std::strstr(name, "::") != nullptr) {
    hide_operators(state);
    return context_of(true, true, is_recorded);
  }
  ++state.passes.open_nodes;
  if (torch_passes::is_quiet()) hear_operators(begin_function, end);
  return context_of(true, false, is_recorded);
}

std::unique_ptr<Context> begin_section(const RecordFunction& function) {
  if (t_state.is_in_operator) return nullptr;
  const char* name = g_torch.name(&function);
  return context_of(false, false, push_op(OpCategory::Section, name, nullptr, kNoSequence, 0));
}

constinit std::array<uint64_t, 3> g_handles{};

}  // namespace

std::string prepare(void (*run)(void*), void* argument) { return learn(run, argument); }

void attach() {
  if (g_is_attached) return;
  g_op_domain.make("torch.op");
  g_module_domain.make("torch.module");
  g_is_attached = true;
  g_handles = {add_callback(kFunction, begin_function, end),
               add_callback(kBackwardFunction, begin_backward, end),
               add_callback(kUserScope, begin_section, end)};
  torch_passes::attach(g_handles[0], begin_function, end);
}

void detach() {
  if (!g_is_attached) return;
  g_is_attached = false;
  torch_passes::detach();
  for (const uint64_t handle : g_handles) g_torch.remove_callback(handle);
}

Pass::Pass(bool is_alone) {
  if (g_is_attached) told_.emplace(t_state.passes, is_alone);
}

Section::Section(const char* name) noexcept
    : is_recorded_(push_op(OpCategory::Section, name, nullptr, kNoSequence, 0)) {}

Section::~Section() { pop(g_op_domain, is_recorded_); }

bool begin_module(const char* path, uint32_t kept_text) noexcept {
  return push(
      g_module_domain,
      {.domain = g_module_domain.number, .category = 0, .kept_text = kept_text, .text = path});
}

void end_module(bool is_recorded) noexcept { pop(g_module_domain, is_recorded); }

}  // namespace gpufl::python::torch_observer
