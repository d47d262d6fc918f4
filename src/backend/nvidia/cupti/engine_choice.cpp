// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/engine_choice.hpp"

#include "backend/nvidia/cupti/pc_sampler.hpp"
#include "backend/nvidia/cupti/pm_sampler.hpp"
#include "backend/nvidia/cupti/range_profiler.hpp"
#include "backend/nvidia/cupti/sass_counter.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

const CuptiPart& part_of(const TraceOptions& options) {
  if (options.ranges) return kRangeProfiler;
  if (options.sass) return kSassMetrics;
  return options.pm_sampling ? kPmSampling : kPcSampling;
}

}  // namespace

std::string_view engine_name(const TraceOptions& options) {
  if (options.ranges) return format::kRangeEngine;
  if (options.sass) return format::kSassEngine;
  return options.pm_sampling ? format::kPmEngine : format::kSamplingEngine;
}

Availability engine_support(const CuptiLibrary& cupti, const TraceOptions& options,
                            bool has_callbacks) {
  if (ContextEngine::does_any_hang()) {
    return {false, options.has_counters() ? "counting_hangs" : "sampling_hangs",
            "a CUPTI call hangs in this process", "choose the engine Trace for this program"};
  }
  if (Availability part = cupti.has(part_of(options)); !part.available) return part;
  if (has_callbacks) return {true, "", "", ""};
  return {false, "launch_count_missing",
          "without CUPTI's callbacks, launches cannot be held back while windows open", ""};
}

std::shared_ptr<ContextWorker> make_worker(const EnginePlace& place, const TraceOptions& options) {
  if (options.ranges) return make_range_profiler(place, *options.ranges);
  if (options.sass) return make_sass_counter(place, *options.sass);
  if (options.pm_sampling) {
    return make_pm_sampler(place, *options.pm_sampling, options.device_clock, options.gate);
  }
  return make_pc_sampler(place, *options.pc_sampling);
}

}  // namespace gpufl::backend
