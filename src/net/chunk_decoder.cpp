// SPDX-License-Identifier: Apache-2.0
#include "net/chunk_decoder.hpp"

#include <algorithm>
#include <charconv>

namespace gpufl::net {

size_t ChunkDecoder::feed(std::string_view bytes, std::string& body) {
  const size_t given = bytes.size();
  std::string_view line;
  while (state_ == State::More) {
    if (part_ == Part::Data) {
      if (bytes.empty()) break;
      const auto taken = static_cast<size_t>(std::min<uint64_t>(chunk_left_, bytes.size()));
      body += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      chunk_left_ -= taken;
      if (chunk_left_ == 0) part_ = Part::DataEnd;
      continue;
    }
    if (!take_line(bytes, line)) break;
    if (part_ == Part::Size) {
      begin_chunk(line);
    } else if (part_ == Part::DataEnd) {
      if (!line.empty()) state_ = State::Malformed;
      part_ = Part::Size;
    } else {
      trailer_bytes_ += line.size();
      if (trailer_bytes_ > max_line_bytes_) state_ = State::Malformed;
      if (line.empty()) state_ = State::Done;
    }
  }
  return given - bytes.size();
}

bool ChunkDecoder::take_line(std::string_view& bytes, std::string_view& line) {
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() > max_line_bytes_) state_ = State::Malformed;
    return false;
  }
  // A line feed alone, or a carriage return elsewhere, ends a line for some and not for others.
  if (end == 0 || bytes.find('\r') != end - 1 || end > max_line_bytes_) {
    state_ = State::Malformed;
    return false;
  }
  line = bytes.substr(0, end - 1);
  bytes.remove_prefix(end + 1);
  return true;
}

void ChunkDecoder::begin_chunk(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), chunk_left_, 16);
  if (error == std::errc::result_out_of_range) {
    state_ = State::TooLong;
  } else if (error != std::errc{} || end != digits.data() + digits.size()) {
    state_ = State::Malformed;
  } else if (chunk_left_ > body_left_) {
    state_ = State::TooLong;
  } else {
    body_left_ -= chunk_left_;
    part_ = chunk_left_ == 0 ? Part::Trailer : Part::Data;
  }
}

}  // namespace gpufl::net
