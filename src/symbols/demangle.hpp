// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Names of functions and kernels as their authors wrote them. For readers of logs, never for the
// program's threads: a name costs microseconds, a long one a thread with a stack of its own. Any
// thread.
namespace gpufl::symbols {

// C++ and Rust names, whole; anything else as it is. A name whose text would be longer than
// kMaxDemangledBytes stays mangled: some short names are made to have no end.
std::string demangle(std::string_view name);

inline constexpr size_t kMaxDemangledBytes = size_t{1} << 20;

}  // namespace gpufl::symbols
