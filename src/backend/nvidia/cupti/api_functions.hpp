// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/tracing/call_functions.hpp"

// What the functions of CUDA's two APIs are called and what they are to a trace, by name, so that
// functions which later versions add or renumber are known as well. Any thread.
namespace gpufl::backend {

ApiRole api_role(std::string_view function_name);
// A call that only asks: PyTorch makes eight of them a launch. What it answers is no failure.
bool is_question(std::string_view function_name);

// As CUPTI numbers the sorts of waiting; 0: the function is no wait.
uint32_t wait_type(std::string_view function_name);

// By CUPTI's numbers.
class CudaFunctions final : public FunctionSource {
 public:
  explicit CudaFunctions(const CuptiApi& api) : api_(api) {}
  CallFunction describe(bool is_driver, uint32_t function) const override;
  std::string error_name(bool is_driver, uint32_t result) const override;
  std::string kernel_of(uint32_t correlation) const override;

 private:
  std::string name(bool is_driver, uint32_t function) const;
  const CuptiApi& api_;
};

}  // namespace gpufl::backend
