// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backend/nvidia/cupti/context_worker.hpp"
#include "backend/nvidia/cupti/metric_groups.hpp"

// Hardware counters of one context: CUPTI's calls for a range of the program's own making, in the
// order that they need. Another pass of a group goes on with what the one before has counted.
namespace gpufl::backend {

class RangeContext final : public AttachedContext {
 public:
  // All of these outlive it.
  RangeContext(const CuptiApi& api, const CudaContexts& contexts_of, CUcontext context,
               uint32_t ordinal)
      : AttachedContext(context, ordinal), api_(api), contexts_of_(contexts_of) {}

  Availability enable() override;
  // A range that is open is closed and thrown away.
  Availability disable() override;
  const char* enable_call() const override { return "cuptiRangeProfilerEnable"; }
  const char* disable_call() const override { return "cuptiRangeProfilerDisable"; }

  // `is_first`: of the group's passes. The group outlives the range.
  Availability open(const std::string& name, const MetricGroup& group, bool is_first);
  // True: all passes of the group have been made, and image() can be evaluated.
  Availability close(bool& is_group_done);
  bool is_open() const { return is_open_; }
  const std::vector<uint8_t>& image() const { return image_; }
  // The program has destroyed the context, and with it what was open.
  void let_go() { is_open_ = false; }
  void wait_for_gpu() const { contexts_of_.synchronize(context()); }

 private:
  Availability enable_here();
  Availability disable_here();
  Availability configure(const MetricGroup& group);
  Availability open_here(const std::string& name, const MetricGroup& group, bool is_first);
  Availability close_here(bool& is_group_done);

  const CuptiApi& api_;
  const CudaContexts& contexts_of_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<uint8_t> image_;
  bool is_open_ = false;
};

}  // namespace gpufl::backend
