// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend/metric_table.hpp"
#include "capture/session.hpp"

// A MetricBoard as Prometheus text (exposition format 0.0.4): base units, counters in _total,
// absent values absent. Pure; any thread. docs/reference/prometheus.md is the table for users.
namespace gpufl::cli {

// How one metric of the log appears; of clock_limits_bits with one series per reason and GPU. Rows
// of one `family` stand together.
struct PrometheusMetric {
  backend::MetricScope scope;
  std::string_view metric;  // a name of backend/metric_table.hpp
  std::string_view family;  // the Prometheus name
  int64_t multiply = 1;     // to the base unit
  int64_t divide = 1;
  std::string_view labels = {};  // fixed ones that tell the rows of a family apart: cause="x"
  std::string_view help = {};    // of the family, on its first row; empty: the metric table's
};

std::span<const PrometheusMetric> prometheus_table();

struct PrometheusOptions {
  bool processes = false;  // one series per process and GPU: as many as there are processes
};

inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";

std::string prometheus_text(const capture::MetricBoard& board, const PrometheusOptions& options);

}  // namespace gpufl::cli
