// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/multiprocessor.hpp"

#include <string_view>

#include "format/vendor_words.hpp"

namespace gpufl::analysis {
namespace {

constexpr int64_t kKibibyte = 1024;
constexpr int64_t kRegisters = 65'536;  // of every architecture below

// As cuda::arch_traits of NVIDIA/cccl has them, and the arithmetic of CUDA's programming guide;
// what it does not list is 0.
struct Architecture {
  std::string_view name;
  int64_t threads, blocks, shared_kibibytes;
  int64_t fp32_units, fp64_units;
};
constexpr Architecture kArchitectures[] = {
    {"sm_70", 2048, 32, 96, 64, 32},    {"sm_75", 1024, 16, 64, 64, 2},
    {"sm_80", 2048, 32, 164, 64, 32},   {"sm_86", 1536, 16, 100, 128, 2},
    {"sm_87", 1536, 16, 164, 128, 0},   {"sm_88", 1536, 16, 100, 0, 0},
    {"sm_89", 1536, 24, 100, 128, 2},   {"sm_90", 2048, 32, 228, 128, 64},
    {"sm_100", 2048, 32, 228, 128, 64}, {"sm_103", 2048, 32, 228, 128, 0},
    {"sm_110", 1536, 24, 228, 128, 0},  {"sm_120", 1536, 24, 100, 128, 2},
    {"sm_121", 1536, 24, 100, 128, 0},
};

// "sm_90" of "sm_90a": the letter is about instructions.
std::string_view without_letter(std::string_view architecture) {
  const size_t end = architecture.find_last_of("0123456789");
  return architecture.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

std::optional<Multiprocessor> multiprocessor_of(const base::Json& device) {
  if (!format::is_like_nvidia(device["vendor"].as_string())) return std::nullopt;
  const std::string_view name = without_letter(device["architecture"].as_string());
  for (const Architecture& known : kArchitectures) {
    if (known.name != name) continue;
    Multiprocessor sm;
    sm.threads = known.threads;
    sm.blocks = known.blocks;
    sm.registers = kRegisters;
    sm.shared_bytes = known.shared_kibibytes * kKibibyte;
    // A multiply-add in each unit and clock.
    if (known.fp32_units > 0) sm.fp32_per_clock = 2 * known.fp32_units;
    if (known.fp64_units > 0) sm.fp64_per_clock = 2 * known.fp64_units;
    if (name.starts_with("sm_7")) {
      sm.shared_unit_bytes = 256;
    } else {
      sm.shared_reserved_bytes = kKibibyte;
    }
    return sm;
  }
  return std::nullopt;
}

}  // namespace gpufl::analysis
