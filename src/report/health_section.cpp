// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/clock_limits.hpp"
#include "format/former_names.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::Distribution;
using analysis::MetricFigures;

// The sampled values that people look at first, of one GPU or of several together.
struct Health {
  Distribution use, power, power_limit, temperature, memory, memory_total, clock;
  std::map<std::string_view, double> slowdowns;  // what held clocks back: most share of samples

  void add(const MetricFigures& series) {
    const std::string_view metric =
        format::name_for_all(format::kFormerMetrics, std::string_view(series.metric));
    if (metric == "gpu_util_pct") use.merge(series.values);
    if (metric == "power_mw") power.merge(series.values);
    if (metric == "power_limit_mw") power_limit.merge(series.values);
    if (metric == "temperature_c") temperature.merge(series.values);
    if (metric == "memory_used_bytes") memory.merge(series.values);
    if (metric == "memory_total_bytes") memory_total.merge(series.values);
    if (metric == "compute_clock_mhz") clock.merge(series.values);
    if (metric == "clock_limits_bits") add_limits(series);
  }

  std::string use_text() const { return known(use, text::metric_value("_pct", use.mean())); }
  std::string power_text() const {
    return known(power, fmt::format("{}{}", text::metric_value("_mw", power.mean()),
                                    power_limit.count == 0
                                        ? std::string()
                                        : " of " + text::metric_value("_mw", power_limit.max)));
  }
  std::string temperature_text() const {
    return known(temperature, text::metric_value("_c", temperature.max));
  }
  std::string memory_text() const {
    return known(memory,
                 fmt::format("{}{}", text::bytes(memory.max),
                             memory_total.count == 0 ? std::string()
                                                     : " of " + text::bytes(memory_total.max)));
  }
  std::string clock_text() const { return known(clock, text::metric_value("_mhz", clock.min)); }
  // "sw_power_cap 35.0%"; empty: nothing did.
  std::string slowdown_text() const {
    std::string text;
    for (const auto& [name, share] : slowdowns) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text::percent(share));
    }
    return text;
  }

 private:
  static std::string known(const Distribution& values, std::string text) {
    return values.count == 0 ? std::string() : std::move(text);
  }

  void add_limits(const MetricFigures& series) {
    const size_t bits = std::min(series.bit_samples.size(), analysis::kClockLimits.size());
    for (size_t bit = 0; bit < bits; ++bit) {
      if (series.bit_samples[bit] == 0 || !analysis::kClockLimits[bit].is_slowdown) continue;
      const double share =
          static_cast<double>(series.bit_samples[bit]) / static_cast<double>(series.values.count);
      double& most = slowdowns[analysis::kClockLimits[bit].name];
      most = std::max(most, share);
    }
  }
};

std::map<int64_t, Health> health_by_gpu(std::span<const MetricFigures> metrics) {
  std::map<int64_t, Health> gpus;
  for (const MetricFigures& series : metrics) {
    if (series.device) gpus[*series.device].add(series);
  }
  return gpus;
}

void write_host(Page& page, std::span<const MetricFigures> metrics) {
  std::string text;
  double used = 0, total = 0;
  for (const MetricFigures& series : metrics) {
    if (series.device) continue;
    if (series.metric == "cpu_util_permille") {
      text = text::metric_value(series.metric, series.values.mean()) + " of all cores busy";
    }
    if (series.metric == "ram_used_bytes") used = series.values.max;
    if (series.metric == "ram_total_bytes") total = series.values.max;
  }
  if (used > 0 && total > 0) {
    text += fmt::format("{}memory {} of {}", text.empty() ? "" : ", ", text::bytes(used),
                        text::bytes(total));
  }
  if (!text.empty()) page.field("host", text);
}

}  // namespace

void write_health(Page& page, std::span<const MetricFigures> metrics, size_t top) {
  if (metrics.empty()) return;
  page.heading("HEALTH");
  const std::map<int64_t, Health> gpus = health_by_gpu(metrics);
  TextTable table{{{"gpu", true},
                   {"mean use"},
                   {"mean power"},
                   {"hottest", false, 1},
                   {"most memory"},
                   {"lowest clock", false, 2},
                   {"clock held back by", true, 3}}};
  for (const auto& [number, health] : gpus) {
    if (table.rows.size() == top) break;
    table.rows.push_back({std::to_string(number), health.use_text(), health.power_text(),
                          health.temperature_text(), health.memory_text(), health.clock_text(),
                          health.slowdown_text()});
  }
  table.drop_empty_columns();
  if (!table.rows.empty()) page.table(table);
  write_more(page, gpus.size(), table.rows.size());
  write_host(page, metrics);
}

void write_health_briefly(Page& page, std::span<const MetricFigures> metrics) {
  const size_t gpus = health_by_gpu(metrics).size();
  if (gpus == 0) return;
  Health all;
  for (const MetricFigures& series : metrics) {
    if (series.device) all.add(series);
  }
  std::string text = gpus > 1 ? fmt::format("each of {} GPUs: ", gpus) : std::string();
  std::string_view gap;
  const auto part = [&](std::string_view before, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("{}{}{}", gap, before, value);
    gap = ", ";
  };
  part("in use ", all.use_text());
  part("power ", all.power_text());
  part("at most ", all.temperature_text());
  part("memory ", all.memory_text());
  part("clock held back by ", all.slowdown_text());
  if (!gap.empty()) page.field("health", text);
}

}  // namespace gpufl::report
