// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_figures.hpp"

#include <algorithm>

namespace gpufl::analysis {

void ScopeFigures::add_ended(int64_t start_ns, int64_t duration, format::ScopeEnding ending,
                             int64_t repeat, int64_t warmup_count) {
  using format::ScopeEnding;
  first_start_ns = std::min(first_start_ns, start_ns);
  if (ending == ScopeEnding::Lost) {
    ++lost;
    return;
  }
  duration_ns.add(static_cast<double>(duration));
  const bool was_cut = ending == ScopeEnding::ThreadExit || ending == ScopeEnding::Shutdown;
  if (was_cut) ++cut;
  if (repeat <= 0 || was_cut) return;
  iteration_ns.add(static_cast<double>(duration) / static_cast<double>(repeat),
                   static_cast<uint64_t>(repeat));
  warmup += static_cast<uint64_t>(std::max<int64_t>(warmup_count, 0));
}

void ScopeFigures::add_open(int64_t start_ns, int64_t lasted_ns) {
  ++open;
  open_ns += static_cast<double>(std::max<int64_t>(lasted_ns, 0));
  first_start_ns = std::min(first_start_ns, start_ns);
}

}  // namespace gpufl::analysis
