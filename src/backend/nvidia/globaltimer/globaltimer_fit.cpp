// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/globaltimer/globaltimer_fit.hpp"

#include <algorithm>
#include <cmath>

namespace gpufl::backend {
namespace {

// Each step leaves two thirds: 1e-4 comes to 1e-16.
constexpr int kSearchSteps = 70;

// The highest value of a concave function.
template <typename Function>
double highest(double low, double high, Function function) {
  for (int i = 0; i < kSearchSteps; ++i) {
    const double third = (high - low) / 3;
    if (function(low + third) < function(high - third)) {
      low += third;
    } else {
      high -= third;
    }
  }
  return function(low + (high - low) / 2);
}

}  // namespace

void GlobaltimerFit::add(const ClockBracket& bracket, int64_t tick_ns) {
  if (brackets_.size() == kMaxBrackets) brackets_.erase(brackets_.begin());
  brackets_.push_back(bracket);
  tick_ns_ = std::max(tick_ns_, tick_ns);
}

std::optional<GlobaltimerFit::Bounds> GlobaltimerFit::bounds(size_t count) const {
  const ClockBracket& newest = brackets_.back();
  Bounds all{{}, {}, {-kMaxDrift, kMaxDrift}};
  for (size_t i = brackets_.size() - count; i < brackets_.size(); ++i) {
    const ClockBracket& one = brackets_[i];
    const auto first = static_cast<int64_t>(one.first - newest.first);
    const auto last = static_cast<int64_t>(one.last - newest.first);
    // A stamp is the beginning of the tick in which the timer was read.
    const int64_t below = one.not_before_ns - newest.not_before_ns - first - tick_ns_;
    const int64_t above = one.not_after_ns - newest.not_before_ns - last;
    all.below.push_back({static_cast<double>(first), static_cast<double>(below)});
    all.above.push_back({static_cast<double>(last), static_cast<double>(above)});
  }
  // A line that runs above one bound and below another cannot be steeper than their connection.
  for (const Bound& below : all.below) {
    for (const Bound& above : all.above) {
      const double distance = above.x - below.x;
      const double room = above.difference - below.difference + kMaxWander * std::abs(distance);
      if (distance > 0) {
        all.drift.highest = std::min(all.drift.highest, room / distance);
      } else if (distance < 0) {
        all.drift.lowest = std::max(all.drift.lowest, room / distance);
      } else if (room < 0) {
        return std::nullopt;
      }
    }
  }
  if (all.drift.lowest > all.drift.highest) return std::nullopt;
  return all;
}

std::optional<FittedTime> GlobaltimerFit::place(uint64_t stamp) const {
  if (brackets_.empty()) return std::nullopt;
  // Where a clock was set or its rate has changed, the newest brackets are those that hold.
  std::optional<Bounds> known;
  for (size_t count = brackets_.size(); !known && count > 0; count /= 2) known = bounds(count);
  if (!known) return std::nullopt;
  const ClockBracket& newest = brackets_.back();
  const auto distance = static_cast<int64_t>(stamp - newest.first);
  const auto x = static_cast<double>(distance);
  const auto [low, high] = known->drift;
  const double above = highest(low, high, [&](double drift) {
    double least = HUGE_VAL;
    for (const Bound& bound : known->above) {
      const double away = x - bound.x;
      least = std::min(least, bound.difference + drift * away + kMaxWander * std::abs(away));
    }
    return least;
  });
  const double below = -highest(low, high, [&](double drift) {
    double least = HUGE_VAL;
    for (const Bound& bound : known->below) {
      const double away = x - bound.x;
      least = std::min(least, kMaxWander * std::abs(away) - bound.difference - drift * away);
    }
    return least;
  });
  if (below > above) return std::nullopt;
  const double latest = above + static_cast<double>(tick_ns_);
  const double middle = std::floor(below + (latest - below) / 2);
  const double error = std::ceil(std::max(latest - middle, middle - below)) + 1;
  return FittedTime{newest.not_before_ns + distance + static_cast<int64_t>(middle),
                    static_cast<int64_t>(error)};
}

std::optional<uint64_t> GlobaltimerFit::stamp_at(int64_t time_ns) const {
  if (brackets_.empty()) return std::nullopt;
  const ClockBracket& newest = brackets_.back();
  return newest.first + static_cast<uint64_t>(time_ns - newest.not_before_ns);
}

}  // namespace gpufl::backend
