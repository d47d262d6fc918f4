// SPDX-License-Identifier: Apache-2.0
// A matrix product with one loading and two multiplying groups, recorded by the fast path: writes
// the capture and a Perfetto trace, checks the result, prints what each group did and what the
// recording of it costs.
//   gemm [--size N] [--blocks N] [--slow loader|multiplier] [--slow-cycles N] [--output FOLDER]

#include <warpscope/cost.cuh>

#include <cstdlib>
#include <string>

#include "examples/warpscope/gemm_run.cuh"

namespace gemm = ws_example::gemm;

namespace {

struct Options {
  int size = 4096;
  int blocks = 0;  // 0: one for each multiprocessor
  uint32_t slow_group = gemm::kNumGroups;
  uint32_t slow_cycles = 1000;
  std::string output = ".";
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--size") {
      options.size = std::atoi(value.c_str());
    } else if (name == "--blocks") {
      options.blocks = std::atoi(value.c_str());
    } else if (name == "--slow" && (value == "loader" || value == "multiplier")) {
      options.slow_group = value == "loader" ? gemm::kLoader : gemm::kSecondMultiplier;
    } else if (name == "--slow-cycles") {
      options.slow_cycles = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (name == "--output") {
      options.output = value;
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && options.size > 0 && options.size % gemm::kTileN == 0 &&
         options.blocks >= 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s [--size N, a multiple of 256] [--blocks N]\n"
                 "       [--slow loader|multiplier] [--slow-cycles N] [--output FOLDER]\n",
                 argv[0]);
    return 64;
  }
  int major = 0;
  WS_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major != 9) {
    std::fprintf(stderr, "%s: needs a GPU of compute capability 9.0\n", argv[0]);
    return 2;
  }
  const gemm::Problem problem = {options.size, options.size, options.size, options.slow_group,
                                 options.slow_cycles};
  const uint32_t blocks =
      options.blocks != 0 ? static_cast<uint32_t>(options.blocks) : ws_example::multiprocessors();
  gemm::Operands operands(problem);
  using Profiler = ws::FastProfiler<true, ws::Clock::Globaltimer, true>;
  const ws::EventCost cost = ws::measure_event_cost<Profiler>(gemm::kNumGroups);
  WS_CUDA(cost.status);
  ws::CaptureLayout layout = gemm::layout_of(problem, blocks, true);
  layout.event_cost_ps = cost.picoseconds();
  ws_example::DeviceCapture capture(layout, gemm::names());
  operands.launch<Profiler>(blocks, problem, capture.argument());
  WS_CUDA(cudaDeviceSynchronize());
  const double error = operands.relative_error();
  const std::vector<uint64_t> words = capture.words();
  const ws::Trace trace = ws::decode_capture(words);
  ws_example::print_problems(trace);
  ws::print_durations(trace);
  const std::string dump = options.output + "/gemm.wscap";
  const std::string picture = options.output + "/gemm.perfetto-trace";
  if (!ws::write_dump(words.data(), words.size(), dump) ||
      !ws::write_perfetto_trace(trace, picture)) {
    std::fprintf(stderr, "%s: cannot write to %s\n", argv[0], options.output.c_str());
    return 2;
  }
  const ws::Slowdown slowdown = ws::compare_with_clean(
      [&] { operands.launch<Profiler>(blocks, problem, capture.argument()); },
      [&] { operands.launch<ws::FastProfiler<false>>(blocks, problem, capture.argument()); });
  WS_CUDA(slowdown.status);
  std::printf("profiled / clean: %.4f, between %.4f and %.4f; clean %.3f ms\n",
              slowdown.ratio.median, slowdown.ratio.low, slowdown.ratio.high,
              slowdown.clean_ms.median);
  std::printf("%zu spans in %s and %s; relative error %.2e\n", trace.spans.size(), dump.c_str(),
              picture.c_str(), error);
  return error <= gemm::kMaxRelativeError ? 0 : 1;
}
