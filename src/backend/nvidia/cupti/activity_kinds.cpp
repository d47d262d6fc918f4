// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/activity_kinds.hpp"

#include <algorithm>

#include "backend/nvidia/cupti/api_functions.hpp"
#include "backend/nvidia/cupti/call_roles.hpp"

namespace gpufl::backend {
namespace {

constexpr CUpti_ActivityKind kNeeded[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

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
     [](const TraceOptions& options) { return options.synchronization && options.call_records; }},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "enable_memory_tracking",
     [](const TraceOptions& options) { return options.memory; }},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "enable_external_correlation",
     [](const TraceOptions& options) {
       return options.external_correlation && options.call_records;
     }},
};
constexpr CUpti_ActivityKind kUncommon[] = {CUPTI_ACTIVITY_KIND_MEMCPY2,
                                            CUPTI_ACTIVITY_KIND_MEMORY2};

// Where CUPTI lets single functions be left out, those that `is_wanted` does not want.
template <typename Switch, typename IsWanted>
void leave_out(const CuptiApi& api, CUpti_CallbackDomain domain, Switch switch_function,
               IsWanted is_wanted) {
  if (switch_function == nullptr) return;
  for (CUpti_CallbackId id = 1; id < WatchedCalls::kMaxFunctions; ++id) {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (!is_wanted(name)) switch_function(id, 0);
  }
}

}  // namespace

Availability ActivityKinds::enable(const CuptiApi& api, CUpti_ActivityKind kind) {
  const CUptiResult code = api.cuptiActivityEnable(kind);
  if (code != CUPTI_SUCCESS) return cupti_failure(api, code, "cuptiActivityEnable(kind)");
  enabled_.push_back(kind);
  return {true, "", "", ""};
}

Availability ActivityKinds::enable(const CuptiApi& api, const TraceOptions& options,
                                   std::vector<Limitation>& left_out) {
  for (const CUpti_ActivityKind kind : kNeeded) {
    if (Availability enabled = enable(api, kind); !enabled.available) return enabled;
  }
  for (const OptionalKind& one : kOptional) {
    if (!one.is_wanted(options)) continue;
    const Availability enabled = enable(api, one.kind);
    if (!enabled.available) left_out.push_back({one.feature, enabled});
  }
  if (options.queue_times) {
    const CUptiResult code = api.cuptiActivityEnableLatencyTimestamps(1);
    has_latency_times_ = code == CUPTI_SUCCESS;
    if (!has_latency_times_) {
      left_out.push_back(
          {"queue_times", cupti_failure(api, code, "cuptiActivityEnableLatencyTimestamps(1)")});
    }
  }
  if (options.call_records) return enable_calls(api);
  return {true, "", "", ""};
}

// A program that uses the runtime has its calls in the runtime's records; of the driver those count
// that serve programs which call it themselves.
Availability ActivityKinds::enable_calls(const CuptiApi& api) {
  if (Availability enabled = enable(api, CUPTI_ACTIVITY_KIND_RUNTIME); !enabled.available) {
    return enabled;
  }
  leave_out(api, CUPTI_CB_DOMAIN_RUNTIME_API, api.cuptiActivityEnableRuntimeApi,
            [](const char* name) { return !is_question(name); });
  if (Availability enabled = enable(api, CUPTI_ACTIVITY_KIND_DRIVER); !enabled.available) {
    return enabled;
  }
  leave_out(api, CUPTI_CB_DOMAIN_DRIVER_API, api.cuptiActivityEnableDriverApi,
            [](const char* name) { return api_role(name) != ApiRole::Other; });
  return {true, "", "", ""};
}

void ActivityKinds::disable(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : enabled_) api.cuptiActivityDisable(kind);
  enabled_.clear();
  if (has_latency_times_) api.cuptiActivityEnableLatencyTimestamps(0);
  has_latency_times_ = false;
}

void ActivityKinds::disable_uncommon(const CuptiApi& api) {
  for (const CUpti_ActivityKind kind : kUncommon) {
    if (std::erase(enabled_, kind) != 0) api.cuptiActivityDisable(kind);
  }
  enabled_.clear();
}

}  // namespace gpufl::backend
