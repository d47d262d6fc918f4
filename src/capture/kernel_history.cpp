// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel_history.hpp"

#include <algorithm>

namespace gpufl::capture {
namespace {

bool fits(const SeenKernel& kernel, const KernelQuery& query) {
  if (query.device >= 0 && kernel.device != query.device) return false;
  if (query.launched_after && kernel.call_start_ns < *query.launched_after) return false;
  if (query.launched_before && kernel.call_start_ns > *query.launched_before) return false;
  if (query.begin_ns && *query.begin_ns < kernel.start_ns - query.error_ns) return false;
  return !query.end_ns || *query.end_ns <= kernel.end_ns + query.error_ns;
}

}  // namespace

void KernelHistory::expect_captures() {
  if (bound_ == kKernels) return;
  std::rotate(kernels_.begin(), kernels_.begin() + static_cast<std::ptrdiff_t>(next_),
              kernels_.end());
  next_ = 0;
  kernels_.reserve(kKernels);
  bound_ = kKernels;
}

void KernelHistory::add(const format::Batch& kernels) {
  namespace column = format::kernel_column;
  const size_t first = kernels.rows() - std::min(kernels.rows(), bound_);
  for (size_t i = first; i < kernels.rows(); ++i) {
    const int64_t start_ns = kernels.at(column::kStart, i);
    const SeenKernel kernel{start_ns,
                            start_ns + kernels.at(column::kDuration, i),
                            kernels.at(column::kDevice, i, -1),
                            kernels.at(column::kCorrelation, i),
                            kernels.at(column::kThread, i),
                            kernels.at(column::kApiStart, i, start_ns)};
    if (kernels_.size() < bound_) {
      kernels_.push_back(kernel);
    } else {
      kernels_[next_] = kernel;
      next_ = (next_ + 1) % bound_;
    }
  }
}

KernelMatch KernelHistory::find(const KernelQuery& query) const {
  KernelMatch match;
  // A program that knows the launch itself; ids of a graph's kernels are all the same.
  const auto search = [&](auto&& is_wanted) {
    match = {};
    for (const SeenKernel& kernel : kernels_) {
      if (!fits(kernel, query) || !is_wanted(kernel)) continue;
      match.kernel = kernel;
      ++match.candidates;
    }
    if (match.candidates != 1) match.kernel.reset();
    return match.kernel.has_value();
  };
  if (query.correlation != 0) {
    match.by_correlation =
        search([&](const SeenKernel& kernel) { return kernel.correlation == query.correlation; });
    return match;
  }
  const bool is_found =
      search([](const SeenKernel&) { return true; }) || match.candidates == 0 || query.thread == 0;
  if (is_found) return match;
  const size_t of_all_threads = match.candidates;
  search([&](const SeenKernel& kernel) { return kernel.thread == query.thread; });
  if (match.candidates == 0) match.candidates = of_all_threads;
  return match;
}

}  // namespace gpufl::capture
