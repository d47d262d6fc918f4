// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/page_allocator.hpp"
#include "format/code_image.hpp"

// The images of a session that is being written: each becomes a file, once, on a thread of its own
// (started with the first image), and then a `module` line. One thread adds and takes lines; the
// rest from any. At most kMaxWaiting bytes wait in memory.
namespace gpufl::format {

struct ModuleCounts {
  uint64_t kept = 0;
  uint64_t over_cap = 0;   // no room within the cap, in the spool, on the disk or in memory
  uint64_t not_found = 0;  // and not found since
  bool operator==(const ModuleCounts&) const = default;
};

class ModuleStore {
 public:
  static constexpr size_t kMaxWaiting = size_t{64} << 20;

  // `cap`: of bytes in all images.
  ModuleStore(const std::filesystem::path& session_dir, uint64_t cap);
  ~ModuleStore() { finish(); }
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;

  // Copies the image. `has_room`: false where the log takes nothing now. False: too much waits
  // already, offer it again.
  bool add(int64_t time_ns, const CodeImage& image, bool has_room) noexcept;
  // Of what has been decided since the last time: a line comes after its file.
  std::vector<base::Json> take_lines();
  uint64_t bytes() const;  // of its files, and of what will become one
  ModuleCounts counts() const;
  // Waits until nothing waits, and ends the thread.
  void finish();

 private:
  struct Waiting {
    base::Json line;
    uint64_t id = 0;
    base::PageString bytes;
    bool has_room = true;
  };

  void start_thread();
  void run();
  void keep_next(std::unique_lock<std::mutex>& lock);
  void keep(std::unique_lock<std::mutex>& lock, Waiting& image);
  bool add_waiting(int64_t time_ns, const CodeImage& image, bool has_room);
  void refuse(const Waiting& image, const std::string& hash);

  const std::filesystem::path folder_;
  const uint64_t cap_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  uint64_t waiting_bytes_ = 0;
  bool finishing_ = false;
  std::vector<base::Json> lines_;
  std::set<std::string, std::less<>> kept_, over_cap_;  // hashes
  std::set<uint64_t> kept_ids_, missing_ids_;
  uint64_t without_memory_ = 0;
  uint64_t image_bytes_ = 0;  // of those kept
  uint64_t file_bytes_ = 0;
  std::thread thread_;
};

}  // namespace gpufl::format
