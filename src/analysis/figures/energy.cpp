// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/energy.hpp"

#include <algorithm>
#include <string>

namespace gpufl::analysis {

namespace {

constexpr double kPerMilli = 1e-3, kSecondsPerNs = 1e-9;
// Samples further apart than this many usual intervals were not taken one after the other.
constexpr int64_t kMaxIntervals = 10;

Unknown not_sampled() {
  return {"neither energy nor power of the GPU was sampled then",
          "record with `gpufl trace --interval 100ms`, or with system_sample_rate_ms and "
          "continuous_system_sampling"};
}

}  // namespace

EnergyMeter::EnergyMeter(const Tables& tables) {
  struct Sampled {
    std::vector<Point> energy, power;  // `joules` of power: watts
  };
  std::map<int64_t, Sampled> devices;
  const Samples& samples = tables.device_metrics;
  // Which name each id stands for is asked once.
  enum class Role : uint8_t { None, Energy, Power };
  std::vector<Role> roles;
  for (const std::string& metric : tables.metrics) {
    roles.push_back(metric == "energy_mj"  ? Role::Energy
                    : metric == "power_mw" ? Role::Power
                                           : Role::None);
  }
  for (size_t row = 0; row < samples.rows(); ++row) {
    const uint32_t metric = samples.metric[row];
    const Role role = metric < roles.size() ? roles[metric] : Role::None;
    if (role == Role::None) continue;
    Sampled& sampled = devices[samples.device[row]];
    (role == Role::Energy ? sampled.energy : sampled.power)
        .push_back({samples.time[row], static_cast<double>(samples.value[row]) * kPerMilli});
  }
  for (auto& [device, sampled] : devices) {
    const bool only_grows =
        std::is_sorted(sampled.energy.begin(), sampled.energy.end(),
                       [](const Point& a, const Point& b) { return a.joules < b.joules; });
    if (sampled.energy.size() >= 2 && only_grows) {
      curves_[device] = make_curve(std::move(sampled.energy), kAnyInterval);
    } else if (sampled.power.size() >= 2) {
      double joules = 0;
      double watts_before = 0;
      int64_t before_ns = sampled.power.front().time_ns;
      for (Point& point : sampled.power) {
        const double watts = point.joules;
        joules += (watts_before + watts) / 2 * static_cast<double>(point.time_ns - before_ns) *
                  kSecondsPerNs;
        watts_before = watts;
        before_ns = point.time_ns;
        point.joules = joules;
      }
      curves_[device] = make_curve(std::move(sampled.power), kMaxIntervals);
    }
  }
}

EnergyMeter::Curve EnergyMeter::make_curve(std::vector<Point> points, int64_t max_intervals) {
  std::vector<int64_t> intervals;
  for (size_t i = 1; i < points.size(); ++i) {
    intervals.push_back(points[i].time_ns - points[i - 1].time_ns);
  }
  const auto middle = intervals.begin() + static_cast<ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  const int64_t usual_ns = *middle;
  Curve curve;
  for (size_t i = 1; i < points.size(); ++i) {
    const int64_t from = points[i - 1].time_ns, to = points[i].time_ns;
    if (max_intervals != kAnyInterval && to - from > usual_ns * max_intervals) continue;
    // What lies just outside of the samples is as it was beside it.
    add_in_order(curve.covered, from - usual_ns, to + usual_ns);
  }
  curve.points = std::move(points);
  return curve;
}

double EnergyMeter::at(const Curve& curve, int64_t time_ns) {
  const std::vector<Point>& points = curve.points;
  auto after = std::upper_bound(points.begin(), points.end(), time_ns,
                                [](int64_t t, const Point& point) { return t < point.time_ns; });
  after = std::clamp(after, points.begin() + 1, points.end() - 1);
  const Point &from = *(after - 1), &to = *after;
  if (to.time_ns == from.time_ns) return to.joules;
  return from.joules + (to.joules - from.joules) * static_cast<double>(time_ns - from.time_ns) /
                           static_cast<double>(to.time_ns - from.time_ns);
}

Figure<double> EnergyMeter::joules(const Curve& curve, const Intervals& spans) {
  if (!subtract(spans, curve.covered).empty()) return not_sampled();
  double sum = 0;
  for (const Interval& span : spans) sum += at(curve, span.end) - at(curve, span.start);
  return sum;
}

Figure<double> EnergyMeter::joules(int64_t device, const Intervals& spans) const {
  const auto curve = curves_.find(device);
  return curve == curves_.end() ? Figure<double>(not_sampled()) : joules(curve->second, spans);
}

Figure<double> EnergyMeter::joules(const Intervals& spans) const {
  if (curves_.empty() || spans.empty()) return not_sampled();
  double sum = 0;
  for (const auto& [device, curve] : curves_) {
    const Figure<double> of_device = joules(curve, spans);
    if (!of_device) return of_device;
    sum += *of_device;
  }
  return sum;
}

}  // namespace gpufl::analysis
