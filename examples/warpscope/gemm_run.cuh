// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "examples/warpscope/gemm.cuh"

// The product of gemm.cuh from the host: operands, tensor maps, launch and check. Used by the
// example and the benchmark, each from one source.
namespace ws_example::gemm {

// The driver's function without linking the driver.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  WS_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    std::fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n");
    std::exit(2);
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

// A matrix whose rows are contiguous, in boxes of box_rows x kTileK, swizzled by 128 bytes.
inline CUtensorMap tensor_map(__nv_bfloat16* data, int rows, int columns, int box_rows) {
  CUtensorMap map;
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[] = {static_cast<cuuint64_t>(columns) * sizeof(__nv_bfloat16)};
  const cuuint32_t box[] = {kTileK, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t step[] = {1, 1};
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = tensor_map_encoder();
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, size, stride, box, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", static_cast<int>(result));
    std::exit(2);
  }
  return map;
}

static __global__ void fill(__nv_bfloat16* data, size_t size, uint32_t seed) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    uint32_t bits = static_cast<uint32_t>(i) * 2654435761u + seed;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    data[i] = __float2bfloat16(static_cast<float>(bits & 0xffff) / 65536.0f - 0.5f);
  }
}

class Operands {
 public:
  explicit Operands(const Problem& problem)
      : problem_(problem),
        a_(static_cast<size_t>(problem.m) * problem.k),
        b_(static_cast<size_t>(problem.n) * problem.k),
        c_(static_cast<size_t>(problem.m) * problem.n),
        map_a_(tensor_map(a_.data(), problem.m, problem.k, kTileM)),
        map_b_(tensor_map(b_.data(), problem.n, problem.k, kTileN)) {
    fill<<<1024, 256>>>(a_.data(), a_.size(), 1);
    fill<<<1024, 256>>>(b_.data(), b_.size(), 2);
    WS_CUDA(cudaGetLastError());
    clear();
  }

  __nv_bfloat16* a() const { return a_.data(); }
  __nv_bfloat16* b() const { return b_.data(); }
  __nv_bfloat16* c() const { return c_.data(); }
  // Not a number everywhere, so that what is not written shows.
  void clear() { c_.fill_bytes(0xff); }

  template <typename P>
  void launch(uint32_t blocks, const Problem& problem, const ws::Capture& capture) {
    const auto function = kernel<P>;
    constexpr size_t kBytes = sizeof(Shared<P>) + 1024;
    static const bool is_ready = [&] {
      WS_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(function),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(kBytes)));
      return true;
    }();
    (void)is_ready;
    function<<<blocks, kThreads, kBytes>>>(map_a_, map_b_, c(), problem, capture);
    WS_CUDA(cudaGetLastError());
  }

  // |C - reference| / |reference|, over all elements; not a number where something is missing.
  double relative_error() {
    if (expected_.empty()) {
      DeviceArray<float> expected(c_.size());
      reference<<<dim3((problem_.n + 255) / 256, problem_.m), 256>>>(a(), b(), expected.data(),
                                                                     problem_);
      WS_CUDA(cudaGetLastError());
      expected_ = expected.download();
    }
    const std::vector<__nv_bfloat16> found = c_.download();
    double error = 0, norm = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const double right = expected_[i];
      const double difference = static_cast<double>(__bfloat162float(found[i])) - right;
      error += difference * difference;
      norm += right * right;
    }
    return std::sqrt(error / norm);
  }

 private:
  const Problem problem_;
  DeviceArray<__nv_bfloat16> a_, b_, c_;
  const CUtensorMap map_a_, map_b_;
  std::vector<float> expected_;
};

// A layout that holds every record of one launch.
inline ws::CaptureLayout layout_of(const Problem& problem, uint32_t blocks, bool has_payloads) {
  ws::CaptureLayout layout;
  layout.num_blocks = blocks;
  layout.num_groups = kNumGroups;
  layout.max_records = records_of_lane(problem, blocks);
  layout.placement = ws::CaptureLayout::Placement::Lanes;
  layout.extension = has_payloads;
  return layout;
}

inline constexpr double kMaxRelativeError = 1e-2;  // bfloat16 results of sums in float

}  // namespace ws_example::gemm
