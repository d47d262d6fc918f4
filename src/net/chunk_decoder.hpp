// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The chunked transfer coding, decoded as it arrives. Strict: lines end in CR LF, sizes are hex
// digits alone. Extensions and the fields behind the last chunk are skipped. One thread. Not
// Beast's, which asserts that certain bytes arrive together.
namespace gpufl::net {

class ChunkDecoder {
 public:
  // `max_line_bytes`: of the line that begins a chunk, and of all that follows the last one.
  ChunkDecoder(size_t max_body_bytes, size_t max_line_bytes)
      : body_left_(max_body_bytes), max_line_bytes_(max_line_bytes) {}

  enum class State : unsigned char { More, Done, Malformed, TooLong };
  // `bytes` begins with what was not used so far. Appends to `body`, and returns how many were
  // used; none behind the end.
  size_t feed(std::string_view bytes, std::string& body);
  State state() const { return state_; }

 private:
  enum class Part : unsigned char { Size, Data, DataEnd, Trailer };

  // Takes a line with its end off `bytes`; false: it is not all there, or malformed.
  bool take_line(std::string_view& bytes, std::string_view& line);
  void begin_chunk(std::string_view line);

  uint64_t body_left_;
  const size_t max_line_bytes_;
  State state_ = State::More;
  Part part_ = Part::Size;
  uint64_t chunk_left_ = 0;
  size_t trailer_bytes_ = 0;
};

}  // namespace gpufl::net
