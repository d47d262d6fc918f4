// SPDX-License-Identifier: Apache-2.0
// fixture_program SCENARIO: a little work on GPU 0, for recordings that are kept
// (record_fixtures.py). Knows nothing of GPUFlight; built with debug info.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

#define REQUIRE_CUDA(call) require_cuda((call), #call)

void require_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "fixture_program: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

__global__ void scale(float* values, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= factor;
}

__global__ void add(float* values, const float* others, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += others[i];
}

constexpr int kCount = 1 << 16;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr int kBlock = 256, kBlocks = kCount / kBlock;

float* device_memory() {
  float* memory = nullptr;
  REQUIRE_CUDA(cudaMalloc(&memory, kBytes));
  REQUIRE_CUDA(cudaMemset(memory, 0, kBytes));
  return memory;
}

void launch_pair(float* a, const float* b, cudaStream_t stream) {
  scale<<<kBlocks, kBlock, 0, stream>>>(a, 1.5f, kCount);
  add<<<kBlocks, kBlock, 0, stream>>>(a, b, kCount);
}

// 100 launches of two kernels, one that fails, a wait.
void tiny() {
  float *a = device_memory(), *b = device_memory();
  for (int i = 0; i < 50; ++i) launch_pair(a, b, nullptr);
  scale<<<1, 4096>>>(a, 1, 0);  // too large a block
  (void)cudaGetLastError();
  REQUIRE_CUDA(cudaDeviceSynchronize());
}

// A graph of 20 kernels, a copy and a fill, launched 12 times; 10 launches beside.
void graphs() {
  float *a = device_memory(), *b = device_memory();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  REQUIRE_CUDA(cudaStreamCreate(&stream));
  REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  REQUIRE_CUDA(cudaMemsetAsync(a, 0, kBytes, stream));
  for (int i = 0; i < 10; ++i) launch_pair(a, b, stream);
  REQUIRE_CUDA(cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, stream));
  REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
  REQUIRE_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 12; ++i) REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
  for (int i = 0; i < 5; ++i) launch_pair(a, b, stream);
  REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

// Four streams, one of them of high priority, that wait for each other's events.
void streams() {
  constexpr int kStreams = 4;
  cudaStream_t streams[kStreams];
  cudaEvent_t events[kStreams];
  float* memory[kStreams];
  int least = 0, greatest = 0;
  REQUIRE_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (int i = 0; i < kStreams; ++i) {
    REQUIRE_CUDA(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking,
                                              i == 0 ? greatest : least));
    REQUIRE_CUDA(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    memory[i] = device_memory();
  }
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < kStreams; ++i) {
      REQUIRE_CUDA(cudaStreamWaitEvent(streams[i], events[(i + 1) % kStreams], 0));
      launch_pair(memory[i], memory[(i + 1) % kStreams], streams[i]);
      REQUIRE_CUDA(cudaEventRecord(events[i], streams[i]));
    }
  }
  for (const cudaStream_t stream : streams) REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

// The same work in the primary context and, after a reset of the device, in a new one.
void contexts() {
  for (int round = 0; round < 2; ++round) {
    float *a = device_memory(), *b = device_memory();
    for (int i = 0; i < 25; ++i) launch_pair(a, b, nullptr);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaDeviceReset());
  }
}

// Copies from and to pageable and pinned memory, and on the device.
void copies() {
  static float pageable[kCount];
  float *pinned = nullptr, *a = device_memory(), *b = device_memory();
  REQUIRE_CUDA(cudaMallocHost(&pinned, kBytes));
  for (float* host : {pageable, pinned}) {
    for (int i = 0; i < 10; ++i) {
      REQUIRE_CUDA(cudaMemcpyAsync(a, host, kBytes, cudaMemcpyHostToDevice));
      launch_pair(a, b, nullptr);
      REQUIRE_CUDA(cudaMemcpyAsync(host, a, kBytes, cudaMemcpyDeviceToHost));
    }
  }
  REQUIRE_CUDA(cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice));
  REQUIRE_CUDA(cudaFreeHost(pinned));
  REQUIRE_CUDA(cudaFree(a));
}

[[gnu::noinline]] void train(float* a, const float* b) {
  for (int step = 0; step < 30; ++step) {
    for (int i = 0; i < 2; ++i) launch_pair(a, b, nullptr);
    REQUIRE_CUDA(cudaDeviceSynchronize());  // what a profiler should find
  }
}

void sync_in_loop() { train(device_memory(), device_memory()); }

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> scenarios = {
      {"tiny", tiny},         {"graphs", graphs}, {"streams", streams},
      {"contexts", contexts}, {"copies", copies}, {"sync_in_loop", sync_in_loop}};
  const auto scenario = argc == 2 ? scenarios.find(argv[1]) : scenarios.end();
  if (scenario == scenarios.end()) return 64;
  scenario->second();
  return 0;
}
