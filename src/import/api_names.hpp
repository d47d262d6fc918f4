// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// What the names of API functions and ranges tell, whichever tool wrote them down. Pure functions.
namespace gpufl::importing {

// Operators of PyTorch, as markers.
inline constexpr std::string_view kOperatorDomain = "torch.cpu_op";

// "cudaLaunchKernel_v7000", "cuLaunchKernel_ptsz": the function without the ABI it was called by.
std::string_view plain_api_name(std::string_view name);

// format::CopyDirection's number of "HtoD" or "host to device", format::MemoryKind's of "Pinned" or
// "pinned"; -1: another word.
int8_t copy_direction_of(std::string_view word);
int8_t memory_kind_of(std::string_view word);

// format::WaitKind's number of a function that waits, or lets a stream wait; -1: of others.
int8_t wait_of(std::string_view plain_name);

}  // namespace gpufl::importing
