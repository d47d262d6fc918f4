// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// The line of an instruction, from the table that a Python code object carries. The interpreter's
// own PyCode_Addr2Line is not called: it may look at data of its tracing tools, which another
// thread may change while it holds the GIL and we do not. The table itself never changes. Any
// thread; no allocation. A damaged table gives 0.
namespace gpufl::symbols {

// 3.10: pairs of bytes. `offset` is in bytes. 0: the instruction belongs to no line.
int64_t line_in_pairs(std::span<const uint8_t> table, int64_t first_line, int64_t offset);

// 3.11 and later: the location table.
int64_t line_in_locations(std::span<const uint8_t> table, int64_t first_line, int64_t offset);

}  // namespace gpufl::symbols
