// SPDX-License-Identifier: Apache-2.0
#include "base/secret.hpp"

#include <sys/random.h>

#include <cstdlib>

namespace gpufl::base {

std::string random_hex(size_t bytes) {
  std::string random(bytes, '\0');
  // Up to 256 bytes come whole. A program that has no random numbers cannot keep a secret.
  if (getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) std::abort();
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : random) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace gpufl::base
