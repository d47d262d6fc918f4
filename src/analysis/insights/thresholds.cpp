// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace gpufl::analysis {
namespace {

constexpr ThresholdName kNames[] = {
    {"insights.high_share", [](Thresholds& t) -> double& { return t.insights.high_share; }},
    {"insights.medium_share", [](Thresholds& t) -> double& { return t.insights.medium_share; }},
    {"insights.max_per_rule", [](Thresholds& t) -> double& { return t.insights.max_per_rule; }},
    {"insights.vendor_call_us", [](Thresholds& t) -> double& { return t.insights.vendor_call_us; }},
    {"sync_attribution.high_share",
     [](Thresholds& t) -> double& { return t.sync_attribution.high_share; }},
    {"sync_attribution.medium_share",
     [](Thresholds& t) -> double& { return t.sync_attribution.medium_share; }},
    {"in_loop_sync.min_syncs", [](Thresholds& t) -> double& { return t.in_loop_sync.min_syncs; }},
    {"in_loop_sync.min_kernels",
     [](Thresholds& t) -> double& { return t.in_loop_sync.min_kernels; }},
    {"idle_gaps.min_gap_us", [](Thresholds& t) -> double& { return t.idle_gaps.min_gap_us; }},
    {"idle_gaps.min_share", [](Thresholds& t) -> double& { return t.idle_gaps.min_share; }},
    {"idle_gaps.host_code_us", [](Thresholds& t) -> double& { return t.idle_gaps.host_code_us; }},
    {"idle_gaps.queued_us", [](Thresholds& t) -> double& { return t.idle_gaps.queued_us; }},
    {"launch_bound.min_kernels",
     [](Thresholds& t) -> double& { return t.launch_bound.min_kernels; }},
    {"launch_bound.min_idle_share",
     [](Thresholds& t) -> double& { return t.launch_bound.min_idle_share; }},
    {"launch_bound.min_share", [](Thresholds& t) -> double& { return t.launch_bound.min_share; }},
    {"launch_bound.graph_node_gap_us",
     [](Thresholds& t) -> double& { return t.launch_bound.graph_node_gap_us; }},
    {"launch_bound.graph_launch_us",
     [](Thresholds& t) -> double& { return t.launch_bound.graph_launch_us; }},
    {"tiny_kernels.max_kernel_us",
     [](Thresholds& t) -> double& { return t.tiny_kernels.max_kernel_us; }},
    {"tiny_kernels.min_run", [](Thresholds& t) -> double& { return t.tiny_kernels.min_run; }},
    {"tiny_kernels.min_share", [](Thresholds& t) -> double& { return t.tiny_kernels.min_share; }},
    {"pageable_copies.min_share",
     [](Thresholds& t) -> double& { return t.pageable_copies.min_share; }},
    {"pageable_copies.pinned_gb_per_s",
     [](Thresholds& t) -> double& { return t.pageable_copies.pinned_gb_per_s; }},
    {"pageable_copies.fixed_us",
     [](Thresholds& t) -> double& { return t.pageable_copies.fixed_us; }},
    {"small_copies.max_kib", [](Thresholds& t) -> double& { return t.small_copies.max_kib; }},
    {"small_copies.min_copies", [](Thresholds& t) -> double& { return t.small_copies.min_copies; }},
    {"small_copies.min_share", [](Thresholds& t) -> double& { return t.small_copies.min_share; }},
    {"unoverlapped_copies.min_share",
     [](Thresholds& t) -> double& { return t.unoverlapped_copies.min_share; }},
    {"allocation_in_loop.min_calls",
     [](Thresholds& t) -> double& { return t.allocation_in_loop.min_calls; }},
    {"allocation_in_loop.min_share",
     [](Thresholds& t) -> double& { return t.allocation_in_loop.min_share; }},
    {"low_occupancy.max_occupancy",
     [](Thresholds& t) -> double& { return t.low_occupancy.max_occupancy; }},
    {"low_occupancy.target_occupancy",
     [](Thresholds& t) -> double& { return t.low_occupancy.target_occupancy; }},
    {"low_occupancy.min_share", [](Thresholds& t) -> double& { return t.low_occupancy.min_share; }},
    {"register_spill.min_bytes",
     [](Thresholds& t) -> double& { return t.register_spill.min_bytes; }},
    {"register_spill.min_share",
     [](Thresholds& t) -> double& { return t.register_spill.min_share; }},
    {"register_spill.min_sector_share",
     [](Thresholds& t) -> double& { return t.register_spill.min_sector_share; }},
    {"tail_effect.min_idle_share",
     [](Thresholds& t) -> double& { return t.tail_effect.min_idle_share; }},
    {"tail_effect.min_share", [](Thresholds& t) -> double& { return t.tail_effect.min_share; }},
    {"partial_wave.max_filled_share",
     [](Thresholds& t) -> double& { return t.partial_wave.max_filled_share; }},
    {"partial_wave.min_share", [](Thresholds& t) -> double& { return t.partial_wave.min_share; }},
    {"exposed_communication.min_share",
     [](Thresholds& t) -> double& { return t.exposed_communication.min_share; }},
    {"warp_stalls.min_stall_share",
     [](Thresholds& t) -> double& { return t.warp_stalls.min_stall_share; }},
    {"warp_stalls.min_samples", [](Thresholds& t) -> double& { return t.warp_stalls.min_samples; }},
    {"warp_stalls.min_share", [](Thresholds& t) -> double& { return t.warp_stalls.min_share; }},
    {"warp_group_bound.min_path_share",
     [](Thresholds& t) -> double& { return t.warp_group_bound.min_path_share; }},
    {"warp_group_bound.min_share",
     [](Thresholds& t) -> double& { return t.warp_group_bound.min_share; }},
    {"warp_bubbles.min_path_share",
     [](Thresholds& t) -> double& { return t.warp_bubbles.min_path_share; }},
    {"warp_bubbles.min_share", [](Thresholds& t) -> double& { return t.warp_bubbles.min_share; }},
    {"thread_divergence.max_active_share",
     [](Thresholds& t) -> double& { return t.thread_divergence.max_active_share; }},
    {"thread_divergence.min_share",
     [](Thresholds& t) -> double& { return t.thread_divergence.min_share; }},
    {"uncoalesced_access.min_excess_share",
     [](Thresholds& t) -> double& { return t.uncoalesced_access.min_excess_share; }},
    {"uncoalesced_access.min_share",
     [](Thresholds& t) -> double& { return t.uncoalesced_access.min_share; }},
    {"bank_conflicts.min_excess_share",
     [](Thresholds& t) -> double& { return t.bank_conflicts.min_excess_share; }},
    {"bank_conflicts.min_share",
     [](Thresholds& t) -> double& { return t.bank_conflicts.min_share; }},
    {"throttling.min_time_share",
     [](Thresholds& t) -> double& { return t.throttling.min_time_share; }},
    {"power_cap.min_time_share",
     [](Thresholds& t) -> double& { return t.power_cap.min_time_share; }},
    {"clock_drop.min_drop", [](Thresholds& t) -> double& { return t.clock_drop.min_drop; }},
    {"clock_drop.min_time_share",
     [](Thresholds& t) -> double& { return t.clock_drop.min_time_share; }},
    {"memory_nearly_full.min_used_share",
     [](Thresholds& t) -> double& { return t.memory_nearly_full.min_used_share; }},
    {"memory_nearly_full.high_used_share",
     [](Thresholds& t) -> double& { return t.memory_nearly_full.high_used_share; }},
    {"ecc_errors.min_corrected",
     [](Thresholds& t) -> double& { return t.ecc_errors.min_corrected; }},
    {"gpu_imbalance.min_share", [](Thresholds& t) -> double& { return t.gpu_imbalance.min_share; }},
    {"rank_imbalance.min_share",
     [](Thresholds& t) -> double& { return t.rank_imbalance.min_share; }},
    {"trace_losses.high_missing_share",
     [](Thresholds& t) -> double& { return t.trace_losses.high_missing_share; }},
};

std::string_view rule_of(std::string_view name) { return name.substr(0, name.find('.')); }
std::string_view last_part(std::string_view name) { return name.substr(name.find('.') + 1); }

// What may have been meant: other names of that rule, or that name of other rules, or else rules.
std::string suggestion(std::string_view unknown) {
  std::vector<std::string_view> names;
  for (const ThresholdName& known : kNames) {
    if (rule_of(known.name) == rule_of(unknown)) names.push_back(known.name);
  }
  if (names.empty()) {
    for (const ThresholdName& known : kNames) {
      if (last_part(known.name) == last_part(unknown)) names.push_back(known.name);
    }
  }
  if (!names.empty()) return fmt::format("did you mean {}?", fmt::join(names, " or "));
  for (const ThresholdName& known : kNames) {
    if (names.empty() || names.back() != rule_of(known.name)) names.push_back(rule_of(known.name));
  }
  return fmt::format("names begin with one of {}", fmt::join(names, ", "));
}

base::Status mistake(const base::Json& where, std::string text) {
  if (where.line() > 0) text = fmt::format("line {}: {}", where.line(), text);
  return {base::Code::InvalidArgument, std::move(text)};
}

}  // namespace

std::span<const ThresholdName> threshold_names() { return kNames; }

base::Result<Thresholds> thresholds_from_json(const base::Json& document) {
  if (!document.is_object()) {
    return mistake(document, "thresholds are an object of names and numbers");
  }
  Thresholds thresholds;
  for (const auto& [name, value] : document.members()) {
    const auto* known =
        std::find_if(std::begin(kNames), std::end(kNames),
                     [&wanted = name](const ThresholdName& entry) { return entry.name == wanted; });
    if (known == std::end(kNames)) {
      return mistake(value, fmt::format("unknown threshold {}: {}", name, suggestion(name)));
    }
    if (!value.is_number() || !std::isfinite(value.as_number()) || value.as_number() < 0) {
      return mistake(value, fmt::format("{} is a number that is not negative", name));
    }
    known->value(thresholds) = value.as_number();
  }
  return thresholds;
}

base::Result<Thresholds> load_thresholds(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return base::Status(base::Code::NotFound, fmt::format("cannot read {}", file.string()));
  }
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const auto document = base::Json::parse(text, size_t{1} << 20);
  auto thresholds = document ? thresholds_from_json(*document) : document.status();
  if (thresholds) return thresholds;
  return base::Status(thresholds.status().code(),
                      fmt::format("{}: {}", file.string(), thresholds.status().message()));
}

}  // namespace gpufl::analysis
