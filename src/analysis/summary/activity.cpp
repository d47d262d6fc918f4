// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/activity.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

int64_t sum(const format::Batch& batch, size_t column) {
  int64_t total = 0;
  if (!batch.has(column)) return total;
  for (const int64_t value : batch.column(column)) total = saturating_add(total, value);
  return total;
}

uint64_t count_zeros(const format::Batch& batch, size_t column) {
  if (!batch.has(column)) return batch.rows();
  const std::vector<int64_t>& values = batch.column(column);
  return static_cast<uint64_t>(std::count(values.begin(), values.end(), 0));
}

}  // namespace

void ActivityTotals::add(const format::Batch& batch) {
  ActivityTotals more;
  switch (batch.kind()) {
    case format::Kind::Kernel:
      more.kernels = batch.rows();
      more.kernel_ns = sum(batch, format::kernel_column::kDuration);
      break;
    case format::Kind::Memcpy:
      more.copies = batch.rows();
      more.copy_ns = sum(batch, format::memcpy_column::kDuration);
      more.copy_bytes = sum(batch, format::memcpy_column::kBytes);
      more.unsized_copies = count_zeros(batch, format::memcpy_column::kBytes);
      break;
    case format::Kind::Memset:
      more.fills = batch.rows();
      more.fill_ns = sum(batch, format::memset_column::kDuration);
      break;
    case format::Kind::Sync:
      more.waits = batch.rows();
      more.wait_ns = sum(batch, format::sync_column::kDuration);
      break;
    default: return;
  }
  add(more);
}

int64_t ActivityTotals::gpu_ns() const {
  return saturating_add(saturating_add(kernel_ns, copy_ns), fill_ns);
}

void ActivityTotals::add(const ActivityTotals& other) {
  kernels += other.kernels;
  copies += other.copies;
  fills += other.fills;
  waits += other.waits;
  kernel_ns = saturating_add(kernel_ns, other.kernel_ns);
  copy_ns = saturating_add(copy_ns, other.copy_ns);
  fill_ns = saturating_add(fill_ns, other.fill_ns);
  wait_ns = saturating_add(wait_ns, other.wait_ns);
  copy_bytes = saturating_add(copy_bytes, other.copy_bytes);
  unsized_copies += other.unsized_copies;
}

}  // namespace gpufl::analysis
