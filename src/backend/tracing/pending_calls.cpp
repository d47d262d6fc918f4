// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/pending_calls.hpp"

namespace gpufl::backend {

const ApiCall* PendingCalls::waiting(uint32_t id) const {
  const ApiCall* call = calls_.find(id);
  return call != nullptr && !call->is_settled() ? call : nullptr;
}

void PendingCalls::add(uint32_t id) {
  if (recent_.size() >= CallTable::kCapacity) recent_.pop_front();
  recent_.push_back(id);
}

void PendingCalls::take_overdue(int64_t before_ns, size_t at_most, std::vector<ApiCall>& out) {
  std::erase_if(overdue_, [&](uint32_t id) { return waiting(id) == nullptr; });
  for (size_t told = 0; !recent_.empty(); recent_.pop_front()) {
    const ApiCall* call = waiting(recent_.front());
    if (call == nullptr) continue;
    if (call->start > before_ns || told == at_most || overdue_.size() >= kMaxOverdue) return;
    overdue_.push_back(call->id);
    out.push_back(*call);
    ++told;
  }
}

void PendingCalls::list(size_t at_most, std::vector<ApiCall>& out) const {
  const auto append = [&](const auto& ids) {
    for (const uint32_t id : ids) {
      if (out.size() >= at_most) return;
      if (const ApiCall* call = waiting(id)) out.push_back(*call);
    }
  };
  append(overdue_);
  append(recent_);
}

}  // namespace gpufl::backend
