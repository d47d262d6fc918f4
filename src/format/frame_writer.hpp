// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/hash.hpp"
#include "base/page_allocator.hpp"
#include "base/status.hpp"

// Text into an ordinary .zst file of many frames, cut so that each frame holds text of one nature:
// long lists of residuals are noise in which a search for repetitions finds nothing, and are only
// entropy-coded; all the rest is searched. One thread. A failed write is kept until finish().
namespace gpufl::format {

class FrameWriter {
 public:
  FrameWriter();
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  // Makes or empties the file.
  base::Status open(const std::filesystem::path& path);
  void add(std::string_view text);
  // Writes what is left, fsync, close.
  base::Status finish();

  uint64_t raw_bytes() const { return raw_bytes_; }
  uint64_t sealed_bytes() const { return sealed_bytes_; }
  uint64_t hash() const { return hash_.digest(); }  // of the file's bytes

 private:
  enum class Nature : uint8_t { Text, Noise };
  struct Contexts;

  void add_frame(std::string_view text, Nature nature);
  void flush_text();
  void write_out();

  std::unique_ptr<Contexts> contexts_;
  int fd_ = -1;
  base::PageString text_;          // not yet in a frame
  base::PageVector<char> frames_;  // not yet in the file
  size_t frames_size_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t sealed_bytes_ = 0;
  base::Xxh64 hash_;
  base::Status status_;
};

}  // namespace gpufl::format
