// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The instructions of sm_90 that the examples are built from: barriers in shared memory, copies by
// the tensor memory accelerator, and matrix products by a warp group. Each function is one of them.
namespace hopper {

#define HOPPER_DEVICE __device__ __forceinline__

HOPPER_DEVICE uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

HOPPER_DEVICE void barrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes initialised barriers visible to the copy engine; before the block synchronises.
HOPPER_DEVICE void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
HOPPER_DEVICE void barrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
HOPPER_DEVICE void barrier_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Until the phase of this parity has completed.
HOPPER_DEVICE void barrier_wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Writes to shared memory by this thread become visible to the copy engine.
HOPPER_DEVICE void fence_for_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// A box of a two-dimensional tensor map, x being contiguous.
HOPPER_DEVICE void load_box(void* to, const void* tensor_map, uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(tensor_map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
HOPPER_DEVICE void load_bytes(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
HOPPER_DEVICE void store_bytes(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until all but the newest `pending` stores of this thread have read their source.
template <int pending>
HOPPER_DEVICE void store_wait() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)
template <uint32_t registers>
HOPPER_DEVICE void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <uint32_t registers>
HOPPER_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

#define D8(i)                                                                                 \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define D128                                                                                    \
  D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56), D8(64), D8(72), D8(80), D8(88), \
      D8(96), D8(104), D8(112), D8(120)

HOPPER_DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
HOPPER_DEVICE void product_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until all but the newest `pending` groups of products are in their sums `d`, which are named so
// that no compiler reads them earlier.
template <int pending>
HOPPER_DEVICE void product_wait(float (&d)[128]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
  asm volatile("" : D128::"memory");
}

// A matrix in shared memory whose rows are 64 elements of 16 bits, swizzled by 128 bytes: 8 rows
// are 1,024 bytes. The next 16 columns are 2 further in this descriptor.
HOPPER_DEVICE uint64_t swizzled_matrix(const void* at) {
  const uint64_t address = (shared_address(at) & 0x3ffff) >> 4;
  return address | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// sums (64 x 256) = a (64 x 16) * b (256 x 16, transposed) + (is_added ? sums : 0); bfloat16.
HOPPER_DEVICE void multiply_64x256x16(float (&d)[128], uint64_t a, uint64_t b, int is_added) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n"
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n"
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,\n"
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,\n"
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,\n"
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,\n"
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
      "%111,\n"
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127},\n"
      "%128, %129, p, 1, 1, 0, 0;\n"
      "}\n"
      : D128
      : "l"(a), "l"(b), "r"(is_added));
}

#undef D128
#undef D8
#endif

}  // namespace hopper
