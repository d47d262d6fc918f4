// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// Ranges of a framework whose adapter is in the shared object that the recorder is in: told to it
// without a vendor's annotation API in between. They are the same ranges: pushed and popped, in
// domains that such an API may name as well. On the program's threads; once warm no lock, no
// allocation, no system call.
namespace gpufl::backend::framework_ranges {

// The number of a domain; the same for the same name.
uint16_t domain(std::string_view name);
// Keeps a text for ever. Its number, for Range::kept_text; 0: none was kept.
uint32_t keep_text(std::string_view text);

inline constexpr int64_t kNoPayload = INT64_MIN;

struct Range {
  uint16_t domain;
  uint32_t category;
  uint32_t kept_text;  // 0: `text` is looked up
  const char* text;
  int64_t payload = kNoPayload;
};

// False: no session of this shared object records, and another's may: the vendor's API leads there.
bool push(const Range& range) noexcept;
// Of a range that push() took; others are popped where they were pushed. Nothing where its session
// is over.
void pop(uint16_t domain) noexcept;

}  // namespace gpufl::backend::framework_ranges
