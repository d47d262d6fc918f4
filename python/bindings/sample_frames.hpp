// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "export/session_texts.hpp"
#include "frame.hpp"

// DataFrames of what the deeper engines record. Called by session_frames.cpp only; any thread.
namespace gpufl::python {

// Samples of program counters by stall reason (PcSampling, Deep).
Frame pc_samples(const exporting::SessionTexts& texts);
// These, and metrics of instructions (SassMetrics, Deep), as one table.
Frame profile_samples(const exporting::SessionTexts& texts);
// Hardware counters by range (RangeProfiler).
Frame perf(const exporting::SessionTexts& texts);
// What warp groups did inside of profiled kernels.
Frame warp_spans(const exporting::SessionTexts& texts);

}  // namespace gpufl::python
