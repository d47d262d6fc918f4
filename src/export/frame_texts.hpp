// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "symbols/code_stack.hpp"

// One frame of a stack for tools that draw flame graphs. Any thread.
namespace gpufl::exporting {

// What stands for a stack that was not recorded.
inline constexpr const char* kNoStack = "(no stack recorded)";

// "libfoo.so+0x1234"
std::string with_offset(const std::string& name, uint64_t offset);
// "train_step", "libfoo.so+0x1234".
std::string frame_name(const symbols::CodeFrame& frame);

}  // namespace gpufl::exporting
