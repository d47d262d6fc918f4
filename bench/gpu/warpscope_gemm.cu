// SPDX-License-Identifier: Apache-2.0
// What recording costs a real kernel: the matrix product of examples/warpscope, with a profiler and
// with it compiled out, alternately. 12 events a block in every step of 128 x 256 x 64. Its speed
// without a profiler is held against cuBLAS, where there is one. About 15 seconds.

#include <dlfcn.h>
#include <glob.h>

#include <optional>
#include <string>

#include "bench/gpu/cuda_work.cuh"
#include "bench/report.hpp"
#include "examples/warpscope/gemm_run.cuh"

namespace {

namespace bench = gpufl::bench;
namespace gemm = ws_example::gemm;

constexpr int kSize = 8'192;
constexpr int kLaunches = 4;
constexpr int kPairs = 24;

class Stopwatch {
 public:
  Stopwatch() {
    GPUFL_CUDA(cudaEventCreate(&begin_));
    GPUFL_CUDA(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Milliseconds for each of kLaunches.
  template <typename Launch>
  double time(Launch&& launch) {
    GPUFL_CUDA(cudaEventRecord(begin_));
    for (int i = 0; i < kLaunches; ++i) launch();
    GPUFL_CUDA(cudaEventRecord(end_));
    GPUFL_CUDA(cudaEventSynchronize(end_));
    float milliseconds = 0;
    GPUFL_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds / kLaunches;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// cuBLAS as it is found at run time: building needs none of it.
class Cublas {
 public:
  Cublas() {
    // The toolkit's, or the one that came with a Python package.
    for (const char* pattern :
         {"/usr/local/cuda/lib64/libcublas.so.1?",
          "/usr/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1?",
          "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1?"}) {
      glob_t found = {};
      if (glob(pattern, 0, nullptr, &found) == 0 && library_ == nullptr) open(found.gl_pathv[0]);
      globfree(&found);
    }
    if (library_ == nullptr) library_ = dlopen("libcublas.so.13", RTLD_NOW);
    if (library_ == nullptr) return;
    using Create = int (*)(void**);
    const auto create = symbol<Create>("cublasCreate_v2");
    multiply_ = symbol<Multiply>("cublasGemmEx");
    if (create == nullptr || multiply_ == nullptr || create(&handle_) != 0) multiply_ = nullptr;
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  bool is_there() const { return multiply_ != nullptr; }
  // The same product: C transposed, by columns, is B by rows times A by rows transposed.
  void launch(const gemm::Operands& operands) {
    constexpr int kTransposed = 1, kAsItIs = 0, kBfloat16 = 14, kComputeFloat = 68, kDefault = -1;
    const float one = 1, zero = 0;
    const int status = multiply_(handle_, kTransposed, kAsItIs, kSize, kSize, kSize, &one,
                                 operands.b(), kBfloat16, kSize, operands.a(), kBfloat16, kSize,
                                 &zero, operands.c(), kBfloat16, kSize, kComputeFloat, kDefault);
    if (status == 0) return;
    std::fprintf(stderr, "warpscope_gemm: cublasGemmEx: status %d\n", status);
    std::exit(2);
  }

 private:
  using Multiply = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                           const void*, int, int, const void*, void*, int, int, int, int);
  void open(const std::string& path) {
    std::string light = path;  // which it needs, and may not look for beside itself
    light.replace(light.rfind("cublas"), 6, "cublasLt");
    dlopen(light.c_str(), RTLD_NOW | RTLD_GLOBAL);
    library_ = dlopen(path.c_str(), RTLD_NOW);
  }
  template <typename Function>
  Function symbol(const char* name) {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  Multiply multiply_ = nullptr;
};

struct Product {
  explicit Product(bench::Report& into) : report(into) {}

  bench::Report& report;
  gemm::Problem problem = {kSize, kSize, kSize};
  uint32_t blocks = ws_example::multiprocessors();
  gemm::Operands operands{problem};
  Stopwatch stopwatch;
  int wrong = 0;

  template <typename P>
  double time(const ws::Capture& capture) {
    return stopwatch.time([&] { operands.launch<P>(blocks, problem, capture); });
  }

  // P against the same kernel without a profiler.
  template <typename P>
  void compare(const char* what, ws::CaptureLayout::Placement placement, bool has_payloads,
               std::optional<bench::Bar> bar) {
    ws::CaptureLayout layout = gemm::layout_of(problem, blocks, has_payloads);
    layout.placement = placement;
    ws_example::DeviceCapture capture(layout, gemm::names());
    const auto off = [&] { return time<ws::Profiler<false>>(capture.argument()); };
    const auto on = [&] { return time<P>(capture.argument()); };
    on();
    report.ratio(std::string(what) + " / none", bench::paired_ratio(kPairs, off, on), bar);
    operands.clear();
    capture.reset();
    operands.launch<P>(blocks, problem, capture.argument());
    check(what);
    const ws::Trace trace = capture.decode();
    const size_t spans = size_t{problem.tiles()} * (problem.steps() * 6 + 2);
    if (trace.spans.size() == spans && trace.problems.empty()) return;
    std::fprintf(stderr, "warpscope_gemm: %s: %zu spans, not %zu\n", what, trace.spans.size(),
                 spans);
    ws_example::print_problems(trace);
    ++wrong;
  }

  void check(const char* what) {
    GPUFL_CUDA(cudaDeviceSynchronize());
    const double error = operands.relative_error();
    if (error <= gemm::kMaxRelativeError) return;
    std::fprintf(stderr, "warpscope_gemm: %s: relative error %g\n", what, error);
    ++wrong;
  }
};

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("warpscope_gemm", argc, argv);
  report.note("gpu", bench::require_gpu());
  report.note("size", kSize);
  Product product(report);
  const ws::Capture none = {};
  const auto off = [&] { return product.time<ws::Profiler<false>>(none); };
  off();
  const double milliseconds = off();
  product.check("none");
  report.value("without a profiler", 2.0 * kSize * kSize * kSize / milliseconds / 1e9, "TFLOP/s");
  Cublas cublas;
  report.note("cublas", cublas.is_there());
  if (cublas.is_there()) {
    const auto library = [&] {
      return product.stopwatch.time([&] { cublas.launch(product.operands); });
    };
    library();
    // Speed, not time: cuBLAS's time over ours.
    report.ratio("speed without a profiler / cuBLAS", bench::paired_ratio(kPairs, off, library),
                 bench::at_least(0.7));
  }
  report.ratio("A/A", bench::paired_ratio(kPairs, off, off));
  using Placement = ws::CaptureLayout::Placement;
  product.compare<ws::FastProfiler<true>>("fast path", Placement::Lanes, false,
                                          bench::at_most(1.03));
  product.compare<ws::FastProfiler<true, ws::Clock::Globaltimer, true>>(
      "fast path with payloads and tokens", Placement::Lanes, true, {});
  product.compare<ws::Profiler<true>>("v1", Placement::Strided, false, {});
  report.value("wrong products or captures", product.wrong, "runs", bench::at_most(0));
  return report.finish();
}
