// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/math/intervals.hpp"

// A value over time in few points: the span in equal parts, each with the least, mean and greatest
// value seen in it. Parts in which nothing was seen have no point. Plain data.
namespace gpufl::analysis {

struct SeriesPoint {
  int64_t time_ns = 0;  // where its part begins
  double min = 0, mean = 0, max = 0;
  bool operator==(const SeriesPoint&) const = default;
};

struct Series {
  int64_t step_ns = 0;              // length of a part
  std::vector<SeriesPoint> points;  // in order of time
};

// Gathers one series; values may come in any order. One thread.
class SeriesBuilder {
 public:
  // At most `points` parts of `span`; no part is shorter than a nanosecond.
  SeriesBuilder(Interval span, size_t points);
  void add(int64_t time_ns, double value);  // outside the span: left out
  // A value that held from `from` to `to`: means are weighted by time. Do not mix with add().
  void hold(int64_t from_ns, int64_t to_ns, double value);
  Series finish() const;
  // After hold(.., 1) of spans that do not overlap: which share they take of what is known of each
  // part. Parts of which nothing is known have no point.
  Series finish_share(const Intervals& known) const;

 private:
  struct Part {
    double weight = 0, sum = 0, min = 0, max = 0;
  };
  void add_to(Part& part, double value, double weight);

  Interval span_;
  int64_t step_ns_ = 1;
  std::vector<Part> parts_;
};

}  // namespace gpufl::analysis
