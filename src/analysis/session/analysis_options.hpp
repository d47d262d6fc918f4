// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/math/intervals.hpp"

// What analyze() looks at. Plain data.
namespace gpufl::analysis {

enum class Depth : uint8_t {
  Summary,  // totals, busy time and gaps of each device, kernels by name: what every session
            // affords
  Full,     // everything
};

struct AnalysisOptions {
  // How many entries lists of single things keep: longest gaps, kernels and waits of a scope.
  // Groups are always whole.
  size_t top = 10;
  std::optional<int64_t> device;  // only this one
  // Only work of scopes that this matches, and of scopes inside them. `*` and `?` as in file names;
  // it must match a scope's name, its `name / tag` or its whole path ("train > step / 3").
  std::string scope;
  // Only work that begins in it; busy time is cut at its ends.
  std::optional<Interval> window;
  int64_t minimum_gap_ns = 1'000;  // shorter pauses are not listed as gaps; totals have them
  size_t series_points = 240;      // to which series over time are thinned out
  Depth depth = Depth::Full;
};

}  // namespace gpufl::analysis
