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

int64_t step_cost_ns(const Slowdown& slowdown, int64_t attached_ns, const SampledTime& sampled) {
  const double part = slowdown.part / (1 + slowdown.part);
  const auto steps_ns = static_cast<int64_t>(static_cast<double>(attached_ns) * part);
  // A step has a window in it that begins, at the earliest, a window's length before the step.
  const int64_t touched_ns =
      static_cast<int64_t>(sampled.windows) * slowdown.step_ns + sampled.total_ns;
  if (2 * touched_ns >= attached_ns) return steps_ns;
  return std::min(steps_ns + sampled.total_ns, std::max<int64_t>(attached_ns, 0));
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
