// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/trace.hpp>

namespace ws {

// A file of words. `error` says why there are none, or which bytes at its end make no word.
struct Dump {
  std::vector<uint64_t> words;
  std::string error;
};
inline Dump read_dump(const std::string& path);
// Writes a capture, with the two words behind it that lead a reader to its side block.
inline bool write_dump(const uint64_t* words, size_t n, const std::string& path);
// read_dump and decode_capture; what is wrong with the file is a problem of the trace.
inline Trace decode_file(const std::string& path, const DecodeOptions& options = {});

}  // namespace ws
