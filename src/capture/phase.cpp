// SPDX-License-Identifier: Apache-2.0
#include "capture/phase.hpp"

#include <algorithm>

namespace gpufl::capture {

PhaseCost counted_cost(const format::Ledger& account, int64_t attached_ns, int64_t windows_ns) {
  const auto within = [&](uint64_t waited_ns) {
    return std::clamp<int64_t>(static_cast<int64_t>(waited_ns), 0,
                               std::max<int64_t>(attached_ns, 0));
  };
  const uint64_t reported_ns =
      account.callback_ns.value_or(0) +
      account.vendor_overhead_ns.value_or(account.cupti_overhead_ns.value_or(0));
  const uint64_t launches =
      std::max(account.launches_seen.value_or(0), account.kernel_records.value_or(0));
  const uint64_t sampled = account.sampling_windows ? launches : 0;
  return {within(account.launches_held_ns.value_or(0)),
          within(std::max(reported_ns, launches * uint64_t{kLaunchCost_ns}) +
                 sampled * uint64_t{kSampledLaunchCost_ns} + static_cast<uint64_t>(windows_ns))};
}

int64_t step_cost_ns(double slowdown, int64_t attached_ns) {
  return static_cast<int64_t>(static_cast<double>(attached_ns) * slowdown / (1 + slowdown));
}

base::Status session_ended() {
  return {base::Code::Unavailable, "session_ended: the session has ended"};
}

void write_phase(const Phase& phase, format::LogWriter& log) {
  const bool knows_cost = phase.measure != format::CostMeasure::Unknown;
  format::Batch row(format::Kind::Coverage);
  row.push_row({phase.begin_ns, phase.attached_ns(), log.intern(format::Dict::Name, phase.engine),
                static_cast<int64_t>(format::CoverageShape::Phase), static_cast<int64_t>(phase.why),
                static_cast<int64_t>(phase.ending),
                knows_cost ? phase.cost.total_ns() + phase.pause_cost_ns : -1,
                static_cast<int64_t>(phase.measure), -1, -1, -1,
                phase.launches ? static_cast<int64_t>(*phase.launches) : -1});
  log.write(row);
}

}  // namespace gpufl::capture
