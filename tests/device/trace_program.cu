// SPDX-License-Identifier: Apache-2.0
// trace_program FOLDER SCENARIO: work on GPU 0 whose records are known beforehand, traced into a
// session in FOLDER. The scenarios are the functions below.

#include <cuda_runtime.h>
#include <gpufl/gpufl.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

__global__ void empty() {}

__global__ void spin(long long nanoseconds) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "trace_program: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

void start_session(const char* folder) {
  gpufl::InitOptions options;
  options.app_name = "trace_program";
  options.log_path = folder;
  options.profiling_engine = gpufl::ProfilingEngine::Trace;
  if (!gpufl::init(options)) {
    std::fprintf(stderr, "trace_program: no session in %s\n", folder);
    std::exit(2);
  }
}

void synchronize() { require(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

// 20,000 launches on two streams, 10 copies each way, 5 fills, one failing call.
void mixed() {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) require(cudaStreamCreate(&stream), "cudaStreamCreate");
  void* memory = nullptr;
  static char host[4096];
  require(cudaMalloc(&memory, sizeof host), "cudaMalloc");
  for (int i = 0; i < 20000; ++i) empty<<<1, 32, 0, streams[i % 2]>>>();
  for (int i = 0; i < 10; ++i) {
    require(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice), "cudaMemcpy");
    require(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  for (int i = 0; i < 5; ++i) require(cudaMemset(memory, i, 1024), "cudaMemset");
  empty<<<1, 4096>>>();  // too large a block
  (void)cudaGetLastError();
  synchronize();
}

// Five empty kernels, then kernels of 5 us, 50 us, 500 us, 5 ms and 50 ms.
void spins() {
  for (int i = 0; i < 5; ++i) {
    spin<<<1, 1>>>(0);
    synchronize();
  }
  for (long long ns = 5000; ns <= 50000000; ns *= 10) {
    spin<<<1, 1>>>(ns);
    synchronize();
  }
}

// Ten kernels captured, launched seven times; three launches beside.
void graph() {
  cudaStream_t stream;
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  require(cudaStreamCreate(&stream), "cudaStreamCreate");
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (int i = 0; i < 10; ++i) empty<<<1, 32, 0, stream>>>();
  require(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
  require(cudaGraphInstantiate(&executable, captured, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 7; ++i) require(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  for (int i = 0; i < 3; ++i) empty<<<1, 32, 0, stream>>>();
  synchronize();
}

double nanoseconds_per_launch() {
  constexpr int kLaunches = 20000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) empty<<<1, 32>>>();
  synchronize();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / kLaunches;
}

// Three sessions one after the other, CUDA running before and between them; prints what a launch
// costs before, during and after each.
void again(const char* folder) {
  nanoseconds_per_launch();
  for (int round = 0; round < 3; ++round) {
    const double before = nanoseconds_per_launch();
    start_session(folder);
    const double during = nanoseconds_per_launch();
    gpufl::shutdown();
    const double after = nanoseconds_per_launch();
    std::printf("launch: %.0f ns before, %.0f ns during, %.0f ns after\n", before, during, after);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const std::string scenario = argv[2];
  if (scenario == "again") {
    again(argv[1]);
    return 0;
  }
  start_session(argv[1]);
  if (scenario == "mixed") mixed();
  if (scenario == "spins") spins();
  if (scenario == "graph") graph();
  gpufl::shutdown();
  return 0;
}
