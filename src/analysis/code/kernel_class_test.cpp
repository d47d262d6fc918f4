// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/kernel_class.hpp"

#include <gtest/gtest.h>

#include "analysis/code/kernel_name.hpp"

namespace gpufl::analysis {
namespace {

struct Example {
  std::string_view name;
  KernelClass kernel_class;
  std::string_view short_name;
};

// Names of a training step of PyTorch on an H200, and of libraries that are not in it.
constexpr Example kExamples[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
     "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int, "
     "at::native::AUnaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> "
     ">, std::array<char*, 2ul>)",
     KernelClass::Elementwise, "vectorized_elementwise_kernel<MulFunctor>"},
    {"void at::native::vectorized_elementwise_kernel<8, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
     "std::array<char*, 2ul> >(int, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
     "std::array<char*, 2ul>)",
     KernelClass::Copy, "vectorized_elementwise_kernel<bfloat16_copy_kernel_cuda>"},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
     "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() "
     "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
     KernelClass::Copy, "elementwise_kernel<direct_copy_kernel_cuda>"},
    {"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
     "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
     "c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
     "c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16>)",
     KernelClass::Reduction, "reduce_kernel<sum_functor>"},
    {"nvjet_sm90_tst_96x128_64x6_2x1_v_bz_NNN", KernelClass::MatrixProduct,
     "nvjet_sm90_tst_96x128_64x6_2x1_v_bz_NNN"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, "
     "false>(int, float, float const*, float const*, float const*, float*, float*, float*)",
     KernelClass::Normalization, "vectorized_layer_norm_kernel"},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, "
     "32u, 32u, 256u, false, true, false>(long, long, float const*)",
     KernelClass::Normalization, "GammaBetaBackwardCUDAKernelTemplate"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, false, "
     "false>(float*, float const*, int, int, int, bool const*, int, bool)",
     KernelClass::Softmax, "softmax_warp_forward"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
     "namespace)::OpaqueType<2u>, unsigned int, 3, 64, 64>(at::native::(anonymous "
     "namespace)::OpaqueType<2u>*)",
     KernelClass::Copy, "CatArrayBatchedCopy"},
    {"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
     "long, long, bool)",
     KernelClass::Gather, "vectorized_gather_kernel"},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, "
     "long>(long const*, float const*, float*, int, long, int)",
     KernelClass::Gather, "embedding_backward_feature_kernel"},
    {"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
     "long>(float*, float*, float const*)",
     KernelClass::Reduction, "nll_loss_forward_reduce_cuda_kernel_2d"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
     "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>>(int)",
     KernelClass::Optimizer, "multi_tensor_apply_kernel<FusedAdamMathFunctor>"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x4_nt_align8>"
     "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x4_nt_align8::Params)",
     KernelClass::MatrixProduct,
     "Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x4_nt_align8>"},
    {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", KernelClass::MatrixProduct,
     "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, float>(cublasLt::Params)",
     KernelClass::MatrixProduct, "splitKreduce_kernel"},
    {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
     KernelClass::Convolution,
     "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64"},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>, false, true>(flash::Flash_fwd_params)",
     KernelClass::Attention, "flash_fwd_kernel"},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
     KernelClass::Attention, "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128",
     KernelClass::Attention,
     "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     KernelClass::Communication, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
    {"ncclDevKernel_ReduceScatter_Sum_f32_RING_SIMPLE", KernelClass::Communication,
     "ncclDevKernel_ReduceScatter_Sum_f32_RING_SIMPLE"},
    {"triton_poi_fused_add_gelu_native_dropout_3", KernelClass::Elementwise,
     "triton_poi_fused_add_gelu_native_dropout_3"},
    {"triton_red_fused_sum_1", KernelClass::Reduction, "triton_red_fused_sum_1"},
    {"triton_per_fused_native_layer_norm_0", KernelClass::Normalization,
     "triton_per_fused_native_layer_norm_0"},
    {"triton_tem_fused_mm_4", KernelClass::MatrixProduct, "triton_tem_fused_mm_4"},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4, "
     "at::native::templates::cuda::normal_and_transform<float>>(long, at::PhiloxCudaState)",
     KernelClass::Random, "distribution_elementwise_grid_stride_kernel"},
    {"void cub::CUB_200200_NS::DeviceRadixSortOnesweepKernel<int>(int*)", KernelClass::Sort,
     "DeviceRadixSortOnesweepKernel"},
    {"my_solver_step(float*, int)", KernelClass::Other, "my_solver_step"},
    {"", KernelClass::Other, ""},
};

TEST(KernelClass, IsToldFromTheNamesOfCommonLibraries) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(to_string(classify_kernel(example.name)), to_string(example.kernel_class))
        << example.name;
  }
}

TEST(KernelName, IsShortAndSaysWhatFramesDo) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(short_kernel_name(example.name), example.short_name) << example.name;
  }
}

TEST(KernelName, BrokenNamesStayReadable) {
  EXPECT_EQ(short_kernel_name("(a)"), "(a)");
  EXPECT_EQ(short_kernel_name("f<"), "f");
  EXPECT_EQ(short_kernel_name(">>>x"), ">>>x");
  EXPECT_EQ(short_kernel_name("k<script>alert(1)</script>"), "k<script>alert(1)</script>");
  EXPECT_EQ(short_kernel_name("a <b> &amp;"), "a <b> &amp;");
  EXPECT_EQ(short_kernel_name("half ?? (x)"), "half ?? (x)");
  EXPECT_EQ(short_kernel_name("loop_add_fusion.3"), "loop_add_fusion.3");
  EXPECT_EQ(short_kernel_name("void k<int>(float*)"), "k");
  EXPECT_EQ(short_kernel_name("main::{lambda()#1}::operator()(int) const"), "operator()");
}

TEST(KernelName, LabelsTellKernelsOfOneNameApart) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(kernel_labels("gemm", {"void gemm<float>(float*)", "void gemm<double>(double*)"}),
            (Labels{"gemm [float]", "gemm [double]"}));
  EXPECT_EQ(kernel_labels("f", {"a::f(int)", "b::f(int)"}), (Labels{"f [a]", "f [b]"}));
  EXPECT_EQ(kernel_labels("f", {"f(int)", "f(int, int)"}), (Labels{"f [int]", "f [int, int]"}));
  const std::string long_name(1000, 'x');
  const std::string one = "f<" + long_name + "1>", two = "f<" + long_name + "2>";
  const Labels cut = kernel_labels("f", {one, two});
  EXPECT_EQ(cut[1], cut[0] + " #2");
}

TEST(KernelName, LabelsAreNeitherEmptyNorEndless) {
  EXPECT_EQ(kernel_label(""), "(no name)");
  EXPECT_EQ(kernel_label("gemm"), "gemm");
  EXPECT_EQ(kernel_label(std::string(5000, 'k')).size(), 160u);
  EXPECT_TRUE(kernel_label(std::string(5000, 'k')).ends_with("k..."));
  EXPECT_EQ(kernel_label(std::string(156, 'k') + "\xC3\xA9\xC3\xA9\xC3\xA9"),
            std::string(156, 'k') + "...");
}

}  // namespace
}  // namespace gpufl::analysis
