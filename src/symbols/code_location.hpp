// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpufl::symbols {

// One function of a resolved frame: a machine address lies in several where functions were inlined.
struct CodeLocation {
  std::string function;  // demangled; empty: unknown
  std::string file;      // empty: unknown
  int64_t line = 0;      // 0: unknown
  bool inlined = false;  // into the one behind it
  bool operator==(const CodeLocation&) const = default;
};

}  // namespace gpufl::symbols
