// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/clock_limits.hpp"
#include "analysis/insights/rules.hpp"
#include "analysis/math/stats.hpp"
#include "format/former_names.hpp"
#include "format/vendor_words.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

constexpr uint64_t kGpuIdle = 0x001, kPowerCap = 0x004;

constexpr uint64_t slowdown_bits() {
  uint64_t bits = 0;
  for (const ClockLimit& reason : kClockLimits) bits |= reason.is_slowdown ? reason.bit : 0;
  return bits;
}

struct Reading {
  int64_t time_ns, value;
};
using Readings = std::vector<Reading>;

// From one sample of the GPU's clock to the next.
struct ClockSpan {
  Interval time;
  uint64_t reasons = 0;
  std::optional<int64_t> clock_mhz;
  double busy_ns = 0;
};
struct ClockHistory {
  std::vector<ClockSpan> spans;
  int64_t max_mhz = 0;  // 0: unknown
  double busy_ns = 0;
  bool knows_work = false;  // busy times are of recorded work, not of what the driver says
};

std::map<int64_t, Readings> readings_of(const SessionView& view, std::string_view metric) {
  const std::string_view former = format::former_name(format::kFormerMetrics, metric);
  const auto is_wanted = [&](std::string_view name) { return name == metric || name == former; };
  std::map<int64_t, Readings> result;
  const Samples& samples = view.tables.device_metrics;
  for (size_t row = 0; row < samples.rows(); ++row) {
    if (!is_wanted(view.tables.metric(samples.metric[row])) ||
        !view.selection.has_window(samples.time[row]) ||
        !view.selection.has_device(samples.device[row])) {
      continue;
    }
    result[samples.device[row]].push_back({samples.time[row], samples.value[row]});
  }
  for (auto& [device, readings] : result) {
    std::stable_sort(readings.begin(), readings.end(),
                     [](const Reading& a, const Reading& b) { return a.time_ns < b.time_ns; });
  }
  return result;
}

// A sample holds until the next one, but not through a pause of sampling.
std::vector<Interval> held_times(const Readings& readings) {
  std::vector<int64_t> steps;
  for (size_t i = 0; i + 1 < readings.size(); ++i) {
    steps.push_back(readings[i + 1].time_ns - readings[i].time_ns);
  }
  std::vector<Interval> times;
  if (steps.empty()) return times;
  const auto usual = static_cast<int64_t>(stats_of(std::span(steps)).median);
  for (size_t i = 0; i + 1 < readings.size(); ++i) {
    const int64_t from = readings[i].time_ns;
    times.push_back({from, std::min(readings[i + 1].time_ns, saturating_add(from, 3 * usual))});
  }
  return times;
}

double busy_in(const SessionView& view, const DeviceBusy* device, const ClockSpan& span,
               bool knows_work) {
  if (!knows_work)
    return (span.reasons & kGpuIdle) != 0 ? 0 : static_cast<double>(span.time.length());
  const Interval at_work{std::max(span.time.start, device->first_ns),
                         std::min(span.time.end, device->last_ns)};
  if (at_work.length() <= 0) return 0;
  return static_cast<double>(at_work.length() - view.idle(device->device).idle_ns(at_work));
}

std::map<int64_t, ClockHistory> clock_histories(const SessionView& view) {
  const auto reasons = readings_of(view, "clock_limits_bits");
  const auto clocks = readings_of(view, "compute_clock_mhz");
  std::map<int64_t, ClockHistory> histories;
  for (const auto& [device, readings] : reasons) {
    ClockHistory& history = histories[device];
    const DeviceBusy* busy = view.overview.device(device);
    history.knows_work = busy != nullptr && busy->busy_ns > 0;
    const auto found = clocks.find(device);
    const Readings no_clocks;
    const Readings& of_clock = found == clocks.end() ? no_clocks : found->second;
    for (const Reading& clock : of_clock) {
      history.max_mhz = std::max(history.max_mhz, clock.value);
    }
    history.max_mhz = view.fact(device, "max_compute_clock_mhz").value_or(history.max_mhz);
    const std::vector<Interval> times = held_times(readings);
    for (size_t i = 0; i < times.size(); ++i) {
      ClockSpan span;
      span.time = times[i];
      span.reasons = static_cast<uint64_t>(readings[i].value);
      const auto next =
          std::upper_bound(of_clock.begin(), of_clock.end(), span.time.start,
                           [](int64_t t, const Reading& clock) { return t < clock.time_ns; });
      if (next != of_clock.begin()) span.clock_mhz = (next - 1)->value;
      span.busy_ns = busy_in(view, busy, span, history.knows_work);
      history.busy_ns += span.busy_ns;
      history.spans.push_back(span);
    }
  }
  return histories;
}

struct ClockLoss {
  double affected_ns = 0;  // busy time
  double gain_ns = 0;      // what it would have taken less at the highest clock
  uint64_t reasons = 0;
  double clock_sum = 0, clock_weight = 0;
  std::optional<Interval> first;
};

template <typename Affects>
ClockLoss clock_loss(const ClockHistory& history, Affects affects) {
  ClockLoss loss;
  for (const ClockSpan& span : history.spans) {
    if (span.busy_ns <= 0 || !affects(span)) continue;
    loss.affected_ns += span.busy_ns;
    loss.reasons |= span.reasons & slowdown_bits();
    if (!loss.first) loss.first = span.time;
    if (!span.clock_mhz || history.max_mhz <= 0) continue;
    const double clock =
        static_cast<double>(*span.clock_mhz) / static_cast<double>(history.max_mhz);
    loss.gain_ns += span.busy_ns * std::max(0.0, 1 - clock);
    loss.clock_sum += span.busy_ns * static_cast<double>(*span.clock_mhz);
    loss.clock_weight += span.busy_ns;
  }
  return loss;
}

std::string reason_names(uint64_t bits) {
  std::vector<std::string_view> names;
  for (const ClockLimit& reason : kClockLimits) {
    if ((bits & reason.bit) != 0) names.push_back(reason.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void tell(const SessionView& view, int64_t device, const ClockHistory& history,
          const ClockLoss& loss, std::string title, std::string_view advice,
          std::vector<Insight>& found) {
  const double share = loss.affected_ns / history.busy_ns;
  Insight insight;
  set_gain(insight, loss.gain_ns, view.wall_ns, view.thresholds);
  insight.title = std::move(title);
  insight.detail = fmt::format("{} of the GPU's busy time ({})", text::duration(loss.affected_ns),
                               text::percent(share));
  if (loss.clock_weight > 0) {
    insight.detail += fmt::format(", at {:.0f} MHz of {} on average",
                                  loss.clock_sum / loss.clock_weight, history.max_mhz);
  }
  insight.advice = advice;
  insight.estimate = fmt::format(
      "Busy time at the sampled clock, compared with the highest clock: the saving for work that "
      "is limited by the {}. Work that is limited by memory saves less.",
      format::words_of_vendor(view.vendor(device)).compute_units);
  insight.confidence = history.knows_work ? Confidence::Medium : Confidence::Low;
  Evidence evidence;
  evidence.text = insight.detail;
  evidence.device = device;
  evidence.start_ns = loss.first->start;
  evidence.end_ns = loss.first->end;
  insight.evidence.push_back(std::move(evidence));
  found.push_back(std::move(insight));
}

}  // namespace

void find_throttling(const SessionView& view, std::vector<Insight>& found) {
  constexpr uint64_t kBits = slowdown_bits() & ~kPowerCap;
  for (const auto& [device, history] : clock_histories(view)) {
    const ClockLoss loss =
        clock_loss(history, [](const ClockSpan& span) { return (span.reasons & kBits) != 0; });
    if (loss.affected_ns <= 0 ||
        loss.affected_ns < view.thresholds.throttling.min_time_share * history.busy_ns) {
      continue;
    }
    tell(view, device, history, loss,
         fmt::format("GPU {} throttled: {}", device, reason_names(loss.reasons & kBits)),
         "Check cooling and power supply: temperatures, fans, airflow, other GPUs in the same "
         "machine. Report a hardware slowdown or power brake to whoever runs the machine.",
         found);
  }
}

void find_power_cap(const SessionView& view, std::vector<Insight>& found) {
  for (const auto& [device, history] : clock_histories(view)) {
    const ClockLoss loss =
        clock_loss(history, [](const ClockSpan& span) { return (span.reasons & kPowerCap) != 0; });
    if (loss.affected_ns <= 0 ||
        loss.affected_ns < view.thresholds.power_cap.min_time_share * history.busy_ns) {
      continue;
    }
    tell(view, device, history, loss,
         fmt::format("GPU {} held back by its power limit for {} of its busy time", device,
                     text::percent(loss.affected_ns / history.busy_ns)),
         "Raise the limit if you are allowed to (nvidia-smi -pl), or use less power for the same "
         "work: "
         "smaller types, less data moved. A GPU that is busy with matrix products usually reaches "
         "its limit.",
         found);
  }
}

void find_clock_drop(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.clock_drop;
  for (const auto& [device, history] : clock_histories(view)) {
    if (history.max_mhz <= 0) continue;
    const double lowest = (1 - limits.min_drop) * static_cast<double>(history.max_mhz);
    const ClockLoss loss = clock_loss(history, [&](const ClockSpan& span) {
      return (span.reasons & slowdown_bits()) == 0 && span.clock_mhz &&
             static_cast<double>(*span.clock_mhz) < lowest;
    });
    if (loss.affected_ns <= 0 || loss.affected_ns < limits.min_time_share * history.busy_ns) {
      continue;
    }
    tell(view, device, history, loss,
         fmt::format("GPU {} ran below its clock: {:.0f} of {} MHz, with no throttling", device,
                     loss.clock_sum / loss.clock_weight, history.max_mhz),
         "Check whether clocks were set (nvidia-smi -q -d CLOCK: application or locked clocks) "
         "and reset them (nvidia-smi -rgc, -rac). A GPU with short bursts of work also keeps a "
         "low clock.",
         found);
  }
}

}  // namespace gpufl::analysis
