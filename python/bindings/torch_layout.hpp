// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// What ATen/record_function.h declares, as far as it is used here, and what it does not declare but
// is found out from operators that run: where a RecordFunction holds its numbers, and where PyTorch
// keeps a thread's list of callbacks. docs/design/torch-labels.md says what is relied on. learn()
// by one thread at a time; the rest on the program's threads, which write nothing that others read.
namespace gpufl::python::torch_layout {

struct RecordFunction;  // read by PyTorch's own functions, but for two words

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
  uint64_t (*this_thread)() = nullptr;           // PyTorch's own number of it, from 1
  // Null: PyTorch has no such function.
  const void* (*this_threads_callbacks)() = nullptr;
  void (*disable_callback)(uint64_t handle) = nullptr;
  void (*enable_callback)(uint64_t handle) = nullptr;
};
extern constinit Torch g_torch;

uint64_t add_callback(Kind kind, StartCallback start, EndCallback end);

// Finds PyTorch and learns the rest: `run` runs a few operators that need gradients, on this
// thread. Empty, or a sentence that says why not.
std::string learn(void (*run)(void*), void* argument);

inline constexpr int64_t kNoSequence = -1;
int64_t sequence_of(const RecordFunction& function);
// PyTorch's number of the thread that made a node of the backward pass; 0: not known.
uint64_t forward_thread_of(const RecordFunction& function);

// The operators of the calling thread, which PyTorch tells nobody of from mute() to unmute(): for
// those inside of others that costs as much as for the others. Only where `start` alone would hear
// of them; true when that is so.
bool mute_operators(StartCallback start) noexcept;
// Where PyTorch has made its list anew meanwhile, that stays.
void unmute_operators(StartCallback start) noexcept;

// Whether `start` is the one callback that hears of the calling thread's operators.
bool hears_alone(StartCallback start) noexcept;
// It hears of them although its callback is disabled, until PyTorch makes the thread's list anew,
// as the engine does at both ends of a node. Nothing where somebody else hears of them.
void hear_operators(StartCallback start, EndCallback end) noexcept;

}  // namespace gpufl::python::torch_layout
