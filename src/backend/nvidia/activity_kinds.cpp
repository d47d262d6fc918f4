// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/activity_kinds.hpp"

#include <algorithm>

#include "backend/nvidia/api_functions.hpp"
#include "backend/nvidia/call_roles.hpp"

namespace gpufl::backend {
namespace {

constexpr CUpti_ActivityKind kNeeded[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                          CUPTI_ACTIVITY_KIND_RUNTIME};

struct OptionalKind {
  CUpti_ActivityKind kind;
  const char* feature;
  bool (*is_wanted)(const TraceOptions& options);
};
constexpr OptionalKind kOptional[] = {
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "peer_copies", [](const TraceOptions&) { return true; }},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "cupti_overhead", [](const TraceOptions&) { return true; }},
    {CUPTI_ACTIVITY_KIND_DEVICE, "mig_names", [](const TraceOptions&) { return true; }},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "mps_names", [](const TraceOptions&) { return true; }},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "enable_synchronization",
     [](const TraceOptions& options) { return options.synchronization; }},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "enable_memory_tracking",
     [](const TraceOptions& options) { return options.memory; }},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "enable_external_correlation",
     [](const TraceOptions& options) { return options.external_correlation; }},
};
constexpr CUpti_ActivityKind kUncommon[] = {CUPTI_ACTIVITY_KIND_MEMCPY2,
                                            CUPTI_ACTIVITY_KIND_MEMORY2};

// Calls of the driver whose records matter. A program that uses the runtime has them in its
// runtime's records; these serve programs that call the driver itself.
bool wants_driver_call(const CuptiApi& api, CUpti_CallbackId id) {
  const char* name = nullptr;
  const CUptiResult code = api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
  return code == CUPTI_SUCCESS && name != nullptr && api_role(name) != ApiRole::Other;
}

// Where CUPTI lets single functions be left out, those that nobody looks for: nine in ten records.
void leave_out_questions(const CuptiApi& api) {
  if (api.cuptiActivityEnableRuntimeApi == nullptr) return;
  for (CUpti_CallbackId id = 1; id < WatchedCalls::kMaxFunctions; ++id) {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) != CUPTI_SUCCESS) continue;
    if (name != nullptr && is_question(name)) api.cuptiActivityEnableRuntimeApi(id, 0);
  }
}

}  // namespace

Availability ActivityKinds::enable(const CuptiApi& api, const TraceOptions& options,
                                   std::vector<Limitation>& left_out) {
  for (const CUpti_ActivityKind kind : kNeeded) {
    const CUptiResult code = api.cuptiActivityEnable(kind);
    if (code != CUPTI_SUCCESS) return cupti_failure(api, code, "cuptiActivityEnable(kind)");
    enabled_.push_back(kind);
  }
  leave_out_questions(api);
  for (const OptionalKind& one : kOptional) {
    if (!one.is_wanted(options)) continue;
    const CUptiResult code = api.cuptiActivityEnable(one.kind);
    if (code == CUPTI_SUCCESS) {
      enabled_.push_back(one.kind);
    } else {
      left_out.push_back({one.feature, cupti_failure(api, code, "cuptiActivityEnable(kind)")});
    }
  }
  if (options.queue_times) {
    const CUptiResult code = api.cuptiActivityEnableLatencyTimestamps(1);
    has_latency_times_ = code == CUPTI_SUCCESS;
    if (!has_latency_times_) {
      left_out.push_back(
          {"queue_times", cupti_failure(api, code, "cuptiActivityEnableLatencyTimestamps(1)")});
    }
  }
  return enable_driver_calls(api);
}

Availability ActivityKinds::enable_driver_calls(const CuptiApi& api) {
  if (api.cuptiActivityEnableDriverApi == nullptr) {
    const CUptiResult code = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    if (code != CUPTI_SUCCESS) return cupti_failure(api, code, "cuptiActivityEnable(DRIVER)");
    enabled_.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
    return {true, "", "", ""};
  }
  for (CUpti_CallbackId id = 1; id < WatchedCalls::kMaxFunctions; ++id) {
    if (!wants_driver_call(api, id)) continue;
    const CUptiResult code = api.cuptiActivityEnableDriverApi(id, 1);
    if (code != CUPTI_SUCCESS) {
      return cupti_failure(api, code, "cuptiActivityEnableDriverApi(id, 1)");
    }
    driver_calls_.push_back(id);
  }
  return {true, "", "", ""};
}

void ActivityKinds::disable(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : enabled_) api.cuptiActivityDisable(kind);
  enabled_.clear();
  disable_driver_calls(api);
  if (has_latency_times_) api.cuptiActivityEnableLatencyTimestamps(0);
  has_latency_times_ = false;
}

void ActivityKinds::disable_driver_calls(const CuptiApi& api) {
  for (const CUpti_CallbackId id : driver_calls_) api.cuptiActivityEnableDriverApi(id, 0);
  driver_calls_.clear();
}

void ActivityKinds::disable_uncommon(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : kUncommon) {
    if (std::erase(enabled_, kind) != 0) api.cuptiActivityDisable(kind);
  }
  enabled_.clear();
  driver_calls_.clear();
}

}  // namespace gpufl::backend
