// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Passwords as they are kept: scrypt, with a salt of its own each. Both calls take some tens of
// milliseconds and 32 MiB, so callers bound how many run at a time. Any thread.
namespace gpufl::store {

inline constexpr size_t kShortestPassword = 12;  // bytes
inline constexpr size_t kLongestPassword = 1024;

std::string hash_password(std::string_view password);
// False also where `hash` is none.
bool is_password(std::string_view password, std::string_view hash);

}  // namespace gpufl::store
