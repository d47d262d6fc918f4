// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.hpp"

// SHA-256 (FIPS 180-4), for files that were fetched from elsewhere: it finds forgery, which the
// hash of windows does not. Some 300 MB/s. One thread per object.
namespace gpufl::base {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // 64 hexadecimal digits, of all that was added. Call once.
  std::string finish();

 private:
  static constexpr size_t kBlock = 64;

  void add_block(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> rest_{};
  size_t rest_size_ = 0;
  uint64_t size_ = 0;
};

// Of a file's bytes.
Result<std::string> sha256_of(const std::filesystem::path& file);

}  // namespace gpufl::base
