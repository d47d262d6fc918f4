// SPDX-License-Identifier: Apache-2.0
// Hardware counters over time on a real GPU: kernels whose warps are known, beside their records.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

using base::Json;
namespace fs = std::filesystem;

constexpr const char* kWarps = "smsp__warps_launched.sum";
// Of a launch of range_program's.
constexpr double kWarpsOfLaunch = 264 * 8;
constexpr int64_t kIntervalNs = 100'000;
// A sample and a kernel are placed on the session's clock each for itself.
constexpr int64_t kClockNs = 20'000;

struct Span {
  int64_t begin_ns, end_ns;
  double value;
};

double value_of(const Json& row) {
  const auto digits = static_cast<double>(row["value"].as_integer());
  return digits * std::pow(10.0, static_cast<double>(row["exponent"].as_integer()));
}

Span span_of(const Json& row, double value) {
  const int64_t begin_ns = row["start_ns"].as_integer();
  return {begin_ns, begin_ns + row["duration_ns"].as_integer(), value};
}

class PmSamplingDevice : public Traced {
 protected:
  fs::path sampled(const std::string& metrics, std::vector<std::string> variables = {}) {
    variables.push_back("GPUFL_PM_SAMPLING_METRICS=" + metrics);
    return trace_under("PmSampling", std::move(variables), {"range_program", "counts", "5"});
  }
  static std::vector<Span> samples(const fs::path& session) {
    std::vector<Span> found;
    for (const Json& row : rows(session, "pm_sample")) {
      if (row["metric"].as_string() == kWarps) found.push_back(span_of(row, value_of(row)));
    }
    std::sort(found.begin(), found.end(),
              [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
    return found;
  }
  static std::vector<Span> kernels(const fs::path& session) {
    std::vector<Span> found;
    for (const Json& row : rows(session, "kernel")) found.push_back(span_of(row, kWarpsOfLaunch));
    return found;
  }
};

TEST_F(PmSamplingDevice, WarpsAreThoseOfTheKernelsAndNoKernelIsMissing) {
  const fs::path session = sampled(kWarps);
  const std::vector<Span> found = samples(session);
  ASSERT_GT(found.size(), 10'000u) << output_;
  const auto gap = std::adjacent_find(found.begin(), found.end(), [](const Span& a, const Span& b) {
    return std::abs(b.begin_ns - a.end_ns) > kIntervalNs / 10;
  });
  EXPECT_EQ(gap, found.end()) << "samples follow one another, decode after decode";
  // Kernels that ran wholly while samples were taken; at the edges, one may be in part.
  double launched = 0, at_edges = 0;
  for (const Span& kernel : kernels(session)) {
    const bool is_inside = kernel.begin_ns > found.front().begin_ns + kClockNs &&
                           kernel.end_ns < found.back().end_ns - kClockNs;
    const bool is_outside = kernel.end_ns < found.front().begin_ns - kClockNs ||
                            kernel.begin_ns > found.back().end_ns + kClockNs;
    launched += is_inside ? kernel.value : 0;
    at_edges += is_inside || is_outside ? 0 : kernel.value;
  }
  double counted = 0;
  for (const Span& sample : found) counted += sample.value;
  EXPECT_GE(counted, launched) << output_;
  EXPECT_LE(counted, launched + at_edges + 1) << "and one that reads the GPU's timer";
  const auto ledger = rows(session, "ledger");
  ASSERT_EQ(ledger.size(), 1u);
  EXPECT_EQ(ledger[0]["launches_missing"].as_integer(), 0);
  EXPECT_EQ(ledger[0]["pm_buffers_full"].as_integer(), 0);
}

TEST_F(PmSamplingDevice, CountersAreWhereTheKernelsAre) {
  const fs::path session = sampled(kWarps, {"GPUFL_PM_SAMPLING_INTERVAL_US=1000"});
  std::vector<Span> ran = kernels(session);
  std::sort(ran.begin(), ran.end(),
            [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  for (const Span& sample : samples(session)) {
    if (sample.value < kWarpsOfLaunch) continue;
    const auto after = std::lower_bound(
        ran.begin(), ran.end(), sample.end_ns + kClockNs,
        [](const Span& kernel, int64_t time_ns) { return kernel.begin_ns < time_ns; });
    ASSERT_NE(after, ran.begin()) << sample.begin_ns;
    EXPECT_GE(std::prev(after)->end_ns, sample.begin_ns - kClockNs) << sample.begin_ns;
  }
}

TEST_F(PmSamplingDevice, EachPresetFitsIntoOnePass) {
  for (const char* preset : {"overview", "tensor", "memory"}) {
    const fs::path session = sampled("", {std::string("GPUFL_PM_SAMPLING_PRESET=") + preset});
    EXPECT_FALSE(rows(session, "pm_sample").empty()) << preset << output_;
    for (const Json& note : rows(session, "capability")) {
      EXPECT_NE(note["asked"].as_string(), "PmSampling") << preset << note.dump();
    }
    fs::remove_all(session.parent_path());
  }
}

TEST_F(PmSamplingDevice, ASetOfSeveralPassesIsRefusedWithWhatFits) {
  const fs::path session = sampled(
      "sm__throughput.avg.pct_of_peak_sustained_elapsed,"
      "l1tex__throughput.avg.pct_of_peak_sustained_elapsed");
  bool is_refused = false;
  for (const Json& note : rows(session, "capability")) {
    is_refused |= note["reason"].as_string() == "several_passes";
  }
  EXPECT_TRUE(is_refused) << output_;
  EXPECT_FALSE(rows(session, "kernel").empty());
}

}  // namespace
}  // namespace gpufl::device_test
