// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/engine_choice.hpp"

#include <string>

#include "backend/nvidia/cupti/pc_sampler.hpp"
#include "backend/nvidia/cupti/range_profiler.hpp"
#include "backend/nvidia/cupti/sass_counter.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {

std::string_view engine_name(const TraceOptions& options) {
  if (options.ranges) return format::kRangeEngine;
  return options.sass ? format::kSassEngine : format::kSamplingEngine;
}

Availability engine_support(const CuptiLibrary& cupti, const TraceOptions& options,
                            bool has_callbacks) {
  const CuptiApi& api = cupti.api();
  const auto too_old = [&](const char* lacks, const char* since) {
    return Availability{false, "cupti_too_old", cupti.description() + " has no " + lacks,
                        std::string("use the CUPTI of CUDA ") + since + " or newer"};
  };
  if (ContextEngine::does_any_hang()) {
    return {false, options.counts() ? "counting_hangs" : "sampling_hangs",
            "a CUPTI call hangs in this process", "choose the engine Trace for this program"};
  }
  if (options.ranges && !api.can_range()) return too_old("range profiler", "12.6");
  if (options.sass && !api.can_count()) return too_old("SASS metrics", "12.2");
  if (!options.counts() && !api.can_sample()) return too_old("PC sampling", "12.0");
  if (has_callbacks) return {true, "", "", ""};
  return {false, "launch_count_missing",
          "without CUPTI's callbacks, launches cannot be held back while windows open", ""};
}

std::shared_ptr<ContextWorker> make_worker(const EnginePlace& place, const TraceOptions& options) {
  if (options.ranges) return make_range_profiler(place, *options.ranges);
  if (options.sass) return make_sass_counter(place, *options.sass);
  return make_pc_sampler(place, *options.pc_sampling);
}

}  // namespace gpufl::backend
