// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/figures/hardware_counters.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/roofline.hpp"
#include "report/json_figures.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::CountedRange;
using analysis::DeviceRoof;
using analysis::Distribution;
using analysis::RangeCounter;
using analysis::Roofline;
using analysis::RooflinePoint;
using analysis::SampledCounter;
using base::Json;
using base::JsonWriter;

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string percent_or_unknown(const std::optional<double>& share) {
  return share ? text::percent(*share) : "unknown";
}

// Only where it was counted more than once is there a least and a greatest value.
std::string if_several(const Distribution& values, double value) {
  return values.count > 1 ? number_text(value) : "";
}

void write_ranges(Page& page, const std::vector<CountedRange>& ranges, size_t top) {
  TextTable table{{{"range", true},
                   {"metric", true},
                   {"mean"},
                   {"min", false, 1},
                   {"max", false, 1},
                   {"counted", false, 2}}};
  size_t rows = 0;
  for (const CountedRange& range : ranges) {
    for (const RangeCounter& counter : range.counters) {
      if (++rows > top) continue;
      const Distribution& values = counter.values;
      table.rows.push_back({&counter == range.counters.data() ? range.label : "", counter.metric,
                            number_text(values.mean()), if_several(values, values.min),
                            if_several(values, values.max), text::count(values.count)});
    }
  }
  if (rows == 0) return;
  table.drop_empty_columns();
  page.heading("HARDWARE COUNTERS", "of one run of each range");
  page.table(table);
  write_more(page, rows, table.rows.size());
}

void write_sampled(Page& page, const std::vector<SampledCounter>& counters, size_t top) {
  if (counters.empty()) return;
  TextTable table{{{"GPU"}, {"metric", true}, {"min"}, {"mean"}, {"max"}, {"samples", false, 1}}};
  const size_t shown = std::min(top, counters.size());
  for (size_t i = 0; i < shown; ++i) {
    const SampledCounter& counter = counters[i];
    const Distribution& values = counter.values;
    table.rows.push_back({std::to_string(counter.device), counter.metric, number_text(values.min),
                          number_text(values.mean()), number_text(values.max),
                          text::count(values.count)});
  }
  page.heading("HARDWARE COUNTERS OVER TIME");
  page.table(table);
  write_more(page, counters.size(), shown);
}

std::string roof_text(const analysis::Figure<double>& roof, double scale, std::string_view unit) {
  if (!roof) return fmt::format("unknown, {}", roof.unknown().reason);
  return fmt::format("{:.4g} {}", *roof / scale, unit);
}

void write_roofline(Page& page, const Roofline& roofline, size_t top) {
  page.heading("ROOFLINE", "operations and bytes as counted; roofs at the highest clocks");
  for (const DeviceRoof& roof : roofline.roofs) {
    const std::string gpu = fmt::format("GPU {} ", roof.device);
    page.field(gpu + "memory", roof_text(roof.bytes_per_s, 1e9, "GB/s"));
    page.field(gpu + "fp32", roof_text(roof.fp32_per_s, 1e12, "Top/s"));
    page.field(gpu + "fp64", roof_text(roof.fp64_per_s, 1e12, "Top/s"));
  }
  TextTable table{
      {{"range", true}, {"in", true}, {"op/byte"}, {"Gop/s"}, {"of roof"}, {"GB/s"}, {"of roof"}}};
  const size_t shown = std::min(top, roofline.points.size());
  bool has_tensor_work = false;
  for (size_t i = 0; i < shown; ++i) {
    const RooflinePoint& point = roofline.points[i];
    has_tensor_work = has_tensor_work || point.uses_tensor_cores.value_or(false);
    table.rows.push_back({point.label, std::string(to_string(point.precision)),
                          fmt::format("{:.3g}", point.intensity()),
                          fmt::format("{:.4g}", point.operations_per_s() / 1e9),
                          percent_or_unknown(point.of_arithmetic),
                          fmt::format("{:.4g}", point.bytes_per_s() / 1e9),
                          percent_or_unknown(point.of_memory)});
  }
  page.table(table);
  write_more(page, roofline.points.size(), shown);
  if (has_tensor_work) {
    page.paragraph(2,
                   "Operations of tensor cores are not among those counted: where a range has "
                   "some, it does more than is shown.",
                   Tone::Warning, 2);
  }
  for (size_t i = 0; i < std::min(top, roofline.left_out.size()); ++i) {
    const auto& [label, why] = roofline.left_out[i];
    page.field("without", fmt::format("{}: {}", label, why));
  }
}

Json roof_json(const DeviceRoof& roof) {
  Json json = Json::object();
  json.set("device", roof.device).set("bytes_per_s", json_figure(roof.bytes_per_s));
  json.set("fp32_per_s", json_figure(roof.fp32_per_s));
  return json.set("fp64_per_s", json_figure(roof.fp64_per_s));
}

Json point_json(const RooflinePoint& point) {
  Json json = Json::object();
  json.set("label", point.label).set("name", point.name).set("device", point.device);
  json.set("precision", to_string(point.precision)).set("operations", point.operations);
  json.set("bytes", point.bytes).set("time_ns", point.time_ns);
  json.set("operations_per_byte", point.intensity());
  json.set("operations_per_s", point.operations_per_s()).set("bytes_per_s", point.bytes_per_s());
  json.set("of_arithmetic", json_optional(point.of_arithmetic));
  json.set("of_memory", json_optional(point.of_memory));
  return json.set("uses_tensor_cores", json_optional(point.uses_tensor_cores));
}

}  // namespace

void write_hardware_counters(Page& page, const SessionReport& report, size_t top) {
  const analysis::Overview& overview = report.overview;
  write_ranges(page, overview.ranges, top);
  if (overview.roofline) {
    write_roofline(page, *overview.roofline, top);
  } else if (!overview.ranges.empty()) {
    page.field("no roofline", overview.roofline.unknown().reason);
  }
  write_sampled(page, overview.sampled_counters, top);
}

void write_hardware_counters(JsonWriter& out, const analysis::Overview& overview) {
  write_list(out, "ranges", overview.ranges, [](const CountedRange& range) {
    Json json = Json::object();
    json.set("label", range.label).set("name", range.name).set("device", range.device);
    return json.set("counters", json_array(range.counters, [](const RangeCounter& counter) {
                      return Json::object()
                          .set("metric", counter.metric)
                          .set("values", to_json(counter.values));
                    }));
  });
  write_list(out, "sampled_counters", overview.sampled_counters, [](const SampledCounter& counter) {
    Json json = Json::object();
    json.set("device", counter.device).set("metric", counter.metric);
    json.set("values", to_json(counter.values)).set("sampled_ns", counter.sampled_ns);
    return json.set("series", to_json(counter.series));
  });
  write_figure(out, "roofline", overview.roofline, [&](const Roofline& roofline) {
    write_list(out, "roofs", roofline.roofs, roof_json);
    write_list(out, "points", roofline.points, point_json);
    write_list(out, "left_out", roofline.left_out, [](const auto& range) {
      return Json::object().set("label", range.first).set("reason", range.second);
    });
  });
}

}  // namespace gpufl::report
