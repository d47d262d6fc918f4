// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/kernel_groups.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::DeviceBusy;
using analysis::Gap;
using analysis::WorkRow;

constexpr size_t kShownPauses = 3;

std::string device_text(int64_t device) { return device < 0 ? "?" : std::to_string(device); }

// Kernels as the other parts of the report call them; those that were not chosen, too.
class WorkLabels {
 public:
  explicit WorkLabels(const analysis::SessionData& session)
      : tables_(session.tables), names_(session.kernel_names()) {}

  std::string of(WorkRow work) const {
    switch (work.kind) {
      case analysis::WorkKind::Kernel: break;
      case analysis::WorkKind::Copy: return "copy";
      case analysis::WorkKind::Fill: return "memset";
      case analysis::WorkKind::Graph: return "graph";
    }
    return names_.of(tables_.config(tables_.kernels.config[work.row]).name).short_name;
  }

 private:
  const analysis::Tables& tables_;
  const analysis::KernelNames& names_;
};

std::string time_or_dash(uint64_t count, int64_t time_ns) {
  return count == 0 ? std::string("-") : duration_text(time_ns);
}

void write_caveats(Page& page, const analysis::Overview& overview, size_t top) {
  const size_t shown = std::min(top, overview.caveats.size());
  for (size_t i = 0; i < shown; ++i) {
    page.paragraph(2, "! " + overview.caveats[i], Tone::Warning, 2);
  }
  write_more(page, overview.caveats.size(), shown);
}

// The whole of the recorded time, part by part.
void write_parts(Page& page, const DeviceBusy& device, bool has_running_kernel) {
  const int64_t idle_ns = device.idle.total_ns + device.idle.short_ns;
  const int64_t beside_ns =
      device.recorded_ns - device.busy_ns - idle_ns - device.before_ns - device.after_ns;
  const auto part = [&](int64_t part_ns) {
    return text::duration_among(
        static_cast<double>(part_ns),
        {static_cast<double>(device.busy_ns), static_cast<double>(idle_ns),
         static_cast<double>(device.before_ns), static_cast<double>(device.after_ns),
         static_cast<double>(beside_ns)});
  };
  page.paragraph(
      2,
      fmt::format(
          "GPU {}: {} busy, {} idle in between, {} before its first work, {} after its last{}.",
          device_text(device.device), part(device.busy_ns), part(idle_ns), part(device.before_ns),
          part(device.after_ns),
          beside_ns > 0 ? fmt::format(", {} {}", part(beside_ns),
                                      has_running_kernel ? "while a kernel ran that has no end"
                                                         : "idle next to unrecorded time")
                        : ""),
      Tone::Plain, 2);
}

bool has_running_kernel(const analysis::SessionSummary& summary, int64_t device) {
  return std::any_of(summary.pending.begin(), summary.pending.end(), [device](const auto& work) {
    return !work.kernel.empty() && (work.device == device || work.device < 0);
  });
}

void write_pauses(Page& page, const SessionReport& report) {
  std::vector<const Gap*> pauses;
  for (const DeviceBusy& device : report.overview.devices) {
    for (const Gap& gap : device.idle.longest) pauses.push_back(&gap);
  }
  const size_t shown = std::min(kShownPauses, pauses.size());
  std::partial_sort(pauses.begin(), pauses.begin() + static_cast<ptrdiff_t>(shown), pauses.end(),
                    [](const Gap* a, const Gap* b) { return a->span.length() > b->span.length(); });
  pauses.resize(shown);
  if (pauses.empty()) return;
  const WorkLabels labels(report.session);
  TextTable table{
      {{"longest pauses"}, {"gpu"}, {"at", false, 2}, {"after", true}, {"before", true, 1}}, {}, 3};
  for (const Gap* gap : pauses) {
    constexpr size_t kMaxLabel = 40;
    std::string before = labels.of(gap->after);
    if (before.size() > kMaxLabel) before.replace(kMaxLabel - 3, std::string::npos, "...");
    table.rows.push_back({duration_text(gap->span.length()), device_text(gap->device),
                          duration_text(gap->span.start), labels.of(gap->before), before});
  }
  page.table(table);
}

}  // namespace

void write_gpu_time(Page& page, const SessionReport& report, MissingFigures& missing) {
  const analysis::Overview& overview = report.overview;
  if (!overview.kernels) {
    missing.add("GPU time", overview.kernels.unknown());
    return;
  }
  page.heading("GPU TIME", "of " + duration_text(overview.recorded_ns) + " recorded");
  write_caveats(page, overview, overview.caveats.size());
  TextTable table{{{"gpu", true},
                   {"busy"},
                   {"share"},
                   {"kernels"},
                   {"copies", false, 2},
                   {"memsets", false, 4},
                   {"graphs", false, 5},
                   {"idle between", false, 1},
                   {"pauses", false, 3},
                   {"kernels at once", false, 2}}};
  size_t idle = 0;
  for (const DeviceBusy& device : overview.devices) {
    if (device.busy_ns == 0) {
      if (device.device >= 0) ++idle;
      continue;
    }
    table.rows.push_back(
        {device_text(device.device), duration_text(device.busy_ns),
         text::percent(device.busy_share), time_or_dash(device.kernels, device.kernel_ns),
         time_or_dash(device.copies, device.copy_ns), time_or_dash(device.fills, device.fill_ns),
         time_or_dash(device.graphs, device.graph_ns),
         duration_text(device.idle.total_ns + device.idle.short_ns), text::count(device.idle.count),
         device.kernels == 0
             ? "-"
             : fmt::format("{:.2f}, at most {}", device.concurrency.mean, device.concurrency.max)});
  }
  if (table.rows.empty()) {
    page.paragraph(2, "No GPU did any work.");
    return;
  }
  table.drop_empty_columns();
  page.table(table);
  // Work of a scope is a part of what the GPU did, and so are the times beside it.
  if (overview.options.scope.empty()) {
    for (const DeviceBusy& device : overview.devices) {
      if (device.busy_ns > 0) {
        write_parts(page, device, has_running_kernel(report.session.summary, device.device));
      }
    }
  }
  if (idle > 0) {
    page.paragraph(
        2, fmt::format("{} did nothing.", idle == 1 ? "1 GPU" : fmt::format("{} GPUs", idle)));
  }
  write_pauses(page, report);
}

void write_gpu_time_briefly(Page& page, const SessionReport& report, size_t top) {
  constexpr size_t kShownCaveats = 2;
  const analysis::Overview& overview = report.overview;
  if (!overview.kernels) return;
  page.heading("GPU TIME", "of " + duration_text(overview.recorded_ns) + " recorded");
  write_caveats(page, overview, kShownCaveats);
  TextTable table{{{"gpu", true},
                   {"busy"},
                   {"share"},
                   {"kernels"},
                   {"copies", false, 1},
                   {"before first work", false, 4},
                   {"idle between", false, 2},
                   {"after last work", false, 3}}};
  size_t busy = 0;
  for (const DeviceBusy& device : overview.devices) {
    if (device.busy_ns == 0 || ++busy > top) continue;
    const auto whole = [&](int64_t time_ns) {
      return overview.options.scope.empty() && time_ns > 0 ? duration_text(time_ns) : "-";
    };
    table.rows.push_back(
        {device_text(device.device), duration_text(device.busy_ns),
         text::percent(device.busy_share), time_or_dash(device.kernels, device.kernel_ns),
         time_or_dash(device.copies, device.copy_ns), whole(device.before_ns),
         duration_text(device.idle.total_ns + device.idle.short_ns), whole(device.after_ns)});
  }
  if (table.rows.empty()) {
    page.paragraph(2, "No GPU did any work.");
    return;
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, busy, table.rows.size());
}

}  // namespace gpufl::report
