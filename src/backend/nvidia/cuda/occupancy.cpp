// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/occupancy.hpp"

#include <cuda.h>
#include <algorithm>

namespace gpufl::backend {
namespace {

constexpr int32_t kWarpThreads = 32;
constexpr int32_t kRegisterUnit = 256;  // registers are given to a warp in such pieces

int32_t divide_up(int32_t value, int32_t by) { return (value + by - 1) / by; }
int32_t round_up(int32_t value, int32_t to) { return divide_up(value, to) * to; }

// The register file is divided evenly among the schedulers.
int32_t scheduler_count(const Multiprocessor& sm) {
  return sm.compute_major == 6 && sm.compute_minor == 0 ? 2 : 4;
}

int32_t shared_unit(const Multiprocessor& sm) { return sm.compute_major >= 8 ? 128 : 256; }

}  // namespace

std::optional<Multiprocessor> Multiprocessor::of_device(const CudaDriver& driver,
                                                        uint32_t ordinal) {
  Multiprocessor sm;
  const struct {
    CUdevice_attribute attribute;
    int32_t& value;
  } facts[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, sm.compute_major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, sm.compute_minor},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, sm.threads},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, sm.blocks},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, sm.registers},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, sm.shared_bytes},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, sm.shared_reserved_bytes},
  };
  for (const auto& [attribute, value] : facts) {
    const std::optional<int> answer = driver.device_attribute(ordinal, attribute);
    if (!answer) return {};
    value = *answer;
  }
  return sm;
}

Occupancy occupancy(const Multiprocessor& sm, const BlockNeeds& needs) {
  Occupancy result;
  const int32_t warps = std::max(divide_up(needs.threads, kWarpThreads), 1);
  const int32_t all_warps = sm.threads / kWarpThreads;
  result.by_warps = all_warps / warps;
  result.by_blocks = sm.blocks;
  result.by_registers = Occupancy::kUnlimited;
  if (needs.registers_per_thread > 0) {
    const int32_t of_warp = round_up(needs.registers_per_thread * kWarpThreads, kRegisterUnit);
    const int32_t schedulers = scheduler_count(sm);
    result.by_registers = sm.registers / schedulers / of_warp * schedulers / warps;
  }
  const int32_t shared = round_up(needs.shared_bytes + sm.shared_reserved_bytes, shared_unit(sm));
  result.by_shared = shared > 0 ? sm.shared_bytes / shared : Occupancy::kUnlimited;

  const std::pair<int32_t, std::string_view> bounds[] = {{result.by_warps, "waves"},
                                                         {result.by_registers, "registers"},
                                                         {result.by_shared, "shared_memory"},
                                                         {result.by_blocks, "groups"}};
  const auto* const least =
      std::min_element(std::begin(bounds), std::end(bounds),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  result.blocks = least->first;
  result.bound = least->second;
  if (all_warps > 0) result.hundredths = result.blocks * warps * 10'000 / all_warps;
  return result;
}

}  // namespace gpufl::backend
