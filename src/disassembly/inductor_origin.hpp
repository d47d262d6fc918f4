// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/source_lines.hpp"

// What torch.compile says of a kernel that it wrote: Inductor's file of the kernel has no word of
// it, but the file that calls the kernel, in the same cache, has a comment. Reads a bounded part of
// the cache's folder. Any thread.
namespace gpufl::disassembly {

// A line of the program that was compiled.
struct OriginPlace {
  std::string file;
  int64_t line = 0;
  std::string code;  // its text; empty: not told
  bool operator==(const OriginPlace&) const = default;
};

struct CompiledOrigin {
  std::string file;       // that Inductor wrote
  std::string operators;  // "aten.mul, aten.sum"
  std::string nodes;      // "mul_1, inner": names in the traced program
  std::vector<OriginPlace> places;
  bool operator==(const CompiledOrigin&) const = default;
};

// The comments on kernels in the text of a file that calls them. `kernels`: files of those that are
// wanted.
std::vector<CompiledOrigin> origins_in(std::string_view text, const std::set<std::string>& kernels);

// The same from all files of the caches that the kernels' files lie in.
std::vector<CompiledOrigin> find_origins(const std::set<std::string>& kernels);

// Lines that the compiler quotes are text of the program as much as its files: takes those out that
// `sources` may not keep, and what goes beyond `max_bytes`.
void withhold_text(std::vector<CompiledOrigin>& origins, const symbols::SourceLines& sources,
                   uint64_t max_bytes);

}  // namespace gpufl::disassembly
