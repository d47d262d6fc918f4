// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/fields.hpp"

// Bodies as clients accept them: gzip and zstd, whole or piece by piece. One thread at a time. A
// compressor takes up to 2 MB.
namespace gpufl::net {

class Compressor {
 public:
  Compressor() = default;
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Appends everything that a reader needs for `text` to `out`. `is_last`: nothing follows.
  // False: out of memory; what was made so far is useless.
  virtual bool add(std::string_view text, bool is_last, std::string& out) = 0;
};

// Null for Identity, and when memory is short.
std::unique_ptr<Compressor> make_compressor(Encoding encoding);

// What was compressed with gzip; nothing: it is damaged, or memory is short.
std::optional<std::string> gunzip(std::string_view compressed);

// Frames of zstd; nothing: they are damaged, hold more than that, or memory is short.
std::optional<std::string> unpack_zstd(std::string_view compressed, size_t most_bytes);

// Whether content of that type gets smaller: text, JSON, scripts and the like. Parameters of the
// type are ignored.
bool is_compressible(std::string_view content_type);

}  // namespace gpufl::net
