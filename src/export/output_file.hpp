// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// A file that is there whole or not at all: bytes gather in one without a name, which commit()
// gives it. Where the path is a link, the link stays and what it leads to is replaced; where it is
// a device, a pipe or the name of a descriptor (/dev/stdout), they go straight there. The first
// failure is kept and told by commit(); writing on after it does nothing. One thread.
namespace gpufl::exporting {

// As a path: what is written goes straight there.
inline constexpr std::string_view kStandardOutput = "-";

class OutputFile {
 public:
  struct Options {
    bool compress = false;   // as gzip
    bool overwrite = false;  // a file that is there is replaced; else opening fails
  };

  static base::Result<OutputFile> open(const std::filesystem::path& path, const Options& options);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  void write(std::string_view text) {
    if (text.size() > buffer_.size() - used_) return write_long(text);
    std::memcpy(buffer_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  // Writes what is left and gives the file its name. Call once.
  base::Status commit();
  bool has_failed() const { return !failure_.is_ok(); }
  // Those that are in the file; complete after commit().
  uint64_t bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Compressor;

  OutputFile(std::filesystem::path path, std::filesystem::path target);
  base::Status create();
  base::Status use_descriptor(int fd);
  void write_long(std::string_view text);
  void flush();
  void compress(std::string_view text, bool is_last);
  void put(std::string_view bytes);
  void fail(int error_number);
  void discard();

  std::filesystem::path path_, target_;  // target_: where links lead from path_
  std::filesystem::path partial_;        // the name before commit(); empty: none
  int fd_ = -1;
  bool is_direct_ = false;
  std::vector<char> buffer_;
  size_t used_ = 0;
  uint64_t bytes_ = 0;
  base::Status failure_;
  std::unique_ptr<Compressor> compressor_;
};

// For a process that ends at once, with an OutputFile of this path open: what there is of it under
// another name goes. Any thread.
void remove_unfinished(const std::filesystem::path& path);

}  // namespace gpufl::exporting
