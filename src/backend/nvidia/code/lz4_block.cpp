// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/lz4_block.hpp"

#include <algorithm>
#include <cstdint>

namespace gpufl::backend {
namespace {

constexpr size_t kLongLength = 15;  // of four bits: bytes follow, up to one that is not 255
constexpr size_t kMinMatch = 4;
constexpr size_t kMaxRatio = 255;  // a byte of a length stands for no more

bool read_length(std::string_view block, size_t& at, size_t& length) {
  if (length != kLongLength) return true;
  uint8_t more = 0;
  do {
    if (at == block.size()) return false;
    more = static_cast<uint8_t>(block[at++]);
    length += more;
  } while (more == 255);
  return true;
}

}  // namespace

bool unpack_lz4(std::string_view block, size_t size, std::string& out) {
  out.clear();
  if (size / kMaxRatio > block.size()) return false;
  out.reserve(size);
  size_t at = 0;
  while (at < block.size()) {
    const auto token = static_cast<uint8_t>(block[at++]);
    size_t literals = token >> 4;
    if (!read_length(block, at, literals)) return false;
    if (literals > block.size() - at || literals > size - out.size()) return false;
    out.append(block, at, literals);
    at += literals;
    if (at == block.size()) break;  // the last sequence has no match
    if (block.size() - at < 2) return false;
    const size_t distance = static_cast<uint8_t>(block[at]) |
                            static_cast<size_t>(static_cast<uint8_t>(block[at + 1])) << 8;
    at += 2;
    size_t match = token & 15;
    if (!read_length(block, at, match)) return false;
    match += kMinMatch;
    if (distance == 0 || distance > out.size() || match > size - out.size()) return false;
    // It may reach into itself: then it repeats.
    size_t from = out.size() - distance;
    while (match > 0) {
      const size_t piece = std::min(match, out.size() - from);
      out.append(out, from, piece);
      from += piece;
      match -= piece;
    }
  }
  return out.size() == size;
}

}  // namespace gpufl::backend
