// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// Which records CUPTI makes for a session. One thread at a time.
namespace gpufl::backend {

class ActivityKinds {
 public:
  // Not available: a kind that no session can do without was refused. What else was refused is
  // appended to `left_out`, where the session wanted it.
  Availability enable(const CuptiApi& api, const TraceOptions& options,
                      std::vector<Limitation>& left_out);
  void disable(const CuptiApi& api);
  // Only what another tool that has CUPTI's records now does not ask for itself, as a rule: the
  // rest it will disable.
  void disable_uncommon(const CuptiApi& api);

 private:
  Availability enable(const CuptiApi& api, CUpti_ActivityKind kind);
  Availability enable_calls(const CuptiApi& api);

  std::vector<CUpti_ActivityKind> enabled_;
  bool has_latency_times_ = false;
};

}  // namespace gpufl::backend
