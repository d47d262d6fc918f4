// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/trace.hpp>

namespace ws {

// The records of a v1 region of n words. Whatever the words are, the result is what can be told
// from them, and Trace::problems what cannot.
inline Trace decode(const uint64_t* words, size_t n, const DecodeOptions& options = {});
inline Trace decode(const std::vector<uint64_t>& words, const DecodeOptions& options = {});

// The same for all that was copied back at once, or read from a dump: the v1 region and, where they
// follow it, side block and extension words.
inline Trace decode_capture(const uint64_t* words, size_t n, const DecodeOptions& options = {});
inline Trace decode_capture(const std::vector<uint64_t>& words, const DecodeOptions& options = {});

// A buffer of another dialect as wire format v1.
inline std::vector<uint64_t> convert(const uint64_t* words, size_t n, Dialect from);
inline std::vector<uint64_t> convert(const std::vector<uint64_t>& words, Dialect from);

}  // namespace ws
