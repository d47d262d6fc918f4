// SPDX-License-Identifier: Apache-2.0
// Against a table of known values, and against NVIDIA's own calculation where its header is there.

#include <iterator>

#include <gtest/gtest.h>

#include "backend/nvidia/cuda/occupancy.hpp"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define GPUFL_HAS_CUDA_OCCUPANCY
#endif

namespace gpufl::backend {
namespace {

// threads, blocks, registers, shared and reserved bytes of a multiprocessor.
constexpr Multiprocessor kVolta{7, 0, 2048, 32, 65'536, 98'304, 0};
constexpr Multiprocessor kTuring{7, 5, 1024, 16, 65'536, 65'536, 0};
constexpr Multiprocessor kA100{8, 0, 2048, 32, 65'536, 167'936, 1024};
constexpr Multiprocessor kA10{8, 6, 1536, 16, 65'536, 102'400, 1024};
constexpr Multiprocessor kAda{8, 9, 1536, 24, 65'536, 102'400, 1024};
constexpr Multiprocessor kHopper{9, 0, 2048, 32, 65'536, 233'472, 1024};
constexpr Multiprocessor kBlackwell{10, 0, 2048, 32, 65'536, 233'472, 1024};
constexpr Multiprocessor kGeForce50{12, 0, 1536, 24, 65'536, 102'400, 1024};
constexpr Multiprocessor kAll[] = {kVolta, kTuring, kA100,      kA10,
                                   kAda,   kHopper, kBlackwell, kGeForce50};

TEST(Occupancy, KnownValues) {
  struct Case {
    Multiprocessor sm;
    BlockNeeds needs;
    int32_t blocks, hundredths;
    const char* bound;
  };
  constexpr Case kCases[] = {
      {kVolta, {256, 32, 0}, 8, 10'000, "waves"},
      {kVolta, {256, 64, 0}, 4, 5'000, "registers"},
      {kVolta, {128, 32, 49'152}, 2, 1'250, "shared_memory"},
      {kVolta, {32, 32, 0}, 32, 5'000, "groups"},
      {kTuring, {1024, 64, 0}, 1, 10'000, "waves"},
      {kA100, {1024, 32, 0}, 2, 10'000, "waves"},
      {kA100, {128, 255, 0}, 2, 1'250, "registers"},
      {kA10, {512, 40, 0}, 3, 10'000, "waves"},
      {kA10, {32, 16, 0}, 16, 3'333, "groups"},
      {kAda, {64, 32, 8'192}, 11, 4'583, "shared_memory"},
      {kHopper, {384, 168, 200'000}, 1, 1'875, "registers"},
      {kHopper, {128, 32, 100'000}, 2, 1'250, "shared_memory"},
      {kHopper, {33, 8, 0}, 32, 10'000, "waves"},
      {kBlackwell, {256, 128, 0}, 2, 2'500, "registers"},
      {kGeForce50, {1, 1, 0}, 24, 5'000, "groups"},
  };
  for (const Case& one : kCases) {
    const Occupancy result = occupancy(one.sm, one.needs);
    const std::string what = std::to_string(one.sm.compute_major) + "." +
                             std::to_string(one.sm.compute_minor) + " " +
                             std::to_string(one.needs.threads);
    EXPECT_EQ(result.blocks, one.blocks) << what;
    EXPECT_EQ(result.hundredths, one.hundredths) << what;
    EXPECT_EQ(result.bound, one.bound) << what;
  }
}

TEST(Occupancy, WhatIsNotUsedDoesNotLimit) {
  const Occupancy result = occupancy(kVolta, {256, 0, 0});
  EXPECT_EQ(result.by_registers, Occupancy::kUnlimited);
  EXPECT_EQ(result.by_shared, Occupancy::kUnlimited);
  EXPECT_EQ(result.blocks, 8);
}

#ifdef GPUFL_HAS_CUDA_OCCUPANCY
cudaOccDeviceProp properties(const Multiprocessor& sm) {
  cudaOccDeviceProp prop;
  prop.computeMajor = sm.compute_major;
  prop.computeMinor = sm.compute_minor;
  prop.maxThreadsPerBlock = 1024;
  prop.maxThreadsPerMultiprocessor = sm.threads;
  prop.regsPerBlock = prop.regsPerMultiprocessor = sm.registers;
  prop.warpSize = 32;
  prop.sharedMemPerBlock = 49'152;
  prop.sharedMemPerMultiprocessor = static_cast<size_t>(sm.shared_bytes);
  prop.numSms = 100;
  prop.sharedMemPerBlockOptin = static_cast<size_t>(sm.shared_bytes - sm.shared_reserved_bytes);
  prop.reservedSharedMemPerBlock = static_cast<size_t>(sm.shared_reserved_bytes);
  return prop;
}

TEST(Occupancy, IsWhatNvidiasHeaderCalculates) {
  int compared = 0;
  for (const Multiprocessor& sm : kAll) {
    const cudaOccDeviceProp prop = properties(sm);
    for (int threads = 1; threads <= 1024; threads += 31) {
      for (const int registers : {1, 16, 24, 31, 32, 33, 40, 48, 64, 72, 96, 128, 168, 255}) {
        for (int shared = 0; shared <= sm.shared_bytes - 2048; shared += 4'999) {
          cudaOccFuncAttributes attributes;
          attributes.maxThreadsPerBlock = 1024;
          attributes.numRegs = registers;
          attributes.sharedSizeBytes = static_cast<size_t>(shared);
          attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
          attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          attributes.maxDynamicSharedSizeBytes = prop.sharedMemPerBlockOptin;
          attributes.numBlockBarriers = 0;
          const cudaOccDeviceState state;
          cudaOccResult expected;
          ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &prop, &attributes, &state,
                                                            threads, 0),
                    CUDA_OCC_SUCCESS);
          // What cannot be launched was not, so there is nothing to say of it.
          if (expected.activeBlocksPerMultiprocessor == 0) continue;
          const Occupancy result = occupancy(sm, {threads, registers, shared});
          ASSERT_EQ(result.blocks, expected.activeBlocksPerMultiprocessor)
              << sm.compute_major << "." << sm.compute_minor << " threads " << threads
              << " registers " << registers << " shared " << shared;
          ASSERT_EQ(result.by_warps, expected.blockLimitWarps);
          ASSERT_EQ(result.by_registers, expected.blockLimitRegs);
          ASSERT_EQ(result.by_blocks, expected.blockLimitBlocks);
          ASSERT_EQ(result.by_shared, expected.blockLimitSharedMem);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 50'000);
}
#endif

}  // namespace
}  // namespace gpufl::backend
