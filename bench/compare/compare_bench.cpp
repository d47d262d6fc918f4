// SPDX-License-Identifier: Apache-2.0
// How often diff and gate raise a false alarm, and how often they find a regression that is there,
// over whole reports, ten repeats a side. Launches vary as recorded on an H200; runs differ as
// measured there, and as is assumed of machines that nobody measured: docs/design/noise.md.
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "bench/compare/measured_noise.hpp"
#include "bench/compare/trials.hpp"
#include "bench/report.hpp"

namespace {

using namespace gpufl::bench;

constexpr size_t kPairs = 50;
constexpr size_t kStepsOfAHalvedRun = 40;
// A matrix product with about 4% of the GPU's time.
constexpr std::string_view kKernel = "nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT";

// Bars hold for the measured noise and for the usual one.
class Measurement {
 public:
  Measurement(Report& report, SteadyProgram& program, std::string_view name, const Noise& noise,
              bool has_bars)
      : report_(report), program_(program), name_(name), noise_(noise), has_bars_(has_bars) {}

  void run() {
    const TrialCounts alike = run_trials(program_, kPairs, noise_);
    count("alike, gate at 5%, alarms", alike.at_most_5.regressions, at_most(2));
    count("alike, gate at 5%, passes", alike.at_most_5.passes, at_least(48));
    count("alike, gate at 3%, alarms", alike.at_most_3.regressions, at_most(2));
    count("alike, gate at 3%, passes", alike.at_most_3.passes);
    count("alike, diff, findings", alike.diff_findings, at_most(2));
    for (const double increase : {1.02, 1.03, 1.04}) {
      planted("one kernel", {increase, std::string(kKernel)}, {});
    }
    planted("one kernel", {1.05, std::string(kKernel)}, at_least(48));
    planted("all kernels", {1.05, ""}, at_least(48));
    count("halves of a steady run, diff, findings",
          halves_that_differ(program_, kPairs, noise_, kStepsOfAHalvedRun), at_most(0));
  }

 private:
  void count(const std::string& figure, size_t count, std::optional<Bar> bar = {}) {
    report_.value(name_ + ": " + figure, static_cast<double>(count), "of 50",
                  has_bars_ ? bar : std::nullopt);
  }
  void planted(std::string_view what, const Planted& planted, std::optional<Bar> bar) {
    const TrialCounts counts = run_trials(program_, kPairs, noise_, planted);
    const std::string name =
        std::string(what) + " +" + std::to_string(std::lround(planted.factor * 100) - 100) + "%";
    count(name + ", gate at 5%, alarms", counts.at_most_5.regressions, bar);
    count(name + ", gate at 3%, alarms", counts.at_most_3.regressions, bar);
    count(name + ", diff, findings", counts.diff_findings);
  }

  Report& report_;
  SteadyProgram& program_;
  std::string name_;
  Noise noise_;
  bool has_bars_;
};

}  // namespace

int main(int argc, char** argv) {
  Report report("compare_bench", argc, argv);
  auto program = SteadyProgram::load(GPUFL_BENCH_TRACE);
  if (!program) {
    std::fprintf(stderr, "compare_bench: %s\n", program.status().text().c_str());
    return 2;
  }
  const auto measured = load_measured_noise(GPUFL_MEASURED_NOISE);
  if (!measured) {
    std::fprintf(stderr, "compare_bench: %s\n", measured.status().text().c_str());
    return 2;
  }
  SteadyProgram of_measured = *program;  // the same trials, whatever comes before
  Measurement(report, of_measured, "measured noise", *measured, true).run();
  Measurement(report, *program, "usual noise", Noise{}, true).run();
  Noise doubled;
  doubled.run = doubled.kernel = 0.01;
  doubled.drift = 0.006;
  doubled.disturbed_runs = 0.05;
  Measurement(report, *program, "twice the noise", doubled, false).run();
  return report.finish();
}
