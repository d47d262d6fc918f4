// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "format/columns.hpp"
#include "format/words.hpp"

// What numbers of waits and copies are called where people read them. Any thread.
namespace gpufl::format {

// Whether the call blocks the host.
constexpr bool holds_host(int64_t wait_kind) {
  return wait_kind != static_cast<int64_t>(WaitKind::StreamWaitEvent);
}

// What the call is called where no symbol tells the function.
constexpr std::string_view wait_call_name(int64_t wait_kind) {
  const std::string_view word = word_of(kWaitKindWords, wait_kind);
  return word.empty() ? "wait" : word;
}

constexpr std::string_view copy_direction_name(int64_t route) {
  const std::string_view word = word_of(kCopyDirectionWords, route);
  return word.empty() ? "unknown direction" : word;
}

}  // namespace gpufl::format
