// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/frame.hpp"
#include "timeline/session_texts.hpp"

// DataFrames of what the deeper engines record. Called by session_frames.cpp only; any thread.
namespace gpufl::python {

// Samples of program counters by stall reason (PcSampling, Deep).
Frame pc_samples(const timeline::SessionTexts& texts);
// These, and metrics of instructions (SassMetrics, Deep), as one table.
Frame profile_samples(const timeline::SessionTexts& texts);
// Hardware counters by range (RangeProfiler).
Frame perf(const timeline::SessionTexts& texts);
// What warp groups did inside of profiled kernels.
Frame warp_spans(const timeline::SessionTexts& texts);

}  // namespace gpufl::python
