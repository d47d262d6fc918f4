// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/insights/insight.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/session_data.hpp"

// What every form of a session's report is made of. Views: the caller owns what they show.
namespace gpufl::report {

struct SessionReport {
  const analysis::SessionData& session;
  const analysis::Overview& overview;  // made by analyze() of that session
  std::span<const analysis::Insight> insights;
};

// By what kernels are ordered, those with the most first; by name from A to Z.
enum class KernelSort : uint8_t { Total, Count, Mean, Median, P99, Max, Name };
std::optional<KernelSort> kernel_sort_of(std::string_view word);  // "total"

struct TextOptions {
  size_t width = 100;    // columns; below 60 it is 60
  size_t top = 10;       // rows of a list or scopes of the tree; 0: all
  bool has_top = false;  // it was asked for: else a short report has as many as fit on a screen
  bool has_color = false;
  KernelSort sort = KernelSort::Total;
  bool is_full = false;    // everything, instead of what fits on a screen
  size_t lines_below = 0;  // of the screen, that the caller writes below a short report
};

}  // namespace gpufl::report
