// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/occupancy.hpp"
#include "backend/nvidia/cupti/cupti_records.hpp"

// Launch configurations, with the occupancy that they allow, to ids of the log's config dictionary:
// some tens of nanoseconds each. The collector's thread only. At most kMaxEntries are remembered:
// then it starts anew, and the dictionary answers with the same ids.
namespace gpufl::backend {

class KernelConfigs {
 public:
  static constexpr size_t kMaxEntries = 65'536;

  explicit KernelConfigs(const CudaDriver& driver) : driver_(driver) {}

  int64_t id(const KernelRecord& kernel, RowSink& sink);

 private:
  // The name by its address, which is quick to compare but may come to hold another name when
  // modules are unloaded: Entry has the text.
  struct Key {
    const char* name;
    std::array<int32_t, 6> grid_and_block;
    std::array<uint32_t, 3> cluster;
    int32_t shared_static, shared_dynamic;
    uint32_t local_per_thread;
    uint64_t local_total;
    uint32_t registers;
    uint16_t cache;
    uint16_t multiprocessor;  // number of multiprocessors_, from 1; 0: not known
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    std::string name;
    int64_t id;
  };
  int64_t define(const Key& key, const char* name, RowSink& sink) const;
  uint16_t multiprocessor(uint32_t ordinal);

  const CudaDriver& driver_;
  std::vector<Multiprocessor> multiprocessors_;  // GPUs of one model share theirs
  std::vector<uint16_t> by_ordinal_;
  std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace gpufl::backend
