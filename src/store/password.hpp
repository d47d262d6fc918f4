// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

// Passwords as they are kept: scrypt, with a salt of its own each. Both calls take some tens of
// milliseconds and 32 MiB, so callers bound how many run at a time. Unavailable: there is no memory
// for it now. Any thread.
namespace gpufl::store {

inline constexpr size_t kShortestPassword = 12;  // bytes
inline constexpr size_t kLongestPassword = 1024;

base::Result<std::string> hash_password(std::string_view password);
// False also where `hash` is none.
base::Result<bool> is_password(std::string_view password, std::string_view hash);

}  // namespace gpufl::store
