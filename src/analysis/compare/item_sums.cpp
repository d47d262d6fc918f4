// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/item_sums.hpp"

#include <algorithm>
#include <span>

#include "analysis/math/stats.hpp"

namespace gpufl::analysis::compare {
namespace {

void fill(Item& item, std::vector<int64_t>& durations, double parts) {
  const Stats stats = stats_of(std::span(durations));
  item[Metric::Count] = static_cast<double>(stats.count) / parts;
  if (stats.count == 0) return;
  item[Metric::Median] = stats.median;
  item[Metric::Mean] = stats.mean;
  item[Metric::P90] = static_cast<double>(stats.p90);
  item[Metric::P99] = static_cast<double>(stats.p99);
  item[Metric::Total] = static_cast<double>(stats.total) / parts;
}

// The middle of durations that were read off a clock with steps: those that were read alike lie
// anywhere in their step. `median`: the one of what was read, which jumps from step to step.
double median_within_step(std::span<const int64_t> durations, double median) {
  double low = median - kClockStepNs / 2;
  double high = median + kClockStepNs / 2;
  size_t below = 0;
  size_t alike = 0;
  for (const int64_t duration : durations) {
    const auto value = static_cast<double>(duration);
    const double border = (value + median) / 2;
    if (value < median) {
      ++below;
      low = std::max(low, border);
    } else if (value > median) {
      high = std::min(high, border);
    } else {
      ++alike;
    }
  }
  if (alike < 2) return median;
  const double rank = static_cast<double>(durations.size()) / 2 - static_cast<double>(below);
  return low + (high - low) * rank / static_cast<double>(alike);
}

Item item_of(const Key& key, std::vector<int64_t>& durations, double parts) {
  Item item;
  fill(item, durations, parts);
  if (is_of_gpu_clock(key.subject) && item[Metric::Median]) {
    item[Metric::Median] = median_within_step(durations, *item[Metric::Median]);
  }
  return item;
}

}  // namespace

std::map<Key, Item> ItemSums::items(double parts) {
  std::map<Key, Item> all;
  std::map<Key, std::vector<const std::vector<int64_t>*>> launches;  // in whatever scope
  for (auto& [key, its_durations] : durations) {
    all[key] = item_of(key, its_durations, parts);
    if (key.subject != Subject::Launch) continue;
    launches[{Subject::Config, "", key.kernel, key.config}].push_back(&its_durations);
    launches[{Subject::Kernel, "", key.kernel, ""}].push_back(&its_durations);
  }
  for (const auto& [key, several] : launches) {
    std::vector<int64_t> together;
    for (const std::vector<int64_t>* its_durations : several) {
      together.insert(together.end(), its_durations->begin(), its_durations->end());
    }
    all[key] = item_of(key, together, parts);
  }
  for (const auto& [key, busy] : busy_ns) all[key][Metric::Busy] = busy / parts;

  // Of all of it, count and total are of kernels; only the rest is of its iterations.
  Item& total = all[Key{}];
  total[Metric::Count].reset();
  total[Metric::Total].reset();
  if (kernels > 0) {
    total[Metric::Count] = static_cast<double>(kernels) / parts;
    total[Metric::Total] = kernel_ns / parts;
  }
  if (time_ns > 0) total[Metric::Time] = time_ns;
  return all;
}

}  // namespace gpufl::analysis::compare
