// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "backend/tracing/call_table.hpp"

// Calls that were noted and have not come to their end, oldest first: for a hang. Costs a push and
// a pop a call; what is settled is passed over. The collector's thread only.
namespace gpufl::backend {

class PendingCalls {
 public:
  explicit PendingCalls(CallTable& calls) : calls_(calls) {}

  void add(uint32_t id);
  // Appends calls that began before `before_ns` and wait still, each told once; `at_most` a time.
  void take_overdue(int64_t before_ns, size_t at_most, std::vector<ApiCall>& out);
  // Appends those that wait now, told or not.
  void list(size_t at_most, std::vector<ApiCall>& out) const;

 private:
  static constexpr size_t kMaxOverdue = 4096;
  const ApiCall* waiting(uint32_t id) const;

  CallTable& calls_;
  std::vector<uint32_t> overdue_;  // told
  std::deque<uint32_t> recent_;
};

}  // namespace gpufl::backend
