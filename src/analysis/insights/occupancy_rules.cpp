// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/insights/counted_places.hpp"
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

struct LocalTraffic {
  std::optional<uint64_t> sectors;  // none: not counted, or there are none
  double share = 0;                 // of the sectors of local and global memory
};
LocalTraffic local_traffic(const SampledKernel* kernel) {
  if (kernel == nullptr) return {};
  const auto local = kernel->counter("smsp__sass_sectors_mem_local");
  if (!local) return {};
  const double global = kernel->counter("smsp__sass_sectors_mem_global").value_or(0);
  return {static_cast<uint64_t>(*local), *local / (*local + global)};
}

constexpr std::string_view kAchieved = "sm__warps_active.avg.pct_of_peak_sustained_active";

// As it was counted: warps that were there, of those that a multiprocessor has room for.
std::optional<double> achieved_occupancy(const CountedRange& range) {
  const auto percent = range.mean(kAchieved);
  if (!percent) return std::nullopt;
  return *percent / 100;
}

const CountedRange* find_range(const SessionView& view, const KernelUse& use) {
  const auto& ranges = view.overview.ranges;
  const auto range = std::find_if(ranges.begin(), ranges.end(), [&](const CountedRange& counted) {
    return counted.name == use.group->full_name &&
           (counted.device < 0 || counted.device == use.longest.device);
  });
  return range == ranges.end() ? nullptr : &*range;
}

bool is_kernel_name(const SessionView& view, const std::string& name) {
  if (!view.overview.kernels) return false;
  const auto& groups = view.overview.kernels->by_name;
  return std::any_of(groups.begin(), groups.end(),
                     [&](const KernelGroup& group) { return group.full_name == name; });
}

// Kernels and ranges that could have more warps, and were counted with few.
void find_low_achieved_occupancy(const SessionView& view, const std::vector<KernelUse>& uses,
                                 std::vector<Insight>& found) {
  const auto& limits = view.thresholds.low_occupancy;
  for (const CountedRange& range : view.overview.ranges) {
    const auto achieved = achieved_occupancy(range);
    if (!achieved || *achieved > limits.max_occupancy) continue;
    const auto use = std::find_if(uses.begin(), uses.end(), [&](const KernelUse& kernel) {
      return find_range(view, kernel) == &range;
    });
    const bool is_kernel = is_kernel_name(view, range.name);
    // A kernel that takes little time, or of which no more fits: the rule itself tells of that.
    if (is_kernel &&
        (use == uses.end() || use->config->occupancy.value_or(1) <= limits.max_occupancy)) {
      continue;
    }
    Insight insight;
    insight.title =
        fmt::format("Low achieved occupancy of {} · {}", range.label, text::percent(*achieved));
    insight.detail = fmt::format("as the GPU counted it ({})", kAchieved);
    if (use != uses.end()) {
      take_time(*use, view, insight);
      if (use->config->occupancy) {
        insight.title += fmt::format(" of {} possible", text::percent(*use->config->occupancy));
      }
      insight.detail +=
          fmt::format("; {} in {} ({} of {}), {}", text::duration(use->longest.time_ns),
                      text::plural(use->longest.launches, "launch"), text::percent(use->share),
                      view.whole, shape_text(*use->config));
      insight.evidence.push_back(at_kernel(view, *use));
    } else {
      Evidence evidence;
      evidence.text = "in this range";
      evidence.scope = range.name;
      if (range.device >= 0) evidence.device = range.device;
      insight.evidence.push_back(std::move(evidence));
    }
    insight.advice =
        "Launch more blocks at once, so that every multiprocessor has several; make blocks that "
        "take equally long; look for limits by registers and shared memory.";
    insight.estimate = "None: whether warps wait is not recorded." +
                       deeper_engine(view.session.summary, "PcSampling");
    insight.confidence = Confidence::Medium;
    found.push_back(std::move(insight));
  }
}

}  // namespace

void find_low_occupancy(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.low_occupancy;
  const std::vector<SampledKernel> sampled = sampled_kernels(view);
  const std::vector<KernelUse> uses = kernel_uses(view, limits.min_share);
  for (const KernelUse& use : uses) {
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
    const CountedRange* const range = find_range(view, use);
    if (const auto achieved = range == nullptr ? std::nullopt : achieved_occupancy(*range)) {
      insight.detail += fmt::format("; {} was achieved", text::percent(*achieved));
    }
    insight.advice = limiter_advice(config);
    insight.evidence.push_back(at_kernel(view, use));
    found.push_back(std::move(insight));
  }
  find_low_achieved_occupancy(view, uses, found);
}

void find_register_spill(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.register_spill;
  const std::vector<SampledKernel> sampled = sampled_kernels(view);
  CountedPlaces places(view);
  for (const KernelUse& use : kernel_uses(view, limits.min_share)) {
    const LaunchConfig& config = *use.config;
    const auto local = static_cast<double>(config.local_per_thread.value_or(0));
    const SampledKernel* samples = find_sampled(sampled, use);
    const LocalTraffic traffic = local_traffic(samples);
    const bool has_much = local > 0 && local >= limits.min_bytes;
    // Some GPUs' records do not say how much local memory a kernel has.
    const bool moves_much = traffic.sectors && traffic.share >= limits.min_sector_share;
    if (!has_much && !moves_much) continue;
    Insight insight;
    const auto stalled = samples == nullptr
                             ? std::nullopt
                             : samples->stall_share({"long_scoreboard", "lg_throttle"});
    if (traffic.sectors && stalled) {
      set_gain(insight, use.longest.time_ns * *stalled * traffic.share, view.wall_ns,
               view.thresholds);
      insight.estimate = fmt::format(
          "The share of samples that waited for memory ({}), times the share of local memory in "
          "its traffic ({}).",
          text::percent(*stalled), text::percent(traffic.share));
      insight.confidence = Confidence::Medium;
    } else {
      take_time(use, view, insight);
      insight.estimate = fmt::format("None: {} is not recorded.{}",
                                     traffic.sectors ? "how long its warps wait for memory"
                                                     : "how much of the memory traffic is local",
                                     deeper_engine(view.session.summary, "Deep"));
      if (moves_much) insight.confidence = Confidence::Medium;
    }
    insight.title =
        has_much ? fmt::format("Local memory in {} · {:.0f} bytes per thread", use.label, local)
                 : fmt::format("Local memory in {} · {} of its memory traffic", use.label,
                               text::percent(traffic.share));
    insight.detail = fmt::format(
        "{} of {}; {} registers per thread, {}. Local memory holds spilled registers, or "
        "arrays that are indexed at run time",
        text::percent(use.share), view.whole,
        config.registers ? std::to_string(*config.registers) : std::string("an unknown number of"),
        shape_text(config));
    if (traffic.sectors) {
      insight.detail += fmt::format("; {} sectors of 32 bytes were moved for it, {} of all",
                                    text::count(*traffic.sectors), text::percent(traffic.share));
    }
    insight.advice =
        "Compile with -Xptxas -v to see spills. Allow more registers (a larger -maxrregcount, a "
        "smaller block in __launch_bounds__), do less in one thread, or make indices constant.";
    insight.evidence.push_back(at_kernel(view, use));
    if (samples != nullptr) {
      auto place = places.most(
          *samples, [](const InstructionCounts& counts) { return counts.local_sectors; },
          [](const InstructionCounts& counts) {
            return fmt::format("{} sectors of local memory", text::count(counts.local_sectors));
          });
      if (place) insight.evidence.push_back(std::move(*place));
    }
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
