// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/kernel_configs.hpp"

#include <type_traits>

#include "base/hash.hpp"

namespace gpufl::backend {
namespace {

template <typename Integers>
base::Json list(const Integers& values, size_t first) {
  base::Json json = base::Json::array();
  for (size_t i = first; i < first + 3; ++i) json.push(int64_t{values[i]});
  return json;
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
      kernel.cacheConfig.config.executed};
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.name == name) return found->second.id;
  if (entries_.size() >= kMaxEntries) entries_.clear();
  Entry entry{name, define(key, name, sink)};
  return entries_.insert_or_assign(key, std::move(entry)).first->second.id;
}

int64_t KernelConfigs::define(const Key& key, const char* name, RowSink& sink) {
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
  return sink.intern(format::Dict::Config, config.dump());
}

}  // namespace gpufl::backend
