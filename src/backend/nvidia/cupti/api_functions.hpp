// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// What the functions of CUDA's two APIs are called and what they are to a trace. The collector's
// thread only, but for api_role(), which any thread may ask.
namespace gpufl::backend {

enum class ApiRole : uint8_t {
  Unknown,   // not looked up yet
  Other,     // of interest only when it failed
  Memory,    // allocates or releases
  Activity,  // launches, copies, fills or waits: its rows carry the call
};
ApiRole api_role(std::string_view function_name);
// A call that only asks: PyTorch makes eight of them a launch. What it answers is no failure.
bool is_question(std::string_view function_name);

// As CUPTI numbers the sorts of waiting; 0: the function is no wait.
uint32_t wait_type(std::string_view function_name);

// Names and roles of API functions, asked of CUPTI once each.
class ApiFunctions {
 public:
  explicit ApiFunctions(const CuptiApi& api) : api_(api) {}
  ApiRole role(bool is_driver, uint32_t function) { return entry(is_driver, function).role; }
  uint32_t wait(bool is_driver, uint32_t function) { return entry(is_driver, function).wait; }
  std::string name(bool is_driver, uint32_t function) const;  // "cudaLaunchKernel"
  int64_t name_id(bool is_driver, uint32_t function, RowSink& sink);

 private:
  struct Entry {
    ApiRole role = ApiRole::Unknown;
    uint32_t wait = 0;
    int64_t name_id = 0;
  };
  static constexpr uint32_t kMaxFunction = 4096;  // 13.1 has some 800
  Entry& entry(bool is_driver, uint32_t function);
  const CuptiApi& api_;
  std::vector<Entry> entries_[2];
  Entry beyond_{ApiRole::Other, 0, 0};
};

}  // namespace gpufl::backend
