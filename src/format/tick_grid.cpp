// SPDX-License-Identifier: Apache-2.0
#include "format/tick_grid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpufl::format {
namespace {

// Tick lengths in use, longest first: the longest that fits is the right one.
constexpr int64_t kTickLengths[] = {1024, 1000, 32, 10};
constexpr size_t kMinRows = 32;
constexpr size_t kDurationSamples = 128;
constexpr size_t kStampSamples = 512;
constexpr size_t kDenseSamples = 64;
// Drift moves the end of a long event off the grid that its start lies on.
constexpr int64_t kMaxSampledDuration = 20'000'000;
// Beyond this many nanoseconds between two stamps doubles are no longer exact enough.
constexpr int64_t kMaxSpan = int64_t{1} << 50;
constexpr double kMaxDriftPerNs = 1e-3;

std::optional<int64_t> find_tick(std::span<const int64_t> durations) {
  const size_t stride = std::max<size_t>(1, durations.size() / kDurationSamples);
  for (const int64_t tick : kTickLengths) {
    // Both ends may be a nanosecond off; short ticks cannot afford that much.
    const int64_t tolerance = tick >= 32 ? 2 : 1;
    size_t sampled = 0;
    size_t on_grid = 0;
    for (size_t i = 0; i < durations.size(); i += stride) {
      if (durations[i] < tick || durations[i] > kMaxSampledDuration) continue;
      const int64_t rest = durations[i] % tick;
      ++sampled;
      if (rest <= tolerance || tick - rest <= tolerance) ++on_grid;
    }
    if (sampled >= kMinRows / 2 && on_grid * 10 >= sampled * 9) return tick;
  }
  return std::nullopt;
}

struct Line {
  double at_zero = 0;
  double slope = 0;
};

// Least squares. Centred, because the products of raw values would exhaust a double.
Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0;
  double mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i];
    mean_y += y[i];
  }
  mean_x /= static_cast<double>(x.size());
  mean_y /= static_cast<double>(x.size());
  double xy = 0;
  double xx = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return {mean_y - slope * mean_x, slope};
}

}  // namespace

double TickGrid::period_ns() const {
  return static_cast<double>(tick_ns) + std::ldexp(static_cast<double>(drift), -kFractionBits);
}

std::optional<TickGrid> fit_tick_grid(std::span<const int64_t> starts,
                                      std::span<const int64_t> durations) {
  if (starts.size() < kMinRows || durations.size() != starts.size()) return std::nullopt;
  const std::optional<int64_t> tick = find_tick(durations);
  if (!tick) return std::nullopt;
  const auto nominal = static_cast<double>(*tick);

  // Count ticks from stamp to stamp. The period learned so far carries the count over long gaps,
  // where a drift of some parts in a million is worth more than a tick.
  const int64_t origin = starts[0];
  // First stamp by stamp, then with longer strides.
  const size_t stride = starts.size() / std::clamp<size_t>(starts.size() / 16, 1, kStampSamples);
  std::vector<double> ticks;
  std::vector<double> offsets;
  ticks.reserve(kStampSamples * 2);
  offsets.reserve(kStampSamples * 2);
  double period = nominal;
  for (size_t i = 0; i < starts.size(); i += i < kDenseSamples ? 1 : stride) {
    int64_t offset_ns;
    if (__builtin_sub_overflow(starts[i], origin, &offset_ns) || offset_ns > kMaxSpan ||
        offset_ns < -kMaxSpan) {
      return std::nullopt;
    }
    const auto offset = static_cast<double>(offset_ns);
    if (ticks.empty()) {
      ticks.push_back(0);
    } else {
      ticks.push_back(ticks.back() + std::nearbyint((offset - offsets.back()) / period));
    }
    offsets.push_back(offset);
    // Only a long base makes a better period than the nominal one.
    if (std::abs(ticks.back()) > 10'000) period = offset / ticks.back();
  }

  const Line line = fit_line(ticks, offsets);
  if (std::abs(line.slope - nominal) > nominal * kMaxDriftPerNs) return std::nullopt;
  // Stamps are rounded to the nearest nanosecond, which the half makes of the floor in stamp().
  const double first = line.at_zero + 0.5;
  TickGrid grid;
  grid.tick_ns = *tick;
  grid.drift = std::llround(std::ldexp(line.slope - nominal, TickGrid::kFractionBits));
  grid.origin_ns = static_cast<int64_t>(static_cast<uint64_t>(origin) +
                                        static_cast<uint64_t>(std::llround(std::floor(first))));
  grid.phase =
      std::min(static_cast<int64_t>(std::ldexp(first - std::floor(first), TickGrid::kFractionBits)),
               (int64_t{1} << TickGrid::kFractionBits) - 1);
  return grid;
}

}  // namespace gpufl::format
