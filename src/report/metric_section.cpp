// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/clock_limits.hpp"
#include "format/former_names.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

namespace {

using analysis::Distribution;
using analysis::MetricSeries;
using analysis::SessionSummary;

// All series of one metric of one device: links, fans or cores taken together.
struct MetricGroup {
  const MetricSeries* first = nullptr;
  size_t series = 0;
  Distribution values;
  double growth = 0;  // last - first, over all series
  double last = 0;    // sum over all series
};

using SeriesList = std::span<const MetricSeries* const>;

std::vector<MetricGroup> group(SeriesList metrics, std::optional<int64_t> device) {
  std::vector<MetricGroup> groups;
  for (const MetricSeries* entry : metrics) {
    const MetricSeries& series = *entry;
    if (series.device != device) continue;
    if (groups.empty() || groups.back().first->metric != series.metric) {
      groups.emplace_back().first = &series;
    }
    MetricGroup& target = groups.back();
    ++target.series;
    target.values.merge(series.values);
    target.growth += static_cast<double>(series.last) - static_cast<double>(series.first);
    target.last += static_cast<double>(series.last);
  }
  return groups;
}

std::string label(const MetricGroup& group) {
  std::string text(text::metric_label(group.first->metric));
  if (group.series > 1) text += fmt::format(" (all {})", group.series);
  return text;
}

// "sw_power_cap 35.0%, gpu_idle 12.0%", in shares of samples; "none" when no bit was ever set.
std::string bits_text(const MetricSeries& series) {
  std::string text;
  for (size_t bit = 0; bit < series.bit_samples.size(); ++bit) {
    if (series.bit_samples[bit] == 0) continue;
    const bool has_name =
        format::name_for_all(format::kFormerMetrics, series.metric) == "clock_limits_bits" &&
        bit < analysis::kClockLimits.size();
    const std::string name =
        has_name ? std::string(analysis::kClockLimits[bit].name) : fmt::format("bit {}", bit);
    const double share =
        static_cast<double>(series.bit_samples[bit]) / static_cast<double>(series.values.count);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text::percent(share));
  }
  return text.empty() ? "none" : text;
}

std::string owner(const SessionSummary& summary, std::optional<int64_t> device) {
  if (!device) return "HOST METRICS";
  for (const base::Json& facts : summary.devices) {
    if (facts["device"].as_integer() != *device) continue;
    return fmt::format("GPU {} METRICS ({})", *device, facts["name"].as_string());
  }
  return fmt::format("GPU {} METRICS", *device);
}

void write_owner(Page& page, const SessionSummary& summary, SeriesList metrics,
                 std::optional<int64_t> device) {
  TextTable gauges{{{"metric"}, {"min"}, {"mean"}, {"max"}, {"last"}, {"samples", false, 1}}};
  TextTable counters{{{"since before the session"}, {"grew by"}, {"last"}, {"samples", false, 1}}};
  std::string zeros;
  std::vector<const MetricSeries*> bits;
  for (const MetricGroup& metric : group(metrics, device)) {
    const std::string& name = metric.first->metric;
    const Distribution& values = metric.values;
    const std::string samples = text::count(values.count);
    if (!metric.first->bit_samples.empty()) {
      bits.push_back(metric.first);
    } else if (!analysis::is_cumulative(name)) {
      gauges.rows.push_back(
          {label(metric), text::metric_value(name, values.min),
           text::metric_value(name, values.mean()), text::metric_value(name, values.max),
           metric.series > 1 ? "-" : text::metric_value(name, metric.last), samples});
    } else if (metric.last == 0 && metric.growth == 0) {
      zeros += fmt::format("{}{}", zeros.empty() ? "" : ", ", label(metric));
    } else {
      counters.rows.push_back({label(metric), text::metric_value(name, metric.growth),
                               text::metric_value(name, metric.last), samples});
    }
  }
  page.heading(owner(summary, device));
  if (!gauges.rows.empty()) page.table(gauges);
  for (const MetricSeries* series : bits) {
    page.field(text::metric_label(series->metric), bits_text(*series));
  }
  if (!counters.rows.empty()) page.table(counters);
  if (!zeros.empty()) page.field("zero throughout", zeros);
}

}  // namespace

void write_metrics(Page& page, const SessionSummary& summary, SeriesList metrics) {
  // Series are sorted by device, the host's first.
  for (size_t i = 0; i < metrics.size(); ++i) {
    const auto& device = metrics[i]->device;
    if (i == 0 || metrics[i - 1]->device != device) write_owner(page, summary, metrics, device);
  }
}

void write_counters(Page& page, std::span<const analysis::CounterTotal* const> counters,
                    size_t top) {
  if (counters.empty()) return;
  page.heading("COUNTERS");
  TextTable table{{{"counter"}, {"value"}, {"in session"}, {"per second"}, {"samples", false, 1}}};
  for (const analysis::CounterTotal* counter : counters) {
    if (table.rows.size() == top) break;
    const std::optional<double> rate = counter->per_second();
    table.rows.push_back({counter->name, text::signed_count(counter->last),
                          text::signed_count(counter->increase()),
                          rate ? text::rate(*rate) : "unknown", text::count(counter->samples)});
  }
  page.table(table);
  write_more(page, counters.size(), table.rows.size());
}

}  // namespace gpufl::report
