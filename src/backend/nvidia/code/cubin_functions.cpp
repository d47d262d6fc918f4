// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/cubin_functions.hpp"

#include <algorithm>

#include "base/elf64.hpp"
#include "base/hash.hpp"

namespace gpufl::backend {

uint64_t function_key(std::string_view name) { return base::xxh64(name.data(), name.size()); }

std::vector<uint64_t> cubin_functions(std::string_view image) {
  std::vector<uint64_t> functions;
  const auto elf = base::Elf64::parse(image);
  if (!elf || elf->machine() != base::Elf64::kCudaMachine) return functions;
  elf->for_each_symbol([&](const base::ElfSymbol& symbol) {
    if (base::Elf64::is_function(symbol)) functions.push_back(function_key(symbol.name));
    return true;
  });
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  return functions;
}

}  // namespace gpufl::backend
