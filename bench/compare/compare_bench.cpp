// SPDX-License-Identifier: Apache-2.0
// How often diff and gate raise a false alarm, and how often they find a regression that is there,
// under the noise of an H200: over whole reports, ten repeats a side.
#include <cstdio>
#include <string_view>

#include "bench/compare/trials.hpp"
#include "bench/report.hpp"

namespace {

using namespace gpufl::bench;

constexpr size_t kPairs = 50;
// A matrix product with about 4% of the GPU's time.
constexpr std::string_view kKernel = "nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT";

void measure(Report& report, SteadyProgram& program, std::string_view name, const Noise& noise,
             bool has_bars) {
  const auto bar = [has_bars](Bar bar) { return has_bars ? std::optional(bar) : std::nullopt; };
  const auto figure = [&](std::string_view what) {
    return std::string(name) + ": " + std::string(what);
  };
  const TrialCounts alike = run_trials(program, kPairs, noise);
  const auto number = [](size_t count) { return static_cast<double>(count); };
  report.value(figure("alike, gate alarms"), number(alike.gate_regressions), "of 50",
               bar(at_most(2)));
  report.value(figure("alike, gate cannot tell"), number(alike.gate_unsure), "of 50");
  report.value(figure("alike, diff findings"), number(alike.diff_findings), "of 50",
               bar(at_most(2)));
  const TrialCounts kernel = run_trials(program, kPairs, noise, {1.05, std::string(kKernel)});
  report.value(figure("one kernel +5%, gate alarms"), number(kernel.gate_regressions), "of 50",
               bar(at_least(48)));
  report.value(figure("one kernel +5%, diff findings"), number(kernel.diff_findings), "of 50");
  const TrialCounts all = run_trials(program, kPairs, noise, {1.05, ""});
  report.value(figure("all kernels +5%, gate alarms"), number(all.gate_regressions), "of 50",
               bar(at_least(48)));
  report.value(figure("all kernels +5%, diff findings"), number(all.diff_findings), "of 50");
  report.value(figure("halves of a steady run, diff findings"),
               number(halves_that_differ(program, kPairs, noise, 40)), "of 50", bar(at_most(0)));
}

}  // namespace

int main(int argc, char** argv) {
  Report report("compare_bench", argc, argv);
  auto program = SteadyProgram::load(GPUFL_BENCH_TRACE);
  if (!program) {
    std::fprintf(stderr, "compare_bench: %s\n", program.status().text().c_str());
    return 2;
  }
  measure(report, *program, "H200", Noise{}, true);
  Noise doubled;
  doubled.run = doubled.kernel = 0.01;
  doubled.drift = 0.006;
  doubled.disturbed_runs = 0.05;
  measure(report, *program, "twice the noise", doubled, false);
  return report.finish();
}
