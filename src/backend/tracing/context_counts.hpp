// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "backend/tracing/activity_rows.hpp"
#include "format/ledger.hpp"

// What is counted of each of the program's contexts, and whose device it is; the last one is at
// hand. Bounded: beyond that all contexts are one, of no device. One thread.
namespace gpufl::backend {

class ContextCounts {
 public:
  struct Context {
    int64_t device = kUnknown;
    uint64_t launches = 0, kernels = 0, missing = 0;
    uint32_t last_recorded = 0;  // the latest launch that has a record, by its id
  };

  Context& at(uint32_t id) {
    if (last_ == nullptr || id != last_id_) {
      const bool is_known = contexts_.size() < kMaxContexts || contexts_.count(id) != 0;
      last_ = &contexts_[is_known ? id : kOthers];
      last_id_ = id;
    }
    return *last_;
  }
  int64_t device_of(uint32_t id) const {
    const auto found = contexts_.find(id);
    return found != contexts_.end() ? found->second.device : kUnknown;
  }
  // Without notes, launches are not known.
  void fill_ledger(bool has_notes, format::Ledger& ledger) const {
    const auto add = [](std::optional<uint64_t>& sum, uint64_t count) {
      sum = sum.value_or(0) + count;
    };
    for (const auto& [id, context] : contexts_) {
      format::DeviceLedger& device = ledger.by_device[context.device];
      add(device.kernel_records, context.kernels);
      if (!has_notes) continue;
      add(device.launches, context.launches);
      add(device.launches_missing, context.missing);
    }
  }

 private:
  static constexpr size_t kMaxContexts = 4096;
  static constexpr uint32_t kOthers = UINT32_MAX;
  std::unordered_map<uint32_t, Context> contexts_;
  uint32_t last_id_ = 0;
  Context* last_ = nullptr;  // of contexts_
};

}  // namespace gpufl::backend
