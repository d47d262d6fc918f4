// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

// A connection of a client: bytes one way and the other, in plain or by TLS, every wait with an
// end. One thread at a time; closes with the object.
namespace gpufl::net {

// How long something may take, and who may end it early.
struct Patience {
  std::chrono::steady_clock::time_point until;  // all of it
  std::chrono::milliseconds quiet{30000};       // without a byte
  std::function<bool()> is_cancelled = {};      // asked ten times a second while waiting
};

class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // All of it, unless the peer says something meanwhile: then what was not sent is returned, and
  // read() has the rest of the story.
  virtual base::Result<std::string_view> write(std::string_view bytes,
                                               const Patience& patience) = 0;
  // How many bytes came; 0: the peer has ended its side.
  virtual base::Result<size_t> read(std::span<char> into, const Patience& patience) = 0;
  // Whether there is something to read, within that time. Also true at the end.
  virtual base::Result<bool> has_input(std::chrono::milliseconds at_most,
                                       const Patience& patience) = 0;
};

// Looks the name up and connects, to one of its addresses after the other. Fails with a sentence
// that names host and port.
base::Result<std::unique_ptr<ByteStream>> connect_to(const std::string& host, uint16_t port,
                                                     const Patience& patience);

}  // namespace gpufl::net
