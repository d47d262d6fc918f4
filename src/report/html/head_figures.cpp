// SPDX-License-Identifier: Apache-2.0
#include "report/html/head_figures.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "report/html/svg_chart.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

struct Sums {
  uint64_t kernels = 0;
  int64_t kernel_ns = 0, busy_ns = 0, recorded_ns = 0;
};

// Nothing where no session records GPU work.
std::optional<Sums> sums_of(const analysis::RunOverview& run) {
  std::optional<Sums> sums;
  for (const analysis::RankFigures& rank : run.ranks) {
    if (!rank.overview.kernels) continue;
    if (!sums) sums.emplace();
    sums->kernels += rank.overview.kernels->count;
    sums->kernel_ns += rank.overview.kernels->total_ns;
    for (const analysis::DeviceBusy& device : rank.overview.devices) {
      if (device.busy_ns == 0) continue;
      sums->busy_ns += device.busy_ns;
      sums->recorded_ns += device.recorded_ns;
    }
  }
  return sums;
}

// The first that is not good, where one is not.
Verdict verdict_of(const analysis::RunData& run) {
  Verdict verdict = ledger_verdict(run.sessions.front().summary);
  for (const analysis::SessionData& session : run.sessions) {
    if (verdict.tone != Tone::Good) break;
    verdict = ledger_verdict(session.summary);
  }
  return verdict;
}

}  // namespace

std::string head_figures(const RunReport& report) {
  std::string html = "<dl id=\"figures\">";
  const auto add = [&](std::string_view label, std::string_view value, std::string_view kind = "",
                       std::string_view more = "") {
    html += fmt::format("<div><dt>{}</dt><dd{}{}>{}</dd></div>", label,
                        kind.empty() ? "" : fmt::format(" class=\"{}\"", kind),
                        more.empty() ? "" : fmt::format(" title=\"{}\"", html_text(more)),
                        html_text(value));
  };
  int64_t duration_ns = 0;
  for (const analysis::RankFigures& rank : report.overview.ranks) {
    duration_ns = std::max(duration_ns, rank.duration_ns);
  }
  add("Recorded", duration_text(duration_ns));
  const std::optional<Sums> sums = sums_of(report.overview);
  add("GPU busy", !sums                    ? "unknown"
                  : sums->recorded_ns == 0 ? "never"
                                           : text::percent(static_cast<double>(sums->busy_ns) /
                                                           static_cast<double>(sums->recorded_ns)));
  add("Kernels", sums ? text::count(sums->kernels) : "unknown");
  if (sums) add("Kernel time", duration_text(sums->kernel_ns));
  const Verdict verdict = verdict_of(report.run);
  const std::string_view text = verdict.text;
  const size_t colon = std::min(text.find(':'), text.size());
  add("Log", text.substr(0, colon),
      verdict.tone == Tone::Good      ? "good"
      : verdict.tone == Tone::Warning ? "warning"
                                      : "",
      text);
  return html + "</dl>\n";
}

}  // namespace gpufl::report
