// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/cupti_library.hpp"

#include <cstdlib>

namespace gpufl::backend {
namespace {

base::Result<base::DynamicLibrary> find_held() {
  return base::DynamicLibrary::find_loaded({"libcupti.so.13", "libcupti.so.12"});
}

std::string chosen_library() {
  const char* chosen = std::getenv("GPUFL_CUPTI_LIBRARY");
  return chosen != nullptr ? chosen : "";
}

}  // namespace

bool holds_cupti() { return static_cast<bool>(find_held()); }

base::Result<base::DynamicLibrary> open_cupti(const CudaSearch& search) {
  if (auto held = find_held()) return held;
  const std::string chosen = chosen_library();
  if (!chosen.empty()) return base::DynamicLibrary::open({chosen});
  std::vector<std::string> names;
  for (const auto& file : search.libraries("cupti")) names.push_back(file.string());
  names.insert(names.end(), {"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
  auto opened = base::DynamicLibrary::open(names);
  if (opened || opened.status().code() != base::Code::NotFound) return opened;
  return base::Status(base::Code::NotFound,
                      "not found as libcupti.so.13, libcupti.so.12 or libcupti.so");
}

base::Status can_call_cupti(const base::DynamicLibrary& cupti) {
  if (cupti.name() == chosen_library()) return base::Status::ok();
  const auto driver = base::DynamicLibrary::open({"libcuda.so.1"});
  return driver ? base::Status::ok() : driver.status();
}

std::string cupti_version_text(uint32_t version) {
  if (version < 100'000) return "API version " + std::to_string(version);
  return std::to_string(version / 10'000) + "." + std::to_string(version % 10'000 / 100);
}

}  // namespace gpufl::backend
