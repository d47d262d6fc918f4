// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/tables/tables.hpp"
#include "format/words.hpp"

// The kinds of wait that the log's `wait_kind` numbers, and what each is called where no
// symbol tells the function.
namespace gpufl::analysis {

using format::WaitKind;

// Whether the call blocks the host.
inline bool holds_host(const Waits& waits, size_t row) {
  return waits.wait_kind.empty() ||
         waits.wait_kind[row] != static_cast<uint8_t>(WaitKind::StreamWaitEvent);
}

inline std::string_view wait_call_name(int64_t call) {
  const std::string_view word = format::word_of(format::kWaitKindWords, call);
  return word.empty() ? "wait" : word;
}

}  // namespace gpufl::analysis
