// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/window_file.hpp"
#include "index/index_file.hpp"
#include "index/window_index.hpp"

// One window as queries see it: its index, the buckets of its lanes and, where those are too wide,
// its batches. Constant; of a window that is still written, as it was at one moment. Any thread.
namespace gpufl::index {

class WindowSource {
 public:
  // Of an index on disk.
  WindowSource(format::WindowFile file, std::shared_ptr<const IndexFile> stored);
  // Of one in memory, with the buckets of each lane. `open_file` keeps a live file readable under
  // its descriptor while the writer renames it.
  WindowSource(format::WindowFile file, WindowIndex index, std::vector<std::vector<Bucket>> buckets,
               std::shared_ptr<const int> open_file);

  const format::WindowFile& file() const { return file_; }
  const WindowIndex& index() const { return stored_ != nullptr ? stored_->index() : index_; }
  // Of the index on disk; 0: it is in memory.
  uint64_t index_bytes() const { return stored_ != nullptr ? stored_->bytes() : 0; }
  // What is on disk turned out to be no good: visit() has failed for it.
  bool is_damaged() const { return stored_ != nullptr && stored_->is_damaged(); }
  // Reads all that is on disk, so that is_damaged() is true where anything of it is.
  void check() const {
    if (stored_ != nullptr) stored_->check();
  }

  // The buckets of lane `number` whose numbers, at `shift`, are from `first` to `last`; several of
  // a number may come one after the other. `shift` is at least the lane's.
  using BucketVisitor = std::function<void(const Bucket&)>;
  base::Status visit(size_t number, unsigned shift, int64_t first, int64_t last,
                     const BucketVisitor& visitor) const;

  // Decodes these batches, given by their places in index().batches, in order. False: stop.
  using BatchVisitor = std::function<bool(const IndexedBatch&, const format::Batch&)>;
  base::Status read(std::span<const size_t> batches, const BatchVisitor& visitor) const;
  // Every line of a dictionary from number `first` on, in one pass. False: stop. Cancelled.
  base::Status read_dictionaries(const std::function<bool(std::string_view)>& visitor,
                                 const std::function<bool()>& is_cancelled = nullptr,
                                 size_t first = 0) const;
  std::filesystem::path readable_path() const;

 private:
  format::WindowFile file_;
  std::shared_ptr<const IndexFile> stored_;
  WindowIndex index_;
  std::vector<std::vector<Bucket>> buckets_;
  std::shared_ptr<const int> open_file_;
};

// What a builder has so far; `open_file` as above.
WindowSource make_source(format::WindowFile file, IndexBuilder& builder,
                         std::shared_ptr<const int> open_file);

}  // namespace gpufl::index
