// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// for. Any thread may read.
namespace gpufl::index {

class IndexFile {
 public:
  // NotFound, Corrupt, or TooNew where it is of another version or another window.
  static base::Result<std::shared_ptr<const IndexFile>> open(const std::filesystem::path& path,
                                                             const WindowIdentity& identity);
  // Whole or not at all.
  static base::Status write(const std::filesystem::path& path, const WindowIdentity& identity,
                            IndexBuilder& builder);
  ~IndexFile() = default;
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  const WindowIndex& index() const { return index_; }
  // The buckets of one block. Corrupt: the file is damaged.
  base::Result<std::vector<Bucket>> read(const BucketBlock& block) const;
  uint64_t bytes() const { return bytes_; }

 private:
  IndexFile() = default;

  // Opened for each block, because there may be more of them than descriptors.
  std::filesystem::path path_;
  uint64_t inode_ = 0;
  uint64_t bytes_ = 0;
  WindowIndex index_;
};

}  // namespace gpufl::index
