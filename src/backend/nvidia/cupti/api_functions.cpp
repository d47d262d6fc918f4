// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/api_functions.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "backend/nvidia/cuda/cuda_errors.hpp"
#include "backend/tracing/note_rings.hpp"

namespace gpufl::backend {
namespace {

// A text of CUPTI's. The program may unload the kernel's module meanwhile, and the text with it:
// read by the system, what is gone is no crash. Empty: gone, or not what a name looks like.
std::string text_at(const char* symbol) {
  constexpr size_t kPage = 4096, kLongest = 4 * kPage;
  std::string text;
  while (text.size() < kLongest) {
    const char* const from = symbol + text.size();
    char part[kPage];
    const iovec to{part, kPage - reinterpret_cast<uintptr_t>(from) % kPage};
    const iovec there{const_cast<char*>(from), to.iov_len};
    const ssize_t got = process_vm_readv(getpid(), &to, 1, &there, 1, 0);
    if (got <= 0) return {};
    const std::string_view read(part, static_cast<size_t>(got));
    const size_t end = read.find('\0');
    text += read.substr(0, end);
    if (end != std::string_view::npos) break;
  }
  const bool is_name =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  return is_name && text.size() < kLongest ? text : std::string();
}

}  // namespace

ApiRole api_role(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("LaunchHostFunc") || has("Attribute") || has("Capture")) return ApiRole::Other;
  for (const char* part : {"Launch", "emcpy", "emset", "Synchronize", "WaitEvent", "WaitValue"}) {
    if (has(part)) return ApiRole::Activity;
  }
  for (const char* part : {"Malloc", "MemAlloc", "HostAlloc", "cudaFree", "cuMemFree", "MemCreate",
                           "MemRelease", "MemHostRegister", "cudaHostRegister"}) {
    if (has(part)) return ApiRole::Memory;
  }
  return ApiRole::Other;
}

bool is_question(std::string_view name) {
  constexpr std::string_view kQuestions[] = {
      "GetLastError",   "PeekAtLastError",   "GetError",         "cudaGetDevice_", "EventQuery",
      "StreamQuery",    "IsCapturing",       "GetCapture",       "Occupancy",      "GetAttribute",
      "StreamGetFlags", "StreamCaptureMode", "StreamGetPriority"};
  return std::any_of(std::begin(kQuestions), std::end(kQuestions), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

uint32_t wait_type(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("WaitEvent")) return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  if (!has("Synchronize")) return 0;
  if (has("Event")) return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  if (has("Stream")) return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
}

CallFunction CudaFunctions::describe(bool is_driver, uint32_t function) const {
  CallFunction described;
  described.name = name(is_driver, function);
  described.role = api_role(described.name);
  described.wait = wait_type(described.name);
  return described;
}

std::string CudaFunctions::error_name(bool is_driver, uint32_t result) const {
  return cuda_error_name(is_driver, result);
}

std::string CudaFunctions::kernel_of(uint32_t correlation) const {
  const char* symbol = nullptr;
  NoteRings::for_each([&](const NoteRing& ring) {
    if (symbol == nullptr) symbol = ring.symbols.find(correlation);
  });
  return symbol != nullptr ? text_at(symbol) : std::string();
}

// "cudaLaunchKernel": without the version that CUPTI writes behind it ("_v7000").
std::string CudaFunctions::name(bool is_driver, uint32_t function) const {
  const char* text = nullptr;
  const auto domain = is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  if (api_.cuptiGetCallbackName(domain, function, &text) != CUPTI_SUCCESS || text == nullptr) {
    return (is_driver ? "driver function " : "runtime function ") + std::to_string(function);
  }
  std::string name = text;
  if (is_driver) return name;
  const size_t version = name.rfind("_v");
  const bool is_version = version != std::string::npos && version + 2 < name.size() &&
                          name.find_first_not_of("0123456789", version + 2) == std::string::npos;
  return is_version ? name.substr(0, version) : name;
}

}  // namespace gpufl::backend
