// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/code/kernel_class.hpp"
#include "analysis/tables/tables.hpp"

// What the kernels of a session are called. Any thread.
namespace gpufl::analysis {

// Of dictionary names, by id of Tables::names.
class KernelNames {
 public:
  struct Entry {
    std::string full_name, short_name;
    KernelClass kernel_class = KernelClass::Other;
  };
  explicit KernelNames(const Tables& tables);
  // Of a name that is no kernel's all is empty, of one that is not in the session "?".
  const Entry& of(uint32_t name) const {
    return entries_[name < places_.size() ? places_[name] : 0];
  }

 private:
  static constexpr uint32_t kUnknown = 0, kNoKernel = 1;
  std::vector<Entry> entries_;
  std::vector<uint32_t> places_;  // in entries_, by id
};

}  // namespace gpufl::analysis
