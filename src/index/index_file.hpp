// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "index/index_builder.hpp"
#include "index/window_index.hpp"

// An index as a file: derived from its window, so it may be deleted at any time; whatever is wrong
// with it is a reason to make it again. Its head is read as a whole, buckets when they are asked
// for, from the file as it was opened: deleting or replacing it changes nothing. Any thread may
// read.
namespace gpufl::index {

class IndexFile {
 public:
  // NotFound, Corrupt, or TooNew where it is of another version or another window.
  static base::Result<std::shared_ptr<const IndexFile>> open(const std::filesystem::path& path,
                                                             const WindowIdentity& identity);
  // Whole or not at all. Where it is to be stands in no message of these two.
  static base::Status write(const std::filesystem::path& path, const WindowIdentity& identity,
                            IndexBuilder& builder);
  ~IndexFile();
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  const WindowIndex& index() const { return index_; }
  // The buckets of one block. Corrupt: the file is damaged. Unavailable: it was replaced.
  base::Result<std::vector<Bucket>> read(const BucketBlock& block) const;
  // A read has failed: this index is to be made again.
  bool is_damaged() const { return is_damaged_; }
  // Reads every block.
  void check() const;
  uint64_t bytes() const { return bytes_; }

 private:
  IndexFile() = default;
  base::Result<std::vector<Bucket>> read_block(const BucketBlock& block) const;

  // Where there are more of them than descriptors, the others are opened for each block.
  int fd_ = -1;
  std::filesystem::path path_;
  uint64_t inode_ = 0;
  mutable std::atomic<bool> is_damaged_ = false;
  uint64_t bytes_ = 0;
  WindowIndex index_;
};

}  // namespace gpufl::index
