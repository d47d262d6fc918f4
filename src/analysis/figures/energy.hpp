// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/tables/tables.hpp"

// Energy that GPUs used, from their samples: the energy counter where it was sampled, else power
// integrated over time. Made once for a session; constant afterwards.
namespace gpufl::analysis {

class EnergyMeter {
 public:
  explicit EnergyMeter(const Tables& tables);

  // In joules, of one device; unknown where its samples do not cover the spans. Linear between
  // samples, so spans shorter than the sampling interval share what was used around them.
  Figure<double> joules(int64_t device, const Intervals& spans) const;
  // Of all devices that were sampled.
  Figure<double> joules(const Intervals& spans) const;

 private:
  struct Point {
    int64_t time_ns;
    double joules;  // since some time before the first point
  };
  struct Curve {
    std::vector<Point> points;
    Intervals covered;  // where samples stand close enough together
  };
  static constexpr int64_t kAnyInterval = 0;
  // `max_intervals`: samples that stand further apart than so many times the usual tell nothing of
  // the time between them.
  static Curve make_curve(std::vector<Point> points, int64_t max_intervals);
  static double at(const Curve& curve, int64_t time_ns);
  static Figure<double> joules(const Curve& curve, const Intervals& spans);

  std::map<int64_t, Curve> curves_;  // by device
};

}  // namespace gpufl::analysis
