// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ws {
namespace detail {

// A file that is written from the front, in large pieces. One thread; close() tells whether all of
// it is there.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  ~OutputFile() { close(); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_open() const { return file_ != nullptr; }
  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kPiece) flush();
  }
  bool close() {
    if (file_ == nullptr) return false;
    flush();
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    return closed && !failed_;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 18;

  void flush() {
    failed_ |= std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
    buffer_.clear();
  }

  std::FILE* file_;
  std::string buffer_;
  bool failed_ = false;
};

}  // namespace detail
}  // namespace ws
