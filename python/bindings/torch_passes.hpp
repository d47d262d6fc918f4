// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "bindings/torch_layout.hpp"

// Backward passes in which PyTorch's engine tells nobody of operators: it puts a text together for
// every node, for whoever hears of operators, before the node itself is told. So the callback for
// them is disabled during a pass, and each thread of the engine hears of them from the end of a
// node on, and in nodes written in Python. What is missed are operators of hooks that run before a
// node, of what the engine calls around all nodes, and of other threads meanwhile: where there are
// such, no pass is quiet. Every kPassesALook-th pass is not, to see. Pass with the GIL; the rest on
// any thread.
namespace gpufl::python::torch_passes {

inline constexpr uint32_t kPassesALook = 16;

inline constinit std::atomic<uint32_t> g_attachment{0};  // how often attach() was called

// What a thread has been seen to do.
struct ThreadPasses {
  uint32_t ran_nodes_in = 0;    // the attachment in which it last did
  uint32_t engine_ranges = 0;   // of the engine, each around a node, that it is in
  uint32_t open_nodes = 0;      // written in Python, that it is in
  bool is_before_node = false;  // in such a range, and the node is yet to come
  bool is_in_pass = false;      // one that it began itself

  void begin_engine_range() {
    ++engine_ranges;
    is_before_node = true;
  }
  void end_engine_range() {
    --engine_ranges;
    is_before_node = false;
  }
  void begin_node() {
    ran_nodes_in = g_attachment.load(std::memory_order_relaxed);
    is_before_node = false;
  }
  // Of the innermost pass, as far as it is known.
  bool is_at_node() const { return engine_ranges > 0 || open_nodes > 0; }
  // As the engine's own threads do.
  bool runs_nodes() const { return ran_nodes_in == g_attachment.load(std::memory_order_relaxed); }
};

// Until detach(), with the callback for operators that was added.
void attach(uint64_t handle, torch_layout::StartCallback start, torch_layout::EndCallback end);
void detach();

// A pass that this thread runs, while it is there. One inside of another is told as that is.
class Pass {
 public:
  // `is_alone`: the program has no other thread that could call operators.
  Pass(ThreadPasses& seen, bool is_alone);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

 private:
  ThreadPasses& seen_;
  const ThreadPasses around_;  // what the thread was in
  const bool is_quiet_;
};

inline constinit std::atomic<bool> g_is_quiet{false};
inline bool is_quiet() { return g_is_quiet.load(std::memory_order_relaxed); }

// PyTorch's number of the first thread that called an operator.
inline constinit std::atomic<uint64_t> g_program_thread{0};
// An operator that may be missed in a quiet pass, unless the thread is the program's first.
void on_doubtful_operator(uint64_t thread, bool is_of_hook) noexcept;
inline void on_operator(const ThreadPasses& seen, uint64_t thread) noexcept {
  // A quiet pass has no ranges of the engine, and of what is around all nodes nobody hears in it.
  const bool is_known =
      seen.is_at_node() || (is_quiet() && seen.runs_nodes()) ||
      (!seen.is_in_pass && thread == g_program_thread.load(std::memory_order_relaxed));
  if (seen.is_before_node || !is_known) on_doubtful_operator(thread, seen.is_before_node);
}

}  // namespace gpufl::python::torch_passes
