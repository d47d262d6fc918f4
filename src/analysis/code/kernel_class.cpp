// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "analysis/code/kernel_name.hpp"

namespace gpufl::analysis {

namespace {

constexpr std::array<std::string_view, kKernelClassCount> kWords = {
    "matrix product", "convolution", "attention", "softmax",   "normalization",
    "reduction",      "elementwise", "gather",    "optimizer", "communication",
    "copy",           "random",      "sort",      "other",
};

enum class Where : uint8_t {
  Function,  // the function's own name
  Anywhere,  // its template arguments and parameters too
};

struct Rule {
  std::string_view part;  // lower case
  KernelClass kernel_class;
  Where where = Where::Function;
};

// The first that holds counts, so what is more telling comes first: an attention kernel has random
// states among its parameters, a fused kernel of Triton the names of all it fuses.
constexpr Rule kRules[] = {
    {"nccl", KernelClass::Communication},
    {"nvshmem", KernelClass::Communication},
    {"all_reduce", KernelClass::Communication},
    {"allreduce", KernelClass::Communication},
    {"all_gather", KernelClass::Communication},
    {"allgather", KernelClass::Communication},
    {"reduce_scatter", KernelClass::Communication},
    {"reducescatter", KernelClass::Communication},
    {"all_to_all", KernelClass::Communication},
    {"alltoall", KernelClass::Communication},
    {"cross_device_reduce", KernelClass::Communication},

    {"flash::", KernelClass::Attention, Where::Anywhere},
    {"flash_fwd", KernelClass::Attention},
    {"flash_bwd", KernelClass::Attention},
    {"flashattn", KernelClass::Attention, Where::Anywhere},
    {"flashinfer", KernelClass::Attention},
    {"fmha", KernelClass::Attention, Where::Anywhere},
    {"sdpa", KernelClass::Attention},
    {"attention", KernelClass::Attention, Where::Anywhere},
    {"attn", KernelClass::Attention},

    {"softmax", KernelClass::Softmax},

    {"layer_norm", KernelClass::Normalization},
    {"layernorm", KernelClass::Normalization},
    {"batch_norm", KernelClass::Normalization},
    {"batchnorm", KernelClass::Normalization},
    {"group_norm", KernelClass::Normalization},
    {"groupnorm", KernelClass::Normalization},
    {"instance_norm", KernelClass::Normalization},
    {"rms_norm", KernelClass::Normalization},
    {"rmsnorm", KernelClass::Normalization},
    {"gammabetabackward", KernelClass::Normalization},
    {"rowwisemoments", KernelClass::Normalization},
    {"ln_fwd", KernelClass::Normalization},
    {"ln_bwd", KernelClass::Normalization},
    {"bn_fw", KernelClass::Normalization},
    {"bn_bw", KernelClass::Normalization},

    {"adam", KernelClass::Optimizer, Where::Anywhere},
    {"sgd", KernelClass::Optimizer, Where::Anywhere},
    {"adagrad", KernelClass::Optimizer, Where::Anywhere},
    {"rmsprop", KernelClass::Optimizer, Where::Anywhere},
    {"lambfunctor", KernelClass::Optimizer, Where::Anywhere},
    {"lambstage", KernelClass::Optimizer, Where::Anywhere},
    {"optimizer", KernelClass::Optimizer},

    {"fprop", KernelClass::Convolution, Where::Anywhere},
    {"dgrad", KernelClass::Convolution, Where::Anywhere},
    {"wgrad", KernelClass::Convolution, Where::Anywhere},
    {"implicit_gemm", KernelClass::Convolution, Where::Anywhere},
    {"winograd", KernelClass::Convolution, Where::Anywhere},
    {"convolve", KernelClass::Convolution},
    {"convolution", KernelClass::Convolution},
    {"conv1d", KernelClass::Convolution},
    {"conv2d", KernelClass::Convolution},
    {"conv3d", KernelClass::Convolution},
    {"conv_depthwise", KernelClass::Convolution},
    {"im2col", KernelClass::Convolution},
    {"col2im", KernelClass::Convolution},

    {"gemm", KernelClass::MatrixProduct, Where::Anywhere},
    {"nvjet", KernelClass::MatrixProduct},
    {"gemv", KernelClass::MatrixProduct},
    {"matmul", KernelClass::MatrixProduct},
    {"splitkreduce", KernelClass::MatrixProduct},
    {"syrk", KernelClass::MatrixProduct},
    {"trsm", KernelClass::MatrixProduct},
    {"triton_tem_", KernelClass::MatrixProduct},

    {"triton_poi_", KernelClass::Elementwise},
    {"triton_red_", KernelClass::Reduction},
    {"triton_per_", KernelClass::Reduction},

    {"distribution_", KernelClass::Random},
    {"philox", KernelClass::Random},
    {"curand", KernelClass::Random},
    {"dropout", KernelClass::Random},
    {"random", KernelClass::Random},
    {"bernoulli", KernelClass::Random},
    {"multinomial", KernelClass::Random},
    {"generate_seed", KernelClass::Random},

    {"radixsort", KernelClass::Sort},
    {"sort", KernelClass::Sort},
    {"topk", KernelClass::Sort},
    {"radix", KernelClass::Sort},
    {"bitonic", KernelClass::Sort},

    {"embedding", KernelClass::Gather},
    {"gather", KernelClass::Gather},
    {"scatter", KernelClass::Gather},
    {"index", KernelClass::Gather},

    {"copy_kernel", KernelClass::Copy, Where::Anywhere},
    {"copy", KernelClass::Copy},
    {"transpose", KernelClass::Copy},
    {"permute", KernelClass::Copy},
    {"concat", KernelClass::Copy},

    {"reduce", KernelClass::Reduction},
    {"reduction", KernelClass::Reduction},
    {"scan", KernelClass::Reduction},
    {"cumsum", KernelClass::Reduction},
    {"argmax", KernelClass::Reduction},
    {"argmin", KernelClass::Reduction},
    {"loss", KernelClass::Reduction},
    {"cross_entropy", KernelClass::Reduction},

    {"elementwise", KernelClass::Elementwise},
    {"pointwise", KernelClass::Elementwise},
    {"multi_tensor_apply", KernelClass::Elementwise},
    {"fill", KernelClass::Elementwise},
    {"gelu", KernelClass::Elementwise},
    {"relu", KernelClass::Elementwise},
    {"silu", KernelClass::Elementwise},
    {"act_and_mul", KernelClass::Elementwise},
    {"activation", KernelClass::Elementwise},
    {"axpy", KernelClass::Elementwise},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

std::string_view to_string(KernelClass kernel_class) {
  return kWords[static_cast<size_t>(kernel_class)];
}

KernelClass classify_kernel(std::string_view name) {
  const std::string whole = lower(name);
  std::string function = lower(short_kernel_name(name));
  function.resize(std::min(function.find('<'), function.size()));
  for (const Rule& rule : kRules) {
    const std::string& text = rule.where == Where::Function ? function : whole;
    if (text.find(rule.part) != std::string::npos) return rule.kernel_class;
  }
  return KernelClass::Other;
}

}  // namespace gpufl::analysis
