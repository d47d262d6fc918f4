// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/wire.cuh>

// What the profilers ask of the hardware, one function for each instruction. Everything that reads
// a clock or stores a record is volatile and clobbers memory, so that compilers keep it between the
// statements it was written between. A test that runs the profilers on a CPU defines
// WARPSCOPE_EMULATED and this namespace's functions before it includes this.
#if !defined(WARPSCOPE_EMULATED)
#define WS_DEVICE __device__ __forceinline__
#define WS_NOT_UNROLLED _Pragma("unroll 1")
#define WS_UNLIKELY(condition) __builtin_expect(condition, false)

namespace ws {

WS_DEVICE uint32_t globaltimer_lo() {
  uint32_t time;
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(time)::"memory");
  return time;
}

namespace device {

WS_DEVICE uint64_t globaltimer() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}
WS_DEVICE uint32_t clock_lo() {
  uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
  return cycles;
}
template <Clock kClock>
WS_DEVICE uint32_t read_clock() {
  return kClock == Clock::Cycles ? clock_lo() : globaltimer_lo();
}
WS_DEVICE uint64_t clock() {
  uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
WS_DEVICE uint32_t smid() {
  uint32_t id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
WS_DEVICE uint32_t warpid() {
  uint32_t id;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(id));
  return id;
}
WS_DEVICE uint32_t cluster_rank() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}
WS_DEVICE uint32_t block_index() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
WS_DEVICE void fence_block() { __threadfence_block(); }

WS_DEVICE void store_global(uint64_t* at, uint64_t word) {
  asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
WS_DEVICE void store_global(uint64_t* at, uint32_t low, uint32_t high) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(low), "r"(high) : "memory");
}
// The upper half of a word.
WS_DEVICE void store_global_high(uint64_t* at, uint32_t high) {
  asm volatile("st.global.u32 [%0+4], %1;" ::"l"(at), "r"(high) : "memory");
}

// Shared memory by its 32-bit address.
using SharedAddress = uint32_t;
WS_DEVICE SharedAddress shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
template <uint32_t offset>
WS_DEVICE void store_shared(SharedAddress at, uint32_t low, uint32_t high) {
  asm volatile("st.shared.v2.u32 [%0+%3], {%1, %2};" ::"r"(at), "r"(low), "r"(high), "n"(offset)
               : "memory");
}

// Copies whole 16 bytes from shared to global memory, both 16-byte aligned. Where there is an
// engine for that, the copy is under way when this returns: copy_wait<pending>() waits until all
// but the newest `pending` copies have read their source, copy_wait_all() until they are written,
// too. copy_after_stores() puts what this thread stored to global memory before what it copies.
WS_DEVICE void copy_out(uint64_t* to, SharedAddress from, uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  for (uint32_t done = 0; done < bytes; done += 16) {
    asm volatile(
        "{\n"
        ".reg .u32 a, b, c, d;\n"
        "ld.shared.v4.u32 {a, b, c, d}, [%1];\n"
        "st.global.v4.u32 [%0], {a, b, c, d};\n"
        "}\n" ::"l"(reinterpret_cast<char*>(to) + done),
        "r"(from + done)
        : "memory");
  }
#endif
}
template <uint32_t pending>
WS_DEVICE void copy_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#endif
}
WS_DEVICE void copy_wait_all() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
WS_DEVICE void copy_after_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}

}  // namespace device
}  // namespace ws
#endif
