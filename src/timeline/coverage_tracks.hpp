// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

// When engines were attached and sampled, as tracks of a timeline: what lies outside of the slices
// is not known. One thread.
namespace gpufl::timeline {

struct CoverageTrack {
  std::string engine;          // "Trace"
  std::vector<SliceRow> rows;  // windows lie in phases
};
// By engine. Empty where the log does not say.
std::vector<CoverageTrack> coverage_tracks(const SessionTexts& texts);

}  // namespace gpufl::timeline
