// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_code.hpp"

#include <cupti.h>
#include <cupti_pcsampling.h>

#include <algorithm>
#include <string>

#include "tests/standin/cupti/standin_library.hpp"

namespace gpufl::standin {
namespace {

// Like the real one it looks at some of the bytes only: images of one size that differ elsewhere
// have the same.
uint64_t checksum(const char* image, size_t bytes) {
  constexpr size_t kSeen = 30;
  uint64_t sum = bytes;
  for (size_t i = 0; i < kSeen && bytes != 0; ++i) {
    sum = sum * 31 + static_cast<unsigned char>(image[i * bytes / kSeen]);
  }
  return sum & 0xFFFFFFFFu;
}

void load(const char* image, size_t bytes) {
  std::string loaded(image, bytes);
  CUpti_ModuleResourceData module{};
  module.moduleId = 1;
  module.cubinSize = loaded.size();
  module.pCubin = loaded.data();
  notify_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &module);
  std::fill(loaded.begin(), loaded.end(), '\0');
}

constexpr CuptiStandinCode kCode = {load, checksum};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT const CuptiStandinCode* cupti_standin_code() { return &kCode; }

STANDIN_EXPORT CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* parameters) {
  STANDIN_MAY_FAIL(cuptiGetCubinCrc);
  if (parameters->size == 0 || parameters->cubinSize == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  parameters->cubinCrc =
      checksum(static_cast<const char*>(parameters->cubin), parameters->cubinSize);
  return CUPTI_SUCCESS;
}
