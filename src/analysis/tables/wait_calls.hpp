// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "analysis/tables/tables.hpp"
#include "format/work_words.hpp"

// The kinds of wait that the log's `wait_kind` numbers, of rows in memory.
namespace gpufl::analysis {

using format::wait_call_name;
using format::WaitKind;

// Whether the call blocks the host.
inline bool holds_host(const Waits& waits, size_t row) {
  return waits.wait_kind.empty() || format::holds_host(waits.wait_kind[row]);
}

}  // namespace gpufl::analysis
