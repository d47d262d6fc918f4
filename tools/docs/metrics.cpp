// SPDX-License-Identifier: Apache-2.0
#include "cli/prometheus.hpp"
#include "parts.hpp"

namespace gpufl::docs {
namespace {

using backend::MetricScope;
using cli::PrometheusMetric;

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// A row of the page: what Prometheus calls it may come from several metrics of the log.
struct Family {
  std::string_view name, type, help;
  std::string labels, from;
};

// `error="corrected"` becomes "`error`: corrected", and after another of the family ", corrected".
std::string label_text(std::string_view label, bool is_first) {
  const size_t sign = label.find('=');
  const std::string value(label.substr(sign + 2, label.size() - sign - 3));
  return is_first ? quoted(label.substr(0, sign)) + ": " + value : ", " + value;
}

void add(const PrometheusMetric& metric, Family& family) {
  const bool is_first = family.from.empty();
  family.from += (is_first ? "" : ", ") + quoted(metric.metric);
  if (!metric.labels.empty()) family.labels += label_text(metric.labels, is_first);
}

Family begin(const PrometheusMetric& metric) {
  const backend::MetricSpec& spec = *backend::find_metric(metric.scope, metric.metric);
  Family family{
      metric.family, to_string(spec.type), metric.help.empty() ? spec.help : metric.help, {}, {}};
  if (!spec.index.empty()) family.labels = quoted(spec.index);
  if (metric.metric == backend::metric::kClockLimits) family.labels = quoted("reason");
  return family;
}

std::string families(MetricScope scope) {
  std::vector<Family> all;
  for (const PrometheusMetric& metric : cli::prometheus_table()) {
    if (metric.scope != scope) continue;
    if (all.empty() || all.back().name != metric.family) all.push_back(begin(metric));
    add(metric, all.back());
  }
  std::vector<std::vector<std::string>> rows;
  for (const Family& family : all) {
    rows.push_back({quoted(family.name), std::string(family.type), family.labels, family.from,
                    std::string(family.help)});
  }
  return table({"name", "type", "labels", "from", "meaning"}, rows);
}

}  // namespace

std::vector<Part> prometheus() {
  return {{"metrics of GPUs", families(MetricScope::Device)},
          {"metrics of the host", families(MetricScope::Host)}};
}

}  // namespace gpufl::docs
