// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// What kind of work a kernel does, told from its name: a table of words of the common libraries
// (cuBLAS, CUTLASS, cuDNN, FlashAttention, ATen, Triton, NCCL). Pure functions.
namespace gpufl::analysis {

enum class KernelClass : uint8_t {
  MatrixProduct,
  Convolution,
  Attention,
  Softmax,
  Normalization,
  Reduction,
  Elementwise,
  Gather,  // embeddings, gather, scatter, index
  Optimizer,
  Communication,
  Copy,  // layout changes, concatenation, casts
  Random,
  Sort,
  Other,
};
inline constexpr size_t kKernelClassCount = static_cast<size_t>(KernelClass::Other) + 1;

std::string_view to_string(KernelClass kernel_class);  // "matrix product"
// `name`: demangled, whole.
KernelClass classify_kernel(std::string_view name);

}  // namespace gpufl::analysis
