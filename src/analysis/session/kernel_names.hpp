// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/code/kernel_class.hpp"
#include "analysis/tables/tables.hpp"

// What the kernels of a session are called. Pure functions.
namespace gpufl::analysis {

// Labels of dictionary names, by id of Tables::names: made once, as demangling is not free.
struct KernelNames {
  struct Entry {
    std::string full_name, short_name;
    KernelClass kernel_class = KernelClass::Other;
  };
  std::vector<Entry> entries;  // empty for names that are no kernel's
  const Entry& of(uint32_t name) const { return name < entries.size() ? entries[name] : none; }
  Entry none{"?", "?", KernelClass::Other};
};
KernelNames kernel_names(const Tables& tables);

}  // namespace gpufl::analysis
