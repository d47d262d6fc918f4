// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/nvidia/code/fat_binary.hpp"

// Files that code may be found in. Nothing is mapped, and nothing waits: pipes and devices are not
// read. Any thread but the program's.
namespace gpufl::backend {

class CodeFile {
 public:
  explicit CodeFile(const std::string& path);
  ~CodeFile();
  CodeFile(const CodeFile&) = delete;
  CodeFile& operator=(const CodeFile&) = delete;

  bool is_open() const { return fd_ >= 0; }  // and a regular file
  uint64_t size() const { return size_; }
  int64_t modified_ns() const { return modified_ns_; }
  ReadAt reader() const;  // valid as long as the file is

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
  int64_t modified_ns_ = 0;
};

// Programs and libraries that this process has mapped, each once, in the order of addresses.
std::vector<std::string> mapped_files();

}  // namespace gpufl::backend
