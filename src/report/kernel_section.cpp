// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::KernelGroup;
using analysis::LaunchConfig;
using analysis::Stats;

// "132", "8x16": without the ones at the end.
std::string size_text(const std::array<int64_t, 3>& size) {
  if (size[0] == 0) return "-";  // not told
  std::string text = std::to_string(size[0]);
  if (size[1] > 1 || size[2] > 1) text += fmt::format("x{}", size[1]);
  if (size[2] > 1) text += fmt::format("x{}", size[2]);
  return text;
}

// The configuration that takes most of a kernel's time, and how many there are.
struct MainConfig {
  const LaunchConfig* config = nullptr;
  size_t count = 0;
};

std::unordered_map<int64_t, MainConfig> main_configs(const SessionReport& report) {
  std::unordered_map<int64_t, MainConfig> found;
  for (const KernelGroup& group : report.overview.kernels->by_config) {
    const LaunchConfig& config = report.session.tables.config(static_cast<uint32_t>(group.key));
    MainConfig& entry = found[config.name];
    if (entry.count++ == 0) entry.config = &config;
  }
  return found;
}

template <typename T>
std::string text_or_dash(const std::optional<T>& value, auto text) {
  return value ? text(*value) : std::string("-");
}

std::string shared_text(const LaunchConfig& config) {
  if (!config.shared_static && !config.shared_dynamic) return "-";
  const int64_t bytes = config.shared_static.value_or(0) + config.shared_dynamic.value_or(0);
  return bytes == 0 ? "0" : bytes_text(bytes);
}

std::vector<std::string> config_cells(const MainConfig& main) {
  if (main.config == nullptr) return {"-", "-", "-", "-", "-", "-"};
  const LaunchConfig& config = *main.config;
  std::string grid = size_text(config.grid);
  if (main.count > 1) grid += fmt::format(" +{}", main.count - 1);
  return {std::move(grid),
          size_text(config.block),
          text_or_dash(config.registers, [](int64_t count) { return std::to_string(count); }),
          shared_text(config),
          text_or_dash(config.occupancy,
                       [](double share) { return fmt::format("{:.0f}%", share * 100); }),
          config.occupancy_bound.empty() ? "-" : std::string(config.occupancy_limit())};
}

// Of the whole run, where only phases of that were recorded.
std::string run_share_text(const analysis::KernelFigures& kernels, const KernelGroup& group) {
  if (!kernels.estimates) return "";
  const auto found = kernels.estimates->find(static_cast<uint32_t>(group.key));
  return found == kernels.estimates->end() ? "" : estimate_text(found->second.share);
}

// What stands before "." in a sort's comparison.
double sort_value(const Stats& stats, KernelSort sort) {
  switch (sort) {
    case KernelSort::Total: return static_cast<double>(stats.total);
    case KernelSort::Count: return static_cast<double>(stats.count);
    case KernelSort::Mean: return stats.mean;
    case KernelSort::Median: return stats.median;
    case KernelSort::P99: return static_cast<double>(stats.p99);
    case KernelSort::Max: return static_cast<double>(stats.max);
    case KernelSort::Name: break;
  }
  return 0;
}

}  // namespace

std::optional<KernelSort> kernel_sort_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, KernelSort>, 7> kWords = {{
      {"total", KernelSort::Total},
      {"count", KernelSort::Count},
      {"mean", KernelSort::Mean},
      {"median", KernelSort::Median},
      {"p99", KernelSort::P99},
      {"max", KernelSort::Max},
      {"name", KernelSort::Name},
  }};
  for (const auto& [name, sort] : kWords) {
    if (name == word) return sort;
  }
  return std::nullopt;
}

std::vector<const KernelGroup*> sorted_kernels(const std::vector<KernelGroup>& groups,
                                               KernelSort sort) {
  std::vector<const KernelGroup*> sorted;
  for (const KernelGroup& group : groups) sorted.push_back(&group);
  // They come with most time first.
  if (sort == KernelSort::Total) return sorted;
  std::stable_sort(sorted.begin(), sorted.end(), [sort](const auto* a, const auto* b) {
    if (sort == KernelSort::Name) return a->label < b->label;
    return sort_value(a->duration_ns, sort) > sort_value(b->duration_ns, sort);
  });
  return sorted;
}

void write_kernels(Page& page, const SessionReport& report, size_t top, KernelSort sort,
                   MissingFigures& missing) {
  const auto& kernels = report.overview.kernels;
  if (!kernels) {
    missing.add("kernels", kernels.unknown());
    return;
  }
  if (kernels->by_name.empty()) return;
  const bool is_budgeted = report.overview.coverage.is_budgeted;
  page.heading("KERNELS", fmt::format("{} in {} of {}{}", duration_text(kernels->total_ns),
                                      text::plural(kernels->count, "launch"),
                                      text::plural(kernels->by_name.size(), "kernel"),
                                      is_budgeted ? ", in the phases that were traced" : ""));
  TextTable table{{{"kernel", true},
                   {"count"},
                   {"total"},
                   {"share"},
                   {"of the run"},
                   {"mean", false, 1},
                   {"p99", false, 5},
                   {"max", false, 6},
                   {"grid", false, 3},
                   {"block", false, 3},
                   {"regs", false, 7},
                   {"shared", false, 8},
                   {"occup.", false, 2},
                   {"limited by", true, 4}}};
  const auto configs = main_configs(report);
  bool has_several = false;
  for (const KernelGroup* group : sorted_kernels(kernels->by_name, sort)) {
    if (table.rows.size() == top) break;
    const Stats& stats = group->duration_ns;
    const auto found = configs.find(group->key);
    const MainConfig main = found != configs.end() ? found->second : MainConfig{};
    has_several |= main.count > 1;
    std::vector<std::string> row = {group->label,
                                    text::count(stats.count),
                                    duration_text(stats.total),
                                    text::percent(group->share),
                                    run_share_text(*kernels, *group),
                                    text::duration(stats.mean),
                                    duration_text(stats.p99),
                                    duration_text(stats.max)};
    for (std::string& cell : config_cells(main)) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  table.min_flexible = 44;  // names tell more than the last figures
  table.drop_empty_columns();
  page.table(table);
  write_more(page, kernels->by_name.size(), table.rows.size());
  if (is_budgeted && !kernels->estimates) {
    page.paragraph(
        2, "Shares of the whole run are unknown: " + kernels->estimates.unknown().reason + ".",
        Tone::Plain, 2);
  }
  if (has_several && page.shows(table, "grid")) {
    page.paragraph(2,
                   "Launch figures are those of the configuration with the most time; +N: N "
                   "others.",
                   Tone::Plain, 2);
  }
}

void write_kernel_classes(Page& page, const SessionReport& report) {
  const auto& kernels = report.overview.kernels;
  if (!kernels || kernels->by_class.size() < 2) return;
  page.heading("KERNEL CLASSES");
  TextTable table{{{"class", true}, {"count"}, {"total"}, {"share"}, {"mean"}, {"p99", false, 1}}};
  for (const KernelGroup& group : kernels->by_class) {
    const Stats& stats = group.duration_ns;
    table.rows.push_back({group.label, text::count(stats.count), duration_text(stats.total),
                          text::percent(group.share), text::duration(stats.mean),
                          duration_text(stats.p99)});
  }
  page.table(table);
}

}  // namespace gpufl::report
