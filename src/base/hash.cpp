// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gpufl::base {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr size_t kStripe = 32;

static_assert(std::endian::native == std::endian::little);

template <typename T>
uint64_t load(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint64_t round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

void consume(std::array<uint64_t, 4>& lanes, const unsigned char* at, size_t stripes) {
  auto [a, b, c, d] = lanes;
  for (; stripes != 0; --stripes, at += kStripe) {
    a = round(a, load<uint64_t>(at));
    b = round(b, load<uint64_t>(at + 8));
    c = round(c, load<uint64_t>(at + 16));
    d = round(d, load<uint64_t>(at + 24));
  }
  lanes = {a, b, c, d};
}

}  // namespace

Xxh64::Xxh64(uint64_t seed)
    : seed_(seed), lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

void Xxh64::update(const void* data, size_t size) {
  if (size == 0) return;
  const auto* at = static_cast<const unsigned char*>(data);
  total_ += size;
  if (tail_size_ != 0) {
    const size_t taken = std::min(size, kStripe - tail_size_);
    std::memcpy(tail_.data() + tail_size_, at, taken);
    tail_size_ += taken;
    at += taken;
    size -= taken;
    if (tail_size_ < kStripe) return;
    consume(lanes_, tail_.data(), 1);
    tail_size_ = 0;
  }
  consume(lanes_, at, size / kStripe);
  tail_size_ = size % kStripe;
  if (tail_size_ != 0) std::memcpy(tail_.data(), at + (size - tail_size_), tail_size_);
}

uint64_t Xxh64::digest() const {
  uint64_t hash = seed_ + kPrime5;
  if (total_ >= kStripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_) hash = merge(hash, lane);
  }
  hash += total_;

  const unsigned char* at = tail_.data();
  size_t left = tail_size_;
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ round(0, load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
    left -= 4;
  }
  for (; left != 0; ++at, --left) hash = std::rotl(hash ^ (*at * kPrime5), 11) * kPrime1;

  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

uint64_t xxh64(const void* data, size_t size, uint64_t seed) {
  Xxh64 hash(seed);
  hash.update(data, size);
  return hash.digest();
}

std::string xxh64_text(uint64_t hash) {
  std::string text = "xxh64:0000000000000000";
  for (size_t i = text.size(); hash != 0; hash >>= 4) text[--i] = "0123456789abcdef"[hash & 15];
  return text;
}

}  // namespace gpufl::base
