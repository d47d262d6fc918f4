// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

// XXH64, the hash that names the bytes of sealed windows: fast, not cryptographic. Feed it in
// pieces of any size; the result depends on the bytes alone. One thread at a time.
namespace gpufl::base {

class Xxh64 {
 public:
  explicit Xxh64(uint64_t seed = 0);
  void update(const void* data, size_t size);
  uint64_t digest() const;  // of everything so far; more may follow

 private:
  uint64_t seed_;
  std::array<uint64_t, 4> lanes_;
  std::array<unsigned char, 32> tail_{};
  size_t tail_size_ = 0;
  uint64_t total_ = 0;
};

uint64_t xxh64(const void* data, size_t size, uint64_t seed = 0);

// "xxh64:" and 16 hex digits: the form in which the manifest holds a hash.
std::string xxh64_text(uint64_t hash);

}  // namespace gpufl::base
