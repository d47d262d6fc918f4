// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/sample_windows.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/figures/phases.hpp"
#include "analysis/math/saturating.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis {

SampleWindows::SampleWindows(const SessionData& session) {
  namespace column = format::coverage_column;
  const auto found = session.tables.others.find(format::Kind::Coverage);
  if (found == session.tables.others.end()) return;
  const format::Batch& rows = found->second;
  constexpr size_t kDeep = 1;  // until it has its number
  for (size_t row = 0; row < rows.rows(); ++row) {
    const bool is_window =
        rows.at(column::kShape, row) == static_cast<int64_t>(format::CoverageShape::Window);
    if (!is_window) continue;
    const int64_t start_ns = rows.at(column::kStart, row);
    const auto why = static_cast<format::CoverageReason>(rows.at(column::kWhy, row));
    const bool is_deep =
        why == format::CoverageReason::DeepScope || why == format::CoverageReason::DeepWindow;
    by_device_[rows.at(column::kDevice, row, -1)].push_back(
        {{start_ns, saturating_add(start_ns, rows.at(column::kDuration, row))},
         is_deep ? kDeep : 0});
  }
  const Intervals phases = engine_phases(session, "PcSampling");
  const auto phase_of = [&](int64_t time_ns) {
    return std::upper_bound(phases.begin(), phases.end(), time_ns,
                            [](int64_t time, const Interval& one) { return time < one.start; });
  };
  for (auto& [device, windows] : by_device_) {
    std::sort(windows.begin(), windows.end(), [](const auto& a, const auto& b) {
      return std::tie(a.span.start, a.span.end) < std::tie(b.span.start, b.span.end);
    });
    const SampleWindow* before = nullptr;
    for (SampleWindow& window : windows) {
      if (window.stretch != 0) {
        const bool goes_on = before != nullptr && before->stretch != 0 &&
                             phase_of(before->span.start) == phase_of(window.span.start);
        if (!goes_on) stretches_.push_back(window.span);
        stretches_.back().end = std::max(stretches_.back().end, window.span.end);
        window.stretch = stretches_.size() - 1;
      }
      before = &window;
    }
  }
}

const std::vector<SampleWindow>& SampleWindows::of_device(int64_t device) const {
  static const std::vector<SampleWindow> kNone;
  for (const int64_t number : {device, int64_t{-1}}) {
    if (const auto found = by_device_.find(number); found != by_device_.end()) return found->second;
  }
  return kNone;
}

const SampleWindow* SampleWindows::find(const SampleRow& row) const {
  const std::vector<SampleWindow>& windows = of_device(row.device);
  const auto next = std::lower_bound(
      windows.begin(), windows.end(), row.time,
      [](const SampleWindow& window, int64_t time_ns) { return window.span.start < time_ns; });
  return next == windows.begin() ? nullptr : &*(next - 1);
}

int64_t SampleWindows::start_of(const SampleRow& row) const {
  const SampleWindow* const window = find(row);
  return window == nullptr ? row.time : window->span.start;
}

size_t SampleWindows::stretch_of(const SampleRow& row) const {
  const SampleWindow* const window = find(row);
  return window == nullptr ? 0 : window->stretch;
}

}  // namespace gpufl::analysis
