// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/call_roles.hpp"

#include "backend/nvidia/cupti/api_functions.hpp"

namespace gpufl::backend {
namespace {

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// They load what they are asked for, where modules are loaded lazily.
bool loads_code(std::string_view name) {
  if (contains(name, "Count") || contains(name, "Mode")) return false;
  return name.starts_with("cuModuleGet") || name.starts_with("cuLibraryGet") ||
         name == "cuKernelGetFunction";
}

bool is_per_thread(std::string_view name) { return contains(name, "_ptsz"); }

WatchedCall driver_launch(std::string_view name) {
  if (contains(name, "MultiDevice")) return {CallRole::MultiLaunch};
  WatchedCall call{CallRole::Launch, CallShape::Unknown, is_per_thread(name)};
  if (name.starts_with("cuLaunchKernelEx")) {
    call.shape = CallShape::KernelEx;
  } else if (name.starts_with("cuLaunchKernel")) {
    call.shape = CallShape::Kernel;
  } else if (name.starts_with("cuLaunchCooperativeKernel")) {
    call.shape = CallShape::Cooperative;
  }
  return call;
}

WatchedCall wait(std::string_view name) {
  if (contains(name, "WaitEvent")) {
    return {CallRole::StreamWait, CallShape::StreamAndEvent, is_per_thread(name)};
  }
  if (contains(name, "StreamSynchronize")) {
    return {CallRole::Wait, CallShape::Stream, is_per_thread(name), true};
  }
  return {CallRole::Wait,
          contains(name, "EventSynchronize") ? CallShape::Event : CallShape::Unknown, false, true};
}

// What both APIs name alike, but for the prefix.
WatchedCall common_call(std::string_view name) {
  if (contains(name, "StreamBeginCapture")) return {CallRole::CaptureBegin};
  if (contains(name, "StreamEndCapture")) return {CallRole::CaptureEnd};
  if (contains(name, "StreamDestroy")) return {CallRole::StreamDestroy};
  if (contains(name, "ProfilerStart")) return {CallRole::ProfilerStart};
  if (contains(name, "ProfilerStop")) return {CallRole::ProfilerStop};
  if (contains(name, "Synchronize") || contains(name, "WaitEvent")) return wait(name);
  // Nodes of graphs are described, not run.
  if (contains(name, "Graph")) return {CallRole::Other};
  switch (api_role(name)) {
    case ApiRole::Memory: return {CallRole::Begin};
    case ApiRole::Activity: {
      const bool waits = contains(name, "Memcpy") && !contains(name, "Async");
      return {waits ? CallRole::Wait : CallRole::Begin};
    }
    default: return {is_question(name) ? CallRole::None : CallRole::Other};
  }
}

// Not launches: one that takes long waits for the GPU, as a rule.
bool makes_graph(std::string_view name) {
  return contains(name, "GraphInstantiate") || contains(name, "GraphUpload") ||
         contains(name, "StreamEndCapture");
}

WatchedCall driver_call(std::string_view name) {
  if (name.starts_with("cuLaunchHostFunc")) return {CallRole::Other};
  if (name.starts_with("cuLaunch")) return driver_launch(name);
  if (name.starts_with("cuGraphLaunch")) {
    return {CallRole::GraphLaunch, CallShape::Graph, is_per_thread(name)};
  }
  if (name.starts_with("cuGraphInstantiate")) return {CallRole::GraphInstantiate};
  if (name == "cuGraphNodeSetEnabled") return {CallRole::GraphChange};
  // The runtime and frameworks ask and switch contexts several times for each launch.
  if (loads_code(name)) return {CallRole::Other};
  if (name.empty() || contains(name, "Get") || contains(name, "Current")) return {};
  return common_call(name);
}

WatchedCall runtime_call(std::string_view name) {
  // Those that return no error.
  if (name.empty() || name.starts_with("__") || contains(name, "CreateChannelDesc")) return {};
  if (name.starts_with("cudaLaunchHostFunc")) return {CallRole::Other};
  if (name.starts_with("cudaGraphLaunch") || contains(name, "MultiDevice")) {
    return {CallRole::RuntimeLaunch};
  }
  if (name.starts_with("cudaLaunch")) return {CallRole::RuntimeKernel};
  return common_call(name);
}

}  // namespace

WatchedCall watched_driver_call(std::string_view name) {
  WatchedCall call = driver_call(name);
  call.makes_graph = makes_graph(name);
  return call;
}

WatchedCall watched_runtime_call(std::string_view name) {
  WatchedCall call = runtime_call(name);
  call.makes_graph = makes_graph(name);
  return call;
}

void WatchedCalls::look_up(const CuptiApi& api) {
  const auto name_of = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) -> std::string_view {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS) return "";
    return name != nullptr ? name : "";
  };
  for (CUpti_CallbackId id = 1; id < kMaxFunctions; ++id) {
    driver_[id] = pack(watched_driver_call(name_of(CUPTI_CB_DOMAIN_DRIVER_API, id)));
    runtime_[id] = pack(watched_runtime_call(name_of(CUPTI_CB_DOMAIN_RUNTIME_API, id)));
  }
}

}  // namespace gpufl::backend
