// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/series.hpp"

#include <algorithm>

namespace gpufl::analysis {

namespace {

int64_t step_of(Interval span, size_t points) {
  const auto count = static_cast<int64_t>(std::max<size_t>(points, 1));
  return std::max<int64_t>((span.length() + count - 1) / count, 1);
}

size_t parts_of(Interval span, int64_t step_ns) {
  return static_cast<size_t>((std::max<int64_t>(span.length(), 0) + step_ns - 1) / step_ns);
}

}  // namespace

SeriesBuilder::SeriesBuilder(Interval span, size_t points)
    : span_(span), step_ns_(step_of(span, points)), parts_(parts_of(span, step_ns_)) {}

void SeriesBuilder::add_to(Part& part, double value, double weight) {
  if (part.weight == 0) part.min = part.max = value;
  part.weight += weight;
  part.sum += value * weight;
  part.min = std::min(part.min, value);
  part.max = std::max(part.max, value);
}

void SeriesBuilder::add(int64_t time_ns, double value) {
  // The last moment belongs to the last part: a session's closing samples carry its end time.
  if (time_ns < span_.start || time_ns > span_.end || parts_.empty()) return;
  const auto place = static_cast<size_t>((time_ns - span_.start) / step_ns_);
  add_to(parts_[std::min(place, parts_.size() - 1)], value, 1);
}

void SeriesBuilder::hold(int64_t from_ns, int64_t to_ns, double value) {
  from_ns = std::max(from_ns, span_.start);
  to_ns = std::min(to_ns, span_.end);
  while (from_ns < to_ns) {
    const int64_t place = (from_ns - span_.start) / step_ns_;
    const int64_t part_end = std::min(span_.start + (place + 1) * step_ns_, to_ns);
    add_to(parts_[static_cast<size_t>(place)], value, static_cast<double>(part_end - from_ns));
    from_ns = part_end;
  }
}

Series SeriesBuilder::finish() const {
  Series series{step_ns_, {}};
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.weight == 0) continue;
    series.points.push_back({span_.start + static_cast<int64_t>(i) * step_ns_, part.min,
                             part.sum / part.weight, part.max});
  }
  return series;
}

Series SeriesBuilder::finish_share(const Intervals& known) const {
  Series series{step_ns_, {}};
  for (size_t i = 0; i < parts_.size(); ++i) {
    const int64_t start = span_.start + static_cast<int64_t>(i) * step_ns_;
    const Interval part{start, std::min(start + step_ns_, span_.end)};
    const int64_t known_ns = total_length(clip(known, part));
    if (known_ns == 0) continue;
    // Work that reaches into what is not known is still work.
    const double share = std::min(1.0, parts_[i].sum / static_cast<double>(known_ns));
    series.points.push_back({start, share, share, share});
  }
  return series;
}

}  // namespace gpufl::analysis
