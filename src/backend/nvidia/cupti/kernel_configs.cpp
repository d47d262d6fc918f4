// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/kernel_configs.hpp"

#include <algorithm>
#include <type_traits>

#include "backend/nvidia/code/module_watch.hpp"
#include "base/hash.hpp"

namespace gpufl::backend {
namespace {

template <typename Integers>
base::Json list(const Integers& values, size_t first) {
  base::Json json = base::Json::array();
  for (size_t i = first; i < first + 3; ++i) json.push(int64_t{values[i]});
  return json;
}

void append_occupancy(const Multiprocessor& sm, const BlockNeeds& needs, base::Json& config) {
  const Occupancy result = occupancy(sm, needs);
  config.set("occupancy", int64_t{result.hundredths});
  config.set("occupancy_bound", result.bound);
  base::Json bounds = base::Json::object();
  bounds.set("waves", int64_t{result.by_warps});
  if (result.by_registers != Occupancy::kUnlimited) {
    bounds.set("registers", int64_t{result.by_registers});
  }
  if (result.by_shared != Occupancy::kUnlimited) {
    bounds.set("shared_memory", int64_t{result.by_shared});
  }
  bounds.set("groups", int64_t{result.by_blocks});
  config.set("occupancy_bounds", std::move(bounds));
}

// CUfunc_cache.
constexpr std::string_view kCaches[] = {"none", "shared", "l1", "equal"};

}  // namespace

size_t KernelConfigs::Hash::operator()(const Key& key) const {
  static_assert(std::has_unique_object_representations_v<Key>);
  return base::xxh64(&key, sizeof key);
}

int64_t KernelConfigs::id(const KernelRecord& kernel, RowSink& sink) {
  const char* name = kernel.name != nullptr ? kernel.name : "";
  const Key key{
      name,
      {kernel.gridX, kernel.gridY, kernel.gridZ, kernel.blockX, kernel.blockY, kernel.blockZ},
      {kernel.clusterX, kernel.clusterY, kernel.clusterZ},
      kernel.staticSharedMemory,
      kernel.dynamicSharedMemory,
      kernel.localMemoryPerThread,
      kernel.localMemoryTotal_v2,
      kernel.registersPerThread,
      kernel.cacheConfig.config.executed,
      multiprocessor(kernel.deviceId)};
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.name == name) return found->second.id;
  if (entries_.size() >= kMaxEntries) entries_.clear();
  Entry entry{name, define(key, name, sink)};
  return entries_.insert_or_assign(key, std::move(entry)).first->second.id;
}

// CUDA has been initialised by the time that there are kernels, so it is asked once.
uint16_t KernelConfigs::multiprocessor(uint32_t ordinal) {
  constexpr uint32_t kMaxOrdinal = 1024;
  if (ordinal >= kMaxOrdinal) return 0;
  while (by_ordinal_.size() <= ordinal) {
    const auto sm = Multiprocessor::of_device(driver_, static_cast<uint32_t>(by_ordinal_.size()));
    uint16_t number = 0;
    if (sm) {
      const auto found = std::find(multiprocessors_.begin(), multiprocessors_.end(), *sm);
      number = static_cast<uint16_t>(found - multiprocessors_.begin() + 1);
      if (found == multiprocessors_.end()) multiprocessors_.push_back(*sm);
    }
    by_ordinal_.push_back(number);
  }
  return by_ordinal_[ordinal];
}

int64_t KernelConfigs::define(const Key& key, const char* name, RowSink& sink) const {
  ModuleWatch::instance().on_kernel(name);
  base::Json config = base::Json::object();
  config.set("name", sink.intern(format::Dict::Name, name));
  config.set("grid", list(key.grid_and_block, 0));
  config.set("block", list(key.grid_and_block, 3));
  if (key.cluster[0] != 0) config.set("cluster", list(key.cluster, 0));
  config.set("registers", int64_t{key.registers});
  config.set("shared_static", int64_t{key.shared_static});
  config.set("shared_dynamic", int64_t{key.shared_dynamic});
  config.set("local_per_thread", int64_t{key.local_per_thread});
  config.set("local_total", static_cast<int64_t>(key.local_total));
  if (key.cache < std::size(kCaches)) config.set("cache", kCaches[key.cache]);
  if (key.multiprocessor != 0) {
    const auto& block = key.grid_and_block;
    append_occupancy(multiprocessors_[key.multiprocessor - 1],
                     {block[3] * block[4] * block[5], static_cast<int32_t>(key.registers),
                      key.shared_static + key.shared_dynamic},
                     config);
  }
  return sink.intern(format::Dict::Config, config.dump());
}

}  // namespace gpufl::backend
