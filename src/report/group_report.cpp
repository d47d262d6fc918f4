// SPDX-License-Identifier: Apache-2.0
#include "report/group_report.hpp"

#include <algorithm>
#include <span>

#include "analysis/math/saturating.hpp"
#include "base/json_writer.hpp"
#include "report/json_figures.hpp"
#include "report/json_report.hpp"

namespace gpufl::report {
namespace {

struct Sum {
  uint64_t groups = 0, launches = 0;
  int64_t total_ns = 0;
};

Sum sum_of(std::span<const analysis::KernelGroup> kernels) {
  Sum sum{kernels.size()};
  for (const analysis::KernelGroup& kernel : kernels) {
    sum.launches += kernel.duration_ns.count;
    sum.total_ns = analysis::saturating_add(sum.total_ns, kernel.duration_ns.total);
  }
  return sum;
}

}  // namespace

std::string json_group_report(const analysis::SessionSummary& summary, std::string_view by,
                              std::string_view group,
                              const std::vector<analysis::KernelGroup>& kernels, size_t most) {
  const std::span all(kernels);
  const std::span shown = all.first(std::min(most, all.size()));
  const Sum whole = sum_of(all), rest = sum_of(all.subspan(shown.size()));
  std::string text;
  base::JsonWriter json(text);
  json.begin_object();
  json.set("format", "gpufl-report").set("version", kJsonReportVersion).set("kind", "group");
  json.set("session", session_json(summary));
  json.set("by", by).set("group", group);
  json.set("count", whole.launches).set("total_ns", whole.total_ns);
  write_list(json, "by_name", shown, kernel_json);
  base::Json more = base::Json::object();
  more.set("groups", rest.groups).set("launches", rest.launches);
  json.set("more", more.set("total_ns", rest.total_ns));
  json.end();
  text += '\n';
  return text;
}

}  // namespace gpufl::report
