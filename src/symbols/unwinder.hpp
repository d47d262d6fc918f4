// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "symbols/unwind_cache.hpp"

// Walks the calling thread's stack by the compilers' unwind tables, so through code without frame
// pointers, reading nothing but that stack. Any thread. Once the addresses on a stack are known, a
// walk takes no lock, allocates nothing and makes no system call; a frame costs a few nanoseconds.
namespace gpufl::symbols {

#if defined(__x86_64__)
inline constexpr bool kCanUnwind = true;
#else
// A port brings UnwindStep, evaluate_cfi's register numbers, start_registers() and Walk::step().
inline constexpr bool kCanUnwind = false;
#endif

inline constexpr size_t kMaxFrames = 256;

// What a walk starts from: the registers at an address of the function that is walked from.
struct Registers {
  uintptr_t pc = 0, rsp = 0, rbp = 0, rbx = 0;
};

struct NativeStack {
  size_t count = 0;
  bool is_cut = false;  // there were more frames than room
  // Innermost first. An address lies inside of the instruction that is executing: for a caller one
  // byte before the return address.
  uintptr_t pc[kMaxFrames];
  uintptr_t cfa[kMaxFrames];  // where the frame ends on the stack; UINTPTR_MAX: unknown
};

// Must be inlined: the registers are those of the function that asks.
[[gnu::always_inline]] inline Registers start_registers() {
  Registers registers;
#if defined(__x86_64__)
  // An output that lands in rbx or rbp does no harm: then the function has saved the caller's, and
  // its table says where.
  asm volatile(
      "lea 0(%%rip), %0\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbp, %2\n\t"
      "mov %%rbx, %3"
      : "=&r"(registers.pc), "=&r"(registers.rsp), "=&r"(registers.rbp), "=&r"(registers.rbx));
#endif
  return registers;
}

// `start` must be of a function that is still running. The first frame is that function's.
void unwind(const Registers& start, UnwindCache& cache, uint64_t generation,
            NativeStack& out) noexcept;

}  // namespace gpufl::symbols
