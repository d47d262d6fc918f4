// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_counters.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

// Numbers that come in any order, many of them again and again.
class NumberSet {
 public:
  void add(uint32_t number) {
    numbers_.push_back(number);
    if (numbers_.size() < tidy_at_) return;
    tidy();
    tidy_at_ = std::max(tidy_at_, 2 * numbers_.size());
  }
  std::vector<uint32_t> take() {
    tidy();
    return std::move(numbers_);
  }

 private:
  void tidy() {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  std::vector<uint32_t> numbers_;
  size_t tidy_at_ = 256;
};

}  // namespace

const Unknown& unsampled_growth() {
  static const Unknown kUnknown{
      "they were sampled too rarely to separate growth inside the scopes from growth outside",
      "count in longer scopes, or compute the rate from the program's own counts"};
  return kUnknown;
}

CounterCurves::CounterCurves(const Tables& tables) : tables_(tables) {
  const Samples& samples = tables.counters;
  std::unordered_map<uint32_t, size_t> places;
  for (size_t row = 0; row < samples.rows(); ++row) {
    const auto [place, is_new] = places.try_emplace(samples.metric[row], curves_.size());
    if (is_new) curves_.emplace_back().name = samples.metric[row];
    curves_[place->second].steps.push_back({samples.time[row], samples.value[row]});
  }
  std::sort(curves_.begin(), curves_.end(), [&](const Curve& a, const Curve& b) {
    return std::pair(std::string_view(tables.name(a.name)), a.name) <
           std::pair(std::string_view(tables.name(b.name)), b.name);
  });
  for (Curve& curve : curves_) curve.see_growth();
  find_alike();
}

void CounterCurves::find_alike() {
  for (auto i = static_cast<uint32_t>(curves_.size()); i-- > 0;) {
    Curve& curve = curves_[i];
    curve.alike_until = i + 1;
    if (i + 1 == curves_.size() || !curve.is_plain) continue;
    const Curve& after = curves_[i + 1];
    const bool is_alike = after.is_plain && after.growing.start == curve.growing.start &&
                          after.growing.end == curve.growing.end;
    if (is_alike) curve.alike_until = after.alike_until;
  }
}

void CounterCurves::Curve::see_growth() {
  bool has_grown = false;
  for (size_t i = 1; i < steps.size(); ++i) {
    const Step &before = steps[i - 1], &after = steps[i];
    if (after.value == before.value) continue;
    // One that stands still for a while, or goes down, is looked at in every span.
    is_plain &= after.value > before.value && (!has_grown || growing.end == before.time_ns);
    if (!has_grown) growing.start = before.time_ns;
    growing.end = after.time_ns;
    has_grown = true;
  }
}

bool CounterCurves::Curve::may_grow_in(const Intervals& spans) const {
  if (growing.end <= growing.start) return false;
  const auto first = std::partition_point(
      spans.begin(), spans.end(), [&](const Interval& span) { return span.end <= growing.start; });
  return first != spans.end() && first->start < growing.end;
}

CounterCurves::Bounds CounterCurves::at(const Curve& curve, int64_t time_ns) {
  const std::vector<Step>& steps = curve.steps;
  const auto after = std::upper_bound(steps.begin(), steps.end(), time_ns,
                                      [](int64_t t, const Step& step) { return t < step.time_ns; });
  // The first sample has what the counter was at the beginning, the last what it was at the end.
  if (after == steps.begin()) return {steps.front().value, steps.front().value};
  const Step& before = *(after - 1);
  const bool is_exact = after == steps.end() || before.time_ns == time_ns;
  return {before.value, is_exact ? before.value : after->value};
}

void CounterCurves::add(const Curve& curve, Interval span, Bounds& increase) {
  const Bounds first = at(curve, span.start), last = at(curve, span.end);
  const int64_t least = std::max<int64_t>(0, saturating_subtract(last.least, first.most));
  increase.least = saturating_add(increase.least, least);
  increase.most = saturating_add(increase.most, saturating_subtract(last.most, first.least));
}

CounterCurves::Bounds CounterCurves::increase_in(const Curve& curve, const Intervals& spans) {
  Bounds increase{0, 0};
  if (curve.steps.size() >= spans.size()) {
    for (const Interval& span : spans) add(curve, span, increase);
    return increase;
  }
  // Of the spans between two samples each may have all that grew from one to the other.
  auto next = spans.begin();
  for (size_t i = 0; i < curve.steps.size(); ++i) {
    const int64_t time_ns = curve.steps[i].time_ns;
    const auto reaching = std::partition_point(
        next, spans.end(), [&](const Interval& span) { return span.end < time_ns; });
    if (i > 0) {
      const int64_t grown = saturating_subtract(curve.steps[i].value, curve.steps[i - 1].value);
      increase.least = saturating_add(
          increase.least, saturating_multiply(std::max<int64_t>(0, saturating_subtract(0, grown)),
                                              reaching - next));
      increase.most = saturating_add(increase.most, saturating_multiply(grown, reaching - next));
    }
    next = reaching;
    if (next == spans.end()) break;
    if (next->start <= time_ns) add(curve, *next++, increase);
  }
  return increase;
}

std::vector<std::vector<uint32_t>> CounterCurves::sampled_in(
    std::span<const Intervals* const> sets) const {
  struct Open {
    Interval span;
    size_t set;
  };
  std::vector<Open> to_open;
  for (size_t set = 0; set < sets.size() && !curves_.empty(); ++set) {
    for (const Interval& span : *sets[set]) to_open.push_back({span, set});
  }
  std::sort(to_open.begin(), to_open.end(),
            [](const Open& a, const Open& b) { return a.span.start < b.span.start; });
  std::unordered_map<uint32_t, uint32_t> places;
  for (uint32_t i = 0; i < curves_.size(); ++i) places[curves_[i].name] = i;

  const Samples& samples = tables_.counters;
  std::vector<NumberSet> found(sets.size());
  std::vector<Open> open;
  auto next = to_open.begin();
  int64_t last_ns = INT64_MIN;
  for (size_t row = 0; row < samples.rows(); ++row) {
    const int64_t time_ns = samples.time[row];
    for (; next != to_open.end() && next->span.start <= time_ns; ++next) open.push_back(*next);
    if (time_ns != last_ns) {
      std::erase_if(open, [&](const Open& one) { return one.span.end < time_ns; });
      last_ns = time_ns;
    }
    for (const Open& one : open) found[one.set].add(places.at(samples.metric[row]));
  }
  std::vector<std::vector<uint32_t>> sampled;
  for (NumberSet& numbers : found) sampled.push_back(numbers.take());
  return sampled;
}

ScopeCounters CounterCurves::increases(const Intervals& spans, const std::vector<uint32_t>& sampled,
                                       size_t most_unknown) const {
  ScopeCounters out;
  const auto length_ns = static_cast<double>(total_length(spans));
  const auto add_unknown = [&](uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end && out.unknown + (i - first) < most_unknown; ++i) {
      out.list.push_back({curves_[i].name, std::nullopt});
    }
    out.unknown += end - first;
  };
  auto next = sampled.begin();
  for (uint32_t i = 0, end = 0; i < curves_.size(); i = end) {
    const Curve& curve = curves_[i];
    const bool is_sampled = next != sampled.end() && *next == i;
    if (is_sampled) ++next;
    end = i + 1;
    if (curve.is_plain && !is_sampled) {
      end = next == sampled.end() ? curve.alike_until : std::min(curve.alike_until, *next);
      if (curve.may_grow_in(spans)) add_unknown(i, end);
      continue;
    }
    const Bounds increase = increase_in(curve, spans);
    if (increase.most <= 0) continue;
    const double least = static_cast<double>(increase.least);
    const double most = static_cast<double>(increase.most);
    if (most - least > kMaxDoubt * most) {
      add_unknown(i, end);
      continue;
    }
    const int64_t middle = increase.least + (increase.most - increase.least) / 2;
    out.list.push_back(
        {curve.name, ScopeCounter::Growth{middle, static_cast<double>(middle) * 1e9 / length_ns}});
  }
  return out;
}

}  // namespace gpufl::analysis
