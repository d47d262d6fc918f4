// SPDX-License-Identifier: Apache-2.0
#include "capture/step_cost.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpufl::capture {

namespace {

// Of at least one value.
template <typename T>
double median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

template <typename Container>
auto copy_of(const Container& values) {
  return std::vector(values.begin(), values.end());
}

void push_last(std::deque<int64_t>& values, int64_t value) {
  if (values.size() == StepCost::kMostSteps) values.pop_front();
  values.push_back(value);
}

}  // namespace

void StepCost::add(const Step& step) {
  const int64_t duration_ns = step.end_ns - step.begin_ns;
  if (duration_ns < kShortestStep_ns) return;
  if (names_.size() == kNames && !names_.contains(step.name)) return;
  Name& name = names_[step.name];
  name.total_ns += duration_ns;
  const bool may_be_inside = step.begin_ns >= begin_ns_ && (is_attached_ || step.end_ns <= end_ns_);
  if (may_be_inside) {
    if (name.inside.size() < kMostInside) name.inside.push_back(step);
  } else if (is_attached_) {
    const bool is_before = step.begin_ns >= pause_begin_ns_ && step.end_ns <= switch_begin_ns_;
    if (is_before) push_last(name.before, duration_ns);
  } else if (step.begin_ns >= switch_end_ns_) {
    if (name.after.size() < kMostSteps) name.after.push_back(duration_ns);
    push_last(name.outside, duration_ns);
  }
}

void StepCost::begin_phase(int64_t switch_begin_ns, int64_t begin_ns) {
  for (auto& [id, name] : names_) {
    if (const auto last = ratio(name)) {
      name.step_ns = static_cast<int64_t>(median_inside(name));
      if (name.ratios.size() == kMostPhases) name.ratios.pop_front();
      name.ratios.push_back(*last);
    }
    name.before = std::exchange(name.outside, {});
    name.inside.clear();
    name.after.clear();
  }
  pause_begin_ns_ = switch_end_ns_;
  switch_begin_ns_ = switch_begin_ns;
  begin_ns_ = begin_ns;
  is_attached_ = true;
}

void StepCost::end_phase(int64_t end_ns, int64_t switch_end_ns) {
  for (auto& [id, name] : names_) {
    std::erase_if(name.inside, [&](const Step& step) { return step.end_ns > end_ns; });
  }
  end_ns_ = end_ns;
  switch_end_ns_ = switch_end_ns;
  is_attached_ = false;
}

std::optional<double> StepCost::ratio(const Name& name) {
  if (name.inside.size() < kLeastSteps || name.before.size() < kLeastSteps) return std::nullopt;
  // Each side counts as much as the other, however many steps it has.
  double outside = median(copy_of(name.before));
  if (name.after.size() >= kLeastSteps) outside = (outside + median(copy_of(name.after))) / 2;
  return median_inside(name) / outside;
}

double StepCost::median_inside(const Name& name) {
  std::vector<int64_t> inside;
  for (const Step& step : name.inside) inside.push_back(step.end_ns - step.begin_ns);
  return median(std::move(inside));
}

std::optional<double> StepCost::median_ratio(const Name& name) {
  std::vector<double> ratios = copy_of(name.ratios);
  if (const auto last = ratio(name)) ratios.push_back(*last);
  if (ratios.size() < kLeastPhases) return std::nullopt;
  return median(std::move(ratios));
}

std::optional<Slowdown> StepCost::slowdown() const {
  std::optional<Slowdown> slowdown;
  int64_t longest_ns = -1;
  for (const auto& [id, name] : names_) {
    if (name.total_ns <= longest_ns) continue;
    const auto part = median_ratio(name);
    if (!part) continue;
    longest_ns = name.total_ns;
    const bool is_new = ratio(name).has_value();
    slowdown = {std::max(0.0, *part - 1),
                is_new ? static_cast<int64_t>(median_inside(name)) : name.step_ns};
  }
  return slowdown;
}

}  // namespace gpufl::capture
