// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/compare/repeat.hpp"

// What the items of a repeat are made of, while its sessions are read: eight bytes for each kernel
// and scope. One thread.
namespace gpufl::analysis::compare {

struct ItemSums {
  std::map<Key, std::vector<int64_t>> durations;  // of scopes and launches
  std::map<Key, double> busy_ns;
  double time_ns = 0;
  uint64_t kernels = 0;
  double kernel_ns = 0;

  // Launches are added up to kernels of one configuration, and of one name, too. Sums and counts,
  // but not the time, are divided by `parts`. Sorts the durations.
  std::map<Key, Item> items(double parts = 1);
};

}  // namespace gpufl::analysis::compare
