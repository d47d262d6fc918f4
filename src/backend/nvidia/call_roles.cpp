// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/call_roles.hpp"

namespace gpufl::backend {
namespace {

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

template <size_t N>
bool contains_any(std::string_view name, const std::string_view (&parts)[N]) {
  for (const std::string_view part : parts) {
    if (contains(name, part)) return true;
  }
  return false;
}

WatchedCall launch(std::string_view name) {
  if (contains(name, "HostFunc")) return {};
  if (contains(name, "MultiDevice")) return {CallRole::MultiLaunch};
  WatchedCall call{CallRole::Launch, LaunchShape::Unknown, name.ends_with("_ptsz")};
  if (name.starts_with("cuLaunchKernelEx")) {
    call.shape = LaunchShape::KernelEx;
  } else if (name.starts_with("cuLaunchKernel")) {
    call.shape = LaunchShape::Kernel;
  } else if (name.starts_with("cuLaunchCooperativeKernel")) {
    call.shape = LaunchShape::Cooperative;
  }
  return call;
}

// What both APIs name alike, but for the prefix.
CallRole common_role(std::string_view name) {
  if (contains(name, "StreamBeginCapture")) return CallRole::CaptureBegin;
  if (contains(name, "StreamEndCapture")) return CallRole::CaptureEnd;
  if (contains(name, "ProfilerStart")) return CallRole::ProfilerStart;
  if (contains(name, "ProfilerStop")) return CallRole::ProfilerStop;
  if (contains(name, "Synchronize")) return CallRole::Wait;
  return CallRole::None;
}

bool is_copy(std::string_view name) {
  return name.starts_with("cuMemcpy") || name.starts_with("cudaMemcpy") ||
         name.starts_with("cu64Memcpy");
}

}  // namespace

WatchedCall watched_driver_call(std::string_view name) {
  if (name.starts_with("cuLaunch")) return launch(name);
  if (name.starts_with("cuGraphLaunch")) {
    return {CallRole::GraphLaunch, LaunchShape::Graph, name.ends_with("_ptsz")};
  }
  if (name.starts_with("cuGraphInstantiate")) return {CallRole::GraphInstantiate};
  if (name == "cuGraphNodeSetEnabled") return {CallRole::GraphChange};
  if (const CallRole role = common_role(name); role != CallRole::None) return {role};
  if (is_copy(name)) return {contains(name, "Async") ? CallRole::Begin : CallRole::Wait};
  constexpr std::string_view kBegins[] = {"cuMemset",     "cu64Memset",     "cuMemAlloc",
                                          "cu64MemAlloc", "cuMemFree",      "cu64MemFree",
                                          "MemHostAlloc", "MemHostRegister"};
  if (!name.starts_with("cuGraph") && contains_any(name, kBegins)) return {CallRole::Begin};
  // Frameworks ask it several times for each launch.
  if (name == "cuDevicePrimaryCtxGetState") return {};
  constexpr std::string_view kSlow[] = {
      "cuInit", "cuModuleLoad", "cuModuleUnload", "cuLibraryLoad",      "cuLibraryUnload",
      "cuLink", "cuCtxCreate",  "cuCtxDestroy",   "cuDevicePrimaryCtx", "cuGraphExecUpdate"};
  return {contains_any(name, kSlow) ? CallRole::Slow : CallRole::None};
}

WatchedCall watched_runtime_call(std::string_view name) {
  if (const CallRole role = common_role(name); role != CallRole::None) return {role};
  if (is_copy(name) && !contains(name, "Async")) return {CallRole::Wait};
  return {};
}

void WatchedCalls::look_up(const CuptiApi& api) {
  const auto name_of = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) -> std::string_view {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS) return "";
    return name != nullptr ? name : "";
  };
  for (CUpti_CallbackId id = 1; id < kMaxFunctions; ++id) {
    driver_[id] = watched_driver_call(name_of(CUPTI_CB_DOMAIN_DRIVER_API, id));
    runtime_[id] = watched_runtime_call(name_of(CUPTI_CB_DOMAIN_RUNTIME_API, id));
  }
}

}  // namespace gpufl::backend
