// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The bounds of the format (SPEC.md, "Limits"): writers stay within them, readers refuse what is
// beyond, so that no file can make a reader use memory out of proportion.
namespace gpufl::format {

inline constexpr size_t kMaxLineBytes = size_t{64} << 20;         // longer lines are skipped
inline constexpr size_t kMaxObjectLineBytes = size_t{4} << 20;    // lines that are no batch
inline constexpr size_t kMaxValueBytes = size_t{64} << 10;        // one dictionary value
inline constexpr size_t kMaxDictionaryEntries = size_t{1} << 20;  // each dictionary
inline constexpr size_t kMaxDictionaryBytes = size_t{64} << 20;
inline constexpr size_t kMaxModuleBytes = size_t{512} << 20;  // images of a session, together
inline constexpr uint64_t kFirstWindow = 1;

}  // namespace gpufl::format
