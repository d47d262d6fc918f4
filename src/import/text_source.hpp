// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/status.hpp"

// The text of a file, plain or gzip, a piece at a time: what is not consumed stays at the front of
// one growing buffer, so that whoever parses sees values whole. One thread.
namespace gpufl::importing {

class TextSource {
 public:
  static base::Result<std::unique_ptr<TextSource>> open(const std::filesystem::path& path);
  // Text in memory; it must outlive the source. Pieces of `piece_bytes`.
  static std::unique_ptr<TextSource> of(std::string_view text, size_t piece_bytes);
  virtual ~TextSource() = default;

  // What has been read and not consumed.
  virtual std::string_view text() const = 0;
  virtual void consume(size_t bytes) = 0;
  // Reads more behind it. False: there is no more, see status().
  virtual bool read_more() = 0;
  // Why reading ended: ok at the file's end; Corrupt where a gzip file is damaged or cut.
  virtual const base::Status& status() const = 0;
  // Of the file itself: compressed ones count.
  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t bytes_total() const = 0;
};

}  // namespace gpufl::importing
