// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// Secrets from the system's random numbers. Any thread.
namespace gpufl::base {

// Two hexadecimal digits for each byte, of which there are at most 256.
std::string random_hex(size_t bytes);

}  // namespace gpufl::base
