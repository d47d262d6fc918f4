// SPDX-License-Identifier: Apache-2.0
// trace_program FOLDER SCENARIO: work on GPU 0 whose records are known beforehand, traced into a
// session in FOLDER. The scenarios are the functions below.

#include <cuda.h>

#include <chrono>
#include <thread>

#include "tests/device/cuda_program.cuh"

namespace {

using namespace gpufl::device_test;

// Writes what the GPU's own timer said before and after.
__global__ void spin(long long nanoseconds, long long* took) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
  *took = now - start;
}

// 20,000 launches on two streams, 10 copies each way, 5 fills, one failing call.
void mixed() {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) REQUIRE_CUDA(cudaStreamCreate(&stream));
  void* memory = nullptr;
  static char host[4096];
  REQUIRE_CUDA(cudaMalloc(&memory, sizeof host));
  for (int i = 0; i < 20000; ++i) empty<<<1, 32, 0, streams[i % 2]>>>();
  for (int i = 0; i < 10; ++i) {
    REQUIRE_CUDA(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
  }
  for (int i = 0; i < 5; ++i) REQUIRE_CUDA(cudaMemset(memory, i, 1024));
  empty<<<1, 4096>>>();  // too large a block
  (void)cudaGetLastError();
  synchronize();
}

// Spins of 5 us to 50 ms, many of the short ones; prints how long each took by the GPU's timer, in
// the order of their launch.
void spins() {
  // Not managed memory, whose page would be on its way while the kernel ends.
  long long *took = nullptr, *on_device = nullptr;
  REQUIRE_CUDA(cudaHostAlloc(&took, sizeof *took, cudaHostAllocMapped));
  REQUIRE_CUDA(cudaHostGetDevicePointer(&on_device, took, 0));
  const auto spin_once = [&](long long ns) {
    spin<<<1, 1>>>(ns, on_device);
    synchronize();
    std::printf("%lld %lld\n", ns, *took);
  };
  for (int i = 0; i < 200; ++i) spin_once(5'000);
  for (long long ns = 5'000; ns <= 50'000'000; ns *= 10) {
    for (int i = 0; i < 9; ++i) spin_once(ns);
  }
}

// Ten kernels captured, launched seven times; three launches beside.
void graph() {
  cudaStream_t stream;
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  REQUIRE_CUDA(cudaStreamCreate(&stream));
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 10; ++i) empty<<<1, 32, 0, stream>>>();
  REQUIRE_CUDA(cudaStreamEndCapture(stream, &captured));
  REQUIRE_CUDA(cudaGraphInstantiate(&executable, captured, 0));
  for (int i = 0; i < 7; ++i) REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
  for (int i = 0; i < 3; ++i) empty<<<1, 32, 0, stream>>>();
  synchronize();
}

// Copies of sizes that tell them apart: 1,000 to 1,003 pageable and 2,000 to 2,003 pinned, two to
// the device and two back; 3,000 on the device.
void copies() {
  constexpr size_t kBytes = 4096;
  static char pageable[kBytes];
  char *pinned = nullptr, *device = nullptr, *other = nullptr;
  REQUIRE_CUDA(cudaMallocHost(&pinned, kBytes));
  REQUIRE_CUDA(cudaMalloc(&device, kBytes));
  REQUIRE_CUDA(cudaMalloc(&other, kBytes));
  size_t first = 1000;
  for (char* host : {pageable, pinned}) {
    for (size_t i = 0; i < 2; ++i) {
      REQUIRE_CUDA(cudaMemcpy(device, host, first + i, cudaMemcpyHostToDevice));
      REQUIRE_CUDA(cudaMemcpy(host, device, first + 2 + i, cudaMemcpyDeviceToHost));
    }
    first = 2000;
  }
  REQUIRE_CUDA(cudaMemcpy(other, device, 3000, cudaMemcpyDeviceToDevice));
  synchronize();
}

// A function of the driver's, as it was in CUDA 12.0.
template <typename Function>
Function driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
  REQUIRE_CUDA(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) std::exit(2);
  return reinterpret_cast<Function>(address);
}

void require_driver(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "trace_program: the driver says %d\n", static_cast<int>(result));
  std::exit(2);
}

// 100 launches in the primary context, 200 and 300 in two that the driver's API made; the last one
// is destroyed while the session lasts.
void contexts() {
  const auto create =
      driver_function<CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice)>(
          "cuCtxCreate");
  const auto destroy = driver_function<CUresult (*)(CUcontext)>("cuCtxDestroy");
  const auto make_current = driver_function<CUresult (*)(CUcontext)>("cuCtxSetCurrent");
  for (int i = 0; i < 100; ++i) empty<<<1, 32>>>();
  synchronize();
  CUcontext context = nullptr;
  for (const int launches : {200, 300}) {
    require_driver(create(&context, nullptr, 0, 0, 0));
    require_driver(make_current(context));
    for (int i = 0; i < launches; ++i) empty<<<1, 32>>>();
    synchronize();
  }
  require_driver(destroy(context));
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
    std::printf("%.0f %.0f %.0f\n", before, during, after);
  }
}

// Two sessions in which the program calls nothing: it rests, then it waits for the GPU, since
// before the session. And one that records. Prints what a launch costs before and after the two.
void idle(const char* folder) {
  nanoseconds_per_launch();
  const double before = nanoseconds_per_launch();
  start_session(folder);
  gpufl::shutdown();
  const double after_rest = nanoseconds_per_launch();
  long long* took = nullptr;
  REQUIRE_CUDA(cudaMalloc(&took, sizeof *took));
  spin<<<1, 1>>>(1'500'000'000, took);
  std::thread waiting(synchronize);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  start_session(folder);
  gpufl::shutdown();
  waiting.join();
  std::printf("%.0f %.0f %.0f\n", before, after_rest, nanoseconds_per_launch());
  start_session(folder);
  nanoseconds_per_launch();
  gpufl::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const char*)> own_sessions = {{"again", again},
                                                                     {"idle", idle}};
  const auto play = argc == 3 ? own_sessions.find(argv[2]) : own_sessions.end();
  if (play != own_sessions.end()) {
    play->second(argv[1]);
    return 0;
  }
  return run_scenario(argc, argv,
                      {{"mixed", mixed},
                       {"spins", spins},
                       {"graph", graph},
                       {"copies", copies},
                       {"contexts", contexts}});
}
