// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/insights/kernel_use.hpp"
#include "analysis/insights/rules.hpp"
#include "analysis/insights/sampled_kernels.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

const SampledKernel* find_sampled(const std::vector<SampledKernel>& sampled, const KernelUse& use) {
  const auto found = std::find_if(sampled.begin(), sampled.end(), [&](const SampledKernel& kernel) {
    return kernel.name == use.group->full_name;
  });
  return found == sampled.end() ? nullptr : &*found;
}

// Kernels that are made to run with few warps: each of them keeps the units busy by itself.
bool needs_few_warps(KernelClass kernel_class) {
  return kernel_class == KernelClass::MatrixProduct || kernel_class == KernelClass::Convolution ||
         kernel_class == KernelClass::Attention || kernel_class == KernelClass::Communication;
}

std::string limiter_text(const LaunchConfig& config) {
  const std::string& bound = config.occupancy_bound;
  if (bound == "registers" && config.registers) {
    return fmt::format("registers ({} per thread)", *config.registers);
  }
  if (bound == "shared_memory") {
    return fmt::format("shared memory ({} per block)",
                       text::bytes(static_cast<double>(config.shared_static.value_or(0) +
                                                       config.shared_dynamic.value_or(0))));
  }
  if (bound == "groups") return "blocks per multiprocessor (each has few threads)";
  return bound.empty() ? "an unknown limit" : std::string(config.occupancy_limit());
}

std::string_view limiter_advice(const LaunchConfig& config) {
  const std::string& bound = config.occupancy_bound;
  if (bound == "registers") {
    return "Limit the registers that the compiler uses (__launch_bounds__, -maxrregcount), or do "
           "less in one thread.";
  }
  if (bound == "shared_memory") return "Use less shared memory in a block, or smaller tiles.";
  return "Use larger blocks.";
}

void take_time(const KernelUse& use, const SessionView& view, Insight& insight) {
  insight.severity = std::min(Severity::Medium, severity_of(use.share, view.thresholds));
}

}  // namespace

void find_low_occupancy(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.low_occupancy;
  const std::vector<SampledKernel> sampled = sampled_kernels(view);
  for (const KernelUse& use : kernel_uses(view, limits.min_share)) {
    const LaunchConfig& config = *use.config;
    if (!config.occupancy || *config.occupancy > limits.max_occupancy) continue;
    // With blocks for one wave or less no other occupancy could be used.
    if (use.blocks_at_once && config.blocks() <= *use.blocks_at_once) continue;
    const SampledKernel* samples = find_sampled(sampled, use);
    const auto stalled =
        samples == nullptr ? std::nullopt
                           : samples->stall_share({"long_scoreboard", "short_scoreboard", "wait"});
    // It costs time where warps wait and there are none to take their place.
    if (stalled ? *stalled < view.thresholds.warp_stalls.min_stall_share
                : needs_few_warps(use.group->kernel_class)) {
      continue;
    }
    Insight insight;
    if (stalled) {
      const double missing = 1 - *config.occupancy / limits.target_occupancy;
      set_gain(insight, use.longest.time_ns * *stalled * std::max(0.0, missing), view.wall_ns,
               view.thresholds);
      insight.estimate = fmt::format(
          "The share of samples in which warps waited ({}), scaled by how far occupancy is below "
          "{}.",
          text::percent(*stalled), text::percent(limits.target_occupancy));
      insight.confidence = Confidence::Medium;
    } else {
      take_time(use, view, insight);
      insight.estimate = "None: whether warps wait is not recorded." +
                         deeper_engine(view.session.summary, "PcSampling");
    }
    insight.title = fmt::format("Low occupancy of {} · {}, limited by {}", use.label,
                                text::percent(*config.occupancy), limiter_text(config));
    insight.detail = fmt::format("{} in {} ({} of {}), {}", text::duration(use.longest.time_ns),
                                 text::plural(use.longest.launches, "launch"),
                                 text::percent(use.share), view.whole, shape_text(config));
    insight.advice = limiter_advice(config);
    insight.evidence.push_back(at_kernel(view, use));
    found.push_back(std::move(insight));
  }
}

void find_register_spill(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.register_spill;
  const std::vector<SampledKernel> sampled = sampled_kernels(view);
  for (const KernelUse& use : kernel_uses(view, limits.min_share)) {
    const LaunchConfig& config = *use.config;
    const auto local = static_cast<double>(config.local_per_thread.value_or(0));
    if (local <= 0 || local < limits.min_bytes) continue;
    Insight insight;
    const SampledKernel* samples = find_sampled(sampled, use);
    const auto local_sectors =
        samples == nullptr ? std::nullopt : samples->counter("smsp__sass_sectors_mem_local");
    const auto stalled = samples == nullptr
                             ? std::nullopt
                             : samples->stall_share({"long_scoreboard", "lg_throttle"});
    if (local_sectors && stalled) {
      const double others = samples->counter("smsp__sass_sectors_mem_global").value_or(0);
      const double of_local = *local_sectors / (*local_sectors + others);
      set_gain(insight, use.longest.time_ns * *stalled * of_local, view.wall_ns, view.thresholds);
      insight.estimate = fmt::format(
          "The share of samples that waited for memory ({}), times the share of local memory in "
          "its traffic ({}).",
          text::percent(*stalled), text::percent(of_local));
      insight.confidence = Confidence::Medium;
    } else {
      take_time(use, view, insight);
      insight.estimate = "None: how much of the memory traffic is local is not recorded." +
                         deeper_engine(view.session.summary, "Deep");
    }
    insight.title = fmt::format("Local memory in {} · {:.0f} bytes per thread", use.label, local);
    insight.detail = fmt::format(
        "{} of {}; {} registers per thread, {}. Local memory holds spilled registers, or "
        "arrays that are indexed at run time",
        text::percent(use.share), view.whole,
        config.registers ? std::to_string(*config.registers) : std::string("an unknown number of"),
        shape_text(config));
    insight.advice =
        "Compile with -Xptxas -v to see spills. Allow more registers (a larger -maxrregcount, a "
        "smaller block in __launch_bounds__), do less in one thread, or make indices constant.";
    insight.evidence.push_back(at_kernel(view, use));
    found.push_back(std::move(insight));
  }
}

void find_tail_effect(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.tail_effect;
  for (const KernelUse& use : kernel_uses(view, limits.min_share)) {
    if (!use.blocks_at_once) continue;
    const double waves =
        static_cast<double>(use.config->blocks()) / static_cast<double>(*use.blocks_at_once);
    if (waves <= 1) continue;
    const double idle = 1 - waves / std::ceil(waves);
    if (idle < limits.min_idle_share) continue;
    Insight insight;
    set_gain(insight, use.longest.time_ns * idle, view.wall_ns, view.thresholds);
    insight.title = fmt::format("Tail effect in {} · {:.2f} waves, the last {} full", use.label,
                                waves, text::percent(waves - std::floor(waves)));
    insight.detail =
        fmt::format("{} blocks, and the GPU holds {} at once; {} in total ({} of {}), {}",
                    text::count(static_cast<uint64_t>(use.config->blocks())),
                    text::count(static_cast<uint64_t>(*use.blocks_at_once)),
                    text::duration(use.longest.time_ns), text::percent(use.share), view.whole,
                    shape_text(*use.config));
    insight.advice =
        "Choose a grid that is a whole number of waves: another block size, a persistent kernel "
        "with one block for each place, or a split along another dimension (split-K, stream-K).";
    insight.estimate = fmt::format(
        "The places that the last wave leaves empty ({} of the kernel's time), if all blocks take "
        "equally long.",
        text::percent(idle));
    insight.confidence = Confidence::Low;
    insight.evidence.push_back(at_kernel(view, use));
    found.push_back(std::move(insight));
  }
}

void find_partial_wave(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.partial_wave;
  for (const KernelUse& use : kernel_uses(view, limits.min_share)) {
    if (!use.compute_units || *use.compute_units <= 0) continue;
    if (use.group->kernel_class == KernelClass::Communication) continue;
    const double filled =
        static_cast<double>(use.config->blocks()) / static_cast<double>(*use.compute_units);
    if (filled > limits.max_filled_share) continue;
    Insight insight;
    set_gain(insight, use.longest.time_ns * (1 - filled), view.wall_ns, view.thresholds);
    insight.title =
        fmt::format("Partial wave of {} · {} of {} multiprocessors used", use.label,
                    text::count(static_cast<uint64_t>(use.config->blocks())), *use.compute_units);
    insight.detail = fmt::format("{} in total ({} of {}), {}", text::duration(use.longest.time_ns),
                                 text::percent(use.share), view.whole, shape_text(*use.config));
    insight.advice =
        "Use more and smaller blocks, split the work along another dimension, batch several "
        "launches into one, or run independent ones side by side on streams.";
    insight.estimate = fmt::format(
        "The share of multiprocessors without a block ({}), if the same work were spread over all "
        "of them.",
        text::percent(1 - filled));
    insight.confidence = Confidence::Low;
    insight.evidence.push_back(at_kernel(view, use));
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
