// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/code/stall_reasons.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/insights/counted_places.hpp"
#include "analysis/insights/kernel_use.hpp"
#include "analysis/insights/rules.hpp"
#include "analysis/insights/sampled_kernels.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

// What all rules of counters tell of a kernel.
void describe(const SampledKernel& kernel, const SessionView& view, Insight& insight) {
  if (!insight.gain_ns) {
    insight.severity = std::min(Severity::Medium, severity_of(kernel.share, view.thresholds));
  }
  Evidence evidence;
  evidence.text = fmt::format("takes {}", text::duration(kernel.time_ns));
  evidence.kernel = kernel.name;
  if (kernel.device >= 0) evidence.device = kernel.device;
  if (kernel.longest_row) add_launch(view, *kernel.longest_row, evidence);
  insight.evidence.push_back(std::move(evidence));
}

// The line that it happens at most.
void add_place(CountedPlaces& places, const SampledKernel& kernel, CountedPlaces::Amount amount,
               CountedPlaces::Words words, Insight& insight) {
  if (auto evidence = places.most(kernel, amount, words)) {
    insight.evidence.push_back(std::move(*evidence));
  }
}

// `wasted`: the share of what those waited for that was needless; `waiting`: none where the kernel
// was not sampled.
void estimate(const SampledKernel& kernel, const SessionView& view, std::optional<double> waiting,
              double wasted, std::string_view what, Insight& insight) {
  if (!waiting) {
    insight.estimate =
        fmt::format("None: how much of the kernel's time is spent on {} is not recorded.{}", what,
                    deeper_engine(view.session.summary, "Deep"));
    return;
  }
  set_gain(insight, kernel.time_ns * *waiting * wasted, view.wall_ns, view.thresholds);
  insight.estimate = fmt::format(
      "The share of samples spent on {} ({}), times the share of it that is unnecessary ({}).",
      what, text::percent(*waiting), text::percent(wasted));
  insight.confidence = Confidence::Medium;
}

// What the reason means, to stand in a sentence; of one that is not known its name.
std::string reason_words(std::string_view reason) {
  std::string words(stall_reason(reason).meaning);
  if (words.empty()) return std::string(reason);
  if (words.back() == '.') words.pop_back();
  words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

}  // namespace

void find_warp_stalls(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.warp_stalls;
  for (const SampledKernel& kernel : sampled_kernels(view)) {
    if (kernel.share < limits.min_share ||
        static_cast<double>(kernel.samples) < limits.min_samples) {
      continue;
    }
    // Warps that issue, or could, are not stalled.
    const auto weight = [](const auto& stall) {
      return stall_reason(stall.first).is_wait ? stall.second.samples : 0;
    };
    const auto top =
        std::max_element(kernel.stalls.begin(), kernel.stalls.end(),
                         [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
    if (top == kernel.stalls.end() || weight(*top) == 0) continue;
    const double share = *kernel.stall_share({top->first});
    if (share < limits.min_stall_share) continue;
    Insight insight;
    insight.title = fmt::format("Warps of {} stalled in {} of samples: {}", kernel.label,
                                text::percent(share), reason_words(top->first));
    insight.detail = fmt::format("{}: {} samples; the kernel takes {} ({} of {})", top->first,
                                 text::count(kernel.samples), text::duration(kernel.time_ns),
                                 text::percent(kernel.share), view.whole);
    insight.advice = stall_reason(top->first).advice;
    insight.estimate =
        "None: other warps may hide a stall, so samples alone do not show how much ending it "
        "would save.";
    insight.confidence = Confidence::High;
    describe(kernel, view, insight);
    found.push_back(std::move(insight));
  }
}

void find_thread_divergence(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.thread_divergence;
  constexpr double kWarpThreads = 32;
  CountedPlaces places(view);
  for (const SampledKernel& kernel : sampled_kernels(view)) {
    const auto warps = kernel.counter("smsp__sass_inst_executed");
    const auto threads = kernel.counter("smsp__sass_thread_inst_executed");
    if (!warps || !threads || kernel.share < limits.min_share) continue;
    const double active = *threads / (*warps * kWarpThreads);
    if (active > limits.max_active_share) continue;
    Insight insight;
    estimate(kernel, view,
             kernel.stall_share({"selected", "not_selected", "math_pipe_throttle",
                                 "branch_resolving", "dispatch_stall"}),
             1 - active, "issuing instructions", insight);
    insight.title = fmt::format("Thread divergence in {} · {:.1f} of 32 threads active",
                                kernel.label, active * kWarpThreads);
    insight.detail = fmt::format(
        "{} thread instructions in {} warp instructions: {} of the lanes are active; the kernel "
        "takes {} of {}",
        text::count(static_cast<uint64_t>(*threads)), text::count(static_cast<uint64_t>(*warps)),
        text::percent(active), text::percent(kernel.share), view.whole);
    insight.advice =
        "Let threads of a warp take the same branch: sort or group similar work, make loop counts "
        "equal, use predication for short branches.";
    describe(kernel, view, insight);
    add_place(
        places, kernel, [](const InstructionCounts& counts) { return counts.idle_threads(); },
        [](const InstructionCounts& counts) {
          return fmt::format("{:.1f} of 32 threads active", counts.active_threads().value_or(0));
        },
        insight);
    found.push_back(std::move(insight));
  }
}

void find_uncoalesced_access(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.uncoalesced_access;
  CountedPlaces places(view);
  for (const SampledKernel& kernel : sampled_kernels(view)) {
    const auto moved = kernel.counter("smsp__sass_sectors_mem_global");
    const auto needed = kernel.counter("smsp__sass_sectors_mem_global_ideal");
    if (!moved || !needed || kernel.share < limits.min_share) continue;
    const double excess = 1 - *needed / *moved;
    if (excess < limits.min_excess_share) continue;
    Insight insight;
    estimate(kernel, view, kernel.stall_share({"long_scoreboard", "lg_throttle"}), excess,
             "waiting for global memory", insight);
    insight.title = fmt::format("Uncoalesced access in {} · {:.1f} times the sectors needed",
                                kernel.label, *moved / *needed);
    insight.detail = fmt::format(
        "{} sectors of 32 bytes were moved, but {} would be enough; the kernel takes {} of "
        "{}",
        text::count(static_cast<uint64_t>(*moved)), text::count(static_cast<uint64_t>(*needed)),
        text::percent(kernel.share), view.whole);
    insight.advice =
        "Let neighbouring threads read neighbouring addresses: change the layout (a struct of "
        "arrays) or the order of loops, or go through shared memory.";
    describe(kernel, view, insight);
    add_place(
        places, kernel, [](const InstructionCounts& counts) { return counts.excess_sectors(); },
        [](const InstructionCounts& counts) {
          return fmt::format("{:.1f} times the sectors needed", counts.sector_factor().value_or(0));
        },
        insight);
    found.push_back(std::move(insight));
  }
}

void find_bank_conflicts(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.bank_conflicts;
  CountedPlaces places(view);
  for (const SampledKernel& kernel : sampled_kernels(view)) {
    const auto taken = kernel.counter("smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared");
    const auto needed = kernel.counter("smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal");
    if (!taken || !needed || kernel.share < limits.min_share) continue;
    const double excess = 1 - *needed / *taken;
    if (excess < limits.min_excess_share) continue;
    Insight insight;
    estimate(kernel, view, kernel.stall_share({"short_scoreboard", "mio_throttle"}), excess,
             "waiting for shared memory", insight);
    insight.title = fmt::format("Bank conflicts in {} · {:.1f} times the passes needed",
                                kernel.label, *taken / *needed);
    insight.detail = fmt::format(
        "{} passes over shared memory, but {} would be enough; the kernel takes {} of {}",
        text::count(static_cast<uint64_t>(*taken)), text::count(static_cast<uint64_t>(*needed)),
        text::percent(kernel.share), view.whole);
    insight.advice =
        "Pad or swizzle arrays in shared memory, so that threads of a warp use different banks.";
    describe(kernel, view, insight);
    add_place(
        places, kernel, [](const InstructionCounts& counts) { return counts.excess_passes(); },
        [](const InstructionCounts& counts) {
          return fmt::format("{:.1f} times the passes needed", counts.shared_factor().value_or(0));
        },
        insight);
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
