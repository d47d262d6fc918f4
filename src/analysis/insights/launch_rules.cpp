// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/gap_causes.hpp"
#include "analysis/insights/launch_phases.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

constexpr size_t kMaxEvidence = 3;

Evidence at_work(const SessionView& view, WorkRow work, uint32_t stack, Interval span,
                 int64_t device, std::string text) {
  Evidence evidence = at_site(view.session.code.site(stack), std::move(text));
  evidence.scope = view.scope_of(view.work(work.kind), work.row);
  if (work.kind == WorkKind::Kernel) evidence.kernel = view.kernel_label(work.row);
  evidence.device = device;
  evidence.start_ns = span.start;
  evidence.end_ns = span.end;
  return evidence;
}

// Kernels shorter than tiny_kernels.max_kernel_us that follow each other with nothing else between.
struct TinyRun {
  Interval span;
  uint64_t kernels = 0;
  int64_t kernel_ns = 0, idle_ns = 0;
  uint32_t first_row = 0;
};

std::vector<TinyRun> tiny_runs(const SessionView& view, int64_t device) {
  const auto& limits = view.thresholds.tiny_kernels;
  std::vector<TinyRun> runs;
  TinyRun run;
  const auto end_run = [&] {
    if (run.kernels > 1 && static_cast<double>(run.kernels) >= limits.min_run) {
      run.idle_ns = view.idle(device).idle_ns(run.span);
      runs.push_back(run);
    }
    run = {};
  };
  const Tables& tables = view.tables;
  const auto visit = [&](WorkRow row, const Work& work) {
    if (view.device_of(work, row.row) != device || !view.selection.includes(work, row.row)) return;
    const bool is_tiny = row.kind == WorkKind::Kernel &&
                         static_cast<double>(work.duration[row.row]) < limits.max_kernel_us * 1e3 &&
                         !view.is_of_graph(row.row);
    // A pause in which the host did something else is no part of a run.
    const bool follows =
        run.kernels == 0 || static_cast<double>(work.start[row.row] - run.span.end) <
                                view.thresholds.idle_gaps.host_code_us * 1e3;
    if (!is_tiny || !follows) end_run();
    if (!is_tiny) return;
    if (run.kernels++ == 0) {
      run.span.start = work.start[row.row];
      run.first_row = row.row;
    }
    run.kernel_ns += work.duration[row.row];
    run.span.end = std::max(run.span.end, work.end(row.row));
  };
  visit_in_order(work_tables(tables), visit);
  end_run();
  return runs;
}

}  // namespace

void find_launch_bound(const SessionView& view, std::vector<Insight>& found) {
  const GapExplainer explainer(view);
  for (const DeviceBusy& device : view.overview.devices) {
    LaunchBound bound = launch_phases(view, explainer, device.device);
    if (!is_launch_bound(view, bound)) continue;
    const double idle = static_cast<double>(bound.idle_ns);
    const double span = static_cast<double>(bound.span_ns);
    Insight insight;
    set_gain(insight, bound.gain_ns, view.wall_ns, view.thresholds);
    insight.title =
        fmt::format("Launch-bound on GPU {} · idle for {} of {} in {}", device.device,
                    text::duration_beside(idle, span), text::duration_beside(span, idle),
                    text::plural(bound.phases.size(), "phase"));
    insight.detail = fmt::format(
        "The GPU had to wait for {} pieces of work (kernels, copies, memsets): the host launches "
        "{} "
        "per second, and the GPU was idle for {} of these phases",
        text::count(bound.launches),
        text::count(static_cast<uint64_t>(static_cast<double>(bound.launches) * 1e9 / span)),
        text::percent(idle / span));
    insight.advice =
        "Capture the repeated work into a CUDA graph and replay it (PyTorch: torch.cuda.graph, "
        "torch.compile with mode=\"reduce-overhead\"), or give each launch more to do: larger "
        "batches, fused kernels.";
    insight.estimate = fmt::format(
        "The idle time of these phases, minus {} for each piece, the usual pause between nodes of "
        "a graph, and {} for each phase, the time to launch its graph.{}",
        text::duration(view.thresholds.launch_bound.graph_node_gap_us * 1e3),
        text::duration(view.thresholds.launch_bound.graph_launch_us * 1e3), recording_text(view));
    insight.confidence = Confidence::Medium;
    std::sort(bound.phases.begin(), bound.phases.end(),
              [](const auto& a, const auto& b) { return a.idle_ns > b.idle_ns; });
    bound.phases.resize(std::min(bound.phases.size(), kMaxEvidence));
    for (const LaunchPhase& phase : bound.phases) {
      const auto phase_idle = static_cast<double>(phase.idle_ns);
      const auto phase_span = static_cast<double>(phase.span.length());
      insight.evidence.push_back(
          at_work(view, phase.first, phase.first_stack, phase.span, device.device,
                  fmt::format("{} pieces of work, idle for {} of {}", text::count(phase.launches),
                              text::duration_beside(phase_idle, phase_span),
                              text::duration_beside(phase_span, phase_idle))));
    }
    found.push_back(std::move(insight));
  }
}

void find_tiny_kernels(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.tiny_kernels;
  for (const DeviceBusy& device : view.overview.devices) {
    std::vector<TinyRun> runs = tiny_runs(view, device.device);
    TinyRun all;
    for (const TinyRun& run : runs) {
      all.kernels += run.kernels;
      all.kernel_ns += run.kernel_ns;
      all.idle_ns += run.idle_ns;
    }
    if (runs.empty()) continue;
    const double idle = static_cast<double>(all.idle_ns);
    const double pauses = static_cast<double>(all.kernels - runs.size());
    const double gain = std::max(0.0, idle - pauses * view.recording_ns_per_call());
    if (gain < limits.min_share * static_cast<double>(view.wall_ns)) continue;
    Insight insight;
    set_gain(insight, gain, view.wall_ns, view.thresholds);
    insight.title =
        fmt::format("Tiny kernels × {} on GPU {} · {} of work, {} between", all.kernels,
                    device.device, text::duration_beside(static_cast<double>(all.kernel_ns), idle),
                    text::duration_beside(idle, static_cast<double>(all.kernel_ns)));
    const double mean = static_cast<double>(all.kernel_ns) / static_cast<double>(all.kernels);
    insight.detail = fmt::format(
        "{} of kernels under {}, {} in total; their mean is {}, the mean pause between them {}",
        text::plural(runs.size(), "run"), text::duration(limits.max_kernel_us * 1e3),
        text::count(all.kernels), text::duration_beside(mean, idle / pauses),
        text::duration_beside(idle / pauses, mean));
    insight.advice =
        "Fuse them (torch.compile, a Triton kernel, one kernel for several tensors: foreach "
        "optimizers); where that is not possible, replay them as a CUDA graph.";
    insight.estimate = fmt::format(
        "The pauses inside these runs, which a fused kernel does not have. Savings inside the "
        "kernels themselves are not included.{}",
        recording_text(view));
    insight.confidence = Confidence::Low;
    std::sort(runs.begin(), runs.end(),
              [](const auto& a, const auto& b) { return a.idle_ns > b.idle_ns; });
    runs.resize(std::min(runs.size(), kMaxEvidence));
    for (const TinyRun& run : runs) {
      const WorkRow first{WorkKind::Kernel, run.first_row};
      const auto work_ns = static_cast<double>(run.kernel_ns);
      const auto span_ns = static_cast<double>(run.span.length());
      insight.evidence.push_back(
          at_work(view, first, SessionView::stack_of(view.tables.kernels, run.first_row), run.span,
                  device.device,
                  fmt::format("{} kernels, {} of work in {}", text::count(run.kernels),
                              text::duration_beside(work_ns, span_ns),
                              text::duration_beside(span_ns, work_ns))));
    }
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
