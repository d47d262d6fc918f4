// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace gpufl::base {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const unsigned char* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void Sha256::add_block(const unsigned char* block) {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i) words[i] = big_endian(block + 4 * i);
  for (size_t i = 16; i < words.size(); ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> result = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state_.size(); ++i) state_[i] += result[i];
}

void Sha256::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), kBlock - rest_size_);
    std::memcpy(rest_.data() + rest_size_, bytes.data(), count);
    bytes.remove_prefix(count);
    rest_size_ += count;
    if (rest_size_ == kBlock) {
      add_block(rest_.data());
      rest_size_ = 0;
    }
  }
}

std::string Sha256::finish() {
  const uint64_t bits = size_ * 8;
  constexpr size_t kLengthAt = kBlock - sizeof bits;
  add(std::string_view("\x80", 1));
  const std::string zeros(kBlock, '\0');
  add(std::string_view(zeros).substr(0, (kBlock + kLengthAt - rest_size_) % kBlock));
  std::string length;
  for (int shift = 56; shift >= 0; shift -= 8) length += static_cast<char>(bits >> shift & 0xff);
  add(length);
  std::string text;
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 0xf];
  }
  return text;
}

Result<std::string> sha256_of(const std::filesystem::path& file) {
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rbe"));
  if (stream == nullptr) return Status::from_errno(errno, file.string());
  Sha256 hash;
  std::vector<char> chunk(size_t{1} << 16);
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), stream.get())) {
    hash.add({chunk.data(), count});
  }
  if (std::ferror(stream.get()) != 0) return Status::from_errno(errno, file.string());
  return hash.finish();
}

}  // namespace gpufl::base
