// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/kernel_use.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

struct DeviceWork {
  int64_t device;
  double compute_ns;
};

// Kernels that compute: those that exchange data wait for the slowest, so they are alike
// everywhere.
std::vector<DeviceWork> compute_times(const Overview& overview) {
  std::vector<DeviceWork> times;
  for (const DeviceBusy& device : overview.devices) {
    if (device.kernels == 0) continue;
    int64_t compute_ns = device.kernel_ns;
    if (overview.communication) {
      for (const Communication& exchange : *overview.communication) {
        if (exchange.device == device.device) compute_ns = exchange.compute_ns;
      }
    }
    times.push_back({device.device, static_cast<double>(compute_ns)});
  }
  return times;
}

// The longest launch on a GPU that exchanges data.
std::optional<size_t> longest_exchange(const SessionView& view, int64_t device) {
  const Kernels& kernels = view.tables.kernels;
  std::vector<bool> exchanges;  // by configuration
  for (const LaunchConfig& config : view.tables.configs) {
    exchanges.push_back(view.session.kernel_names().of(config.name).kernel_class ==
                        KernelClass::Communication);
  }
  std::optional<size_t> longest;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!exchanges[kernels.config[row]] || view.device_of(kernels, row) != device) continue;
    if (!view.selection.includes(kernels, row)) continue;
    if (!longest || kernels.duration[row] > kernels.duration[*longest]) longest = row;
  }
  return longest;
}

}  // namespace

void find_exposed_communication(const SessionView& view, std::vector<Insight>& found) {
  if (!view.overview.communication) return;
  for (const Communication& exchange : *view.overview.communication) {
    const auto exposed = static_cast<double>(exchange.exposed_ns());
    const auto room = static_cast<double>(exchange.compute_ns - exchange.overlapped_ns);
    const double gain = std::min(exposed, room);
    if (gain <= 0 || gain < view.thresholds.exposed_communication.min_share *
                                static_cast<double>(view.wall_ns)) {
      continue;
    }
    Insight insight;
    set_gain(insight, gain, view.wall_ns, view.thresholds);
    insight.title = fmt::format("Communication exposed on GPU {} · {} of {} with nothing computed",
                                exchange.device, text::duration(exposed),
                                text::duration(static_cast<double>(exchange.communication_ns)));
    insight.detail = fmt::format(
        "{} that exchange data; other kernels hide {} of their time. This includes the time in "
        "which they wait for other ranks",
        text::plural(exchange.kernels, "kernel"), text::percent(exchange.overlap_share()));
    insight.advice =
        "Exchange gradients bucket by bucket while the rest is still being computed (DDP, FSDP "
        "with prefetching), use larger buckets, and give all ranks the same amount of work: all "
        "of them wait for the slowest.";
    insight.estimate = fmt::format(
        "Communication that no other kernel overlaps ({}), or computation that no communication "
        "overlaps ({}), whichever is shorter.",
        text::duration(exposed), text::duration(room));
    insight.confidence = Confidence::Low;
    Evidence evidence;
    evidence.text = insight.detail;
    evidence.device = exchange.device;
    if (const auto row = longest_exchange(view, exchange.device)) {
      add_launch(view, *row, evidence);
      const LaunchConfig& config = view.tables.config(view.tables.kernels.config[*row]);
      evidence.kernel = view.session.kernel_names().of(config.name).full_name;
    }
    insight.evidence.push_back(std::move(evidence));
    found.push_back(std::move(insight));
  }
}

void find_gpu_imbalance(const SessionView& view, std::vector<Insight>& found) {
  const std::vector<DeviceWork> times = compute_times(view.overview);
  if (times.size() < 2) return;
  double sum = 0;
  for (const DeviceWork& work : times) sum += work.compute_ns;
  const double mean = sum / static_cast<double>(times.size());
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
    return a.compute_ns < b.compute_ns;
  });
  if (most->compute_ns <= 0) return;
  const double share = 1 - mean / most->compute_ns;
  if (share < view.thresholds.gpu_imbalance.min_share) return;
  Insight insight;
  set_gain(insight, most->compute_ns - mean, view.wall_ns, view.thresholds);
  insight.title =
      fmt::format("Work of {} GPUs is uneven · GPU {} computes {} longer than the mean",
                  times.size(), most->device, text::percent(most->compute_ns / mean - 1));
  insight.detail = fmt::format("{} on GPU {}, {} on average", text::duration(most->compute_ns),
                               most->device, text::duration(mean));
  insight.advice =
      "Spread the work evenly: batches of equal cost (tokens, not samples), equal shares of "
      "layers or experts. Also check whether that GPU is slower: its clock and its temperature.";
  insight.estimate = "The longest computing time of a GPU, minus the mean of all GPUs.";
  insight.confidence = Confidence::Low;
  for (const DeviceWork& work : times) {
    Evidence evidence;
    evidence.text = fmt::format("{} of kernels that compute", text::duration(work.compute_ns));
    evidence.device = work.device;
    insight.evidence.push_back(std::move(evidence));
  }
  found.push_back(std::move(insight));
}

void find_rank_imbalance(const RunOverview& run, const Thresholds& thresholds,
                         std::vector<Insight>& found) {
  if (!run.compute || run.compute->share < thresholds.rank_imbalance.min_share) return;
  const Imbalance& compute = *run.compute;
  const RankFigures& slowest = run.ranks[compute.slowest];
  const auto name = [](const RankFigures& figures) {
    return figures.rank ? fmt::format("rank {}", *figures.rank)
                        : fmt::format("session {}", figures.session_id);
  };
  Insight insight;
  set_gain(insight, compute.max - compute.mean, std::max<int64_t>(1, slowest.duration_ns),
           thresholds);
  insight.title =
      fmt::format("Work of {} ranks is uneven · {} computes {} longer than the mean",
                  run.ranks.size(), name(slowest), text::percent(compute.max / compute.mean - 1));
  insight.detail = fmt::format("{} computes for {}, the mean is {}, the least {}", name(slowest),
                               text::duration(compute.max), text::duration(compute.mean),
                               text::duration(compute.min));
  insight.advice =
      "Spread the work evenly. If it already is, find out what is slow on that rank: its GPU's "
      "clock, its host or its data. All ranks wait for the slowest at every exchange.";
  insight.estimate = "The longest computing time of a rank, minus the mean of all ranks.";
  insight.confidence = Confidence::Medium;
  for (const RankFigures& rank : run.ranks) {
    Evidence evidence;
    evidence.text =
        fmt::format("{}{}: {} of kernels, {} of them exchange data", name(rank),
                    rank.host.empty() ? "" : " on " + rank.host,
                    text::duration(static_cast<double>(rank.kernel_ns.value_or(0))),
                    text::duration(static_cast<double>(rank.communication_ns.value_or(0))));
    insight.evidence.push_back(std::move(evidence));
  }
  found.push_back(std::move(insight));
}

}  // namespace gpufl::analysis
