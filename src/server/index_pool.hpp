// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/status.hpp"
#include "index/names.hpp"
#include "index/session_index.hpp"
#include "server/catalogue.hpp"

// The indexes of sessions that somebody looks at. One thread makes them and follows live sessions;
// requests get what there is. Those that were longest not asked for are dropped where all of them
// take too much memory; their files stay in the cache. Any thread.
namespace gpufl::server {

// Beyond one of them, indexes are dropped; the one that was asked for last stays.
struct IndexLimits {
  uint64_t bytes = uint64_t{512} << 20;  // of memory, as far as it can be told
  size_t sessions = 64;
};

struct IndexCounts {
  size_t open = 0, waiting = 0;
  uint64_t bytes = 0;
};

struct OpenIndex {
  std::shared_ptr<const index::IndexedSession> session;  // null: nothing has been indexed yet
  std::shared_ptr<const index::Names> names;
};

class IndexPool {
 public:
  explicit IndexPool(std::filesystem::path folder, const IndexLimits& limits = {});
  ~IndexPool();
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  // What is known of the session as the catalogue has it; where more is to be done, waits a moment
  // for it. Fails as SessionIndex::update().
  base::Result<OpenIndex> open(const SessionEntry& session, std::chrono::milliseconds wait);
  IndexCounts counts() const;

 private:
  struct Entry;
  using Entries = std::map<std::filesystem::path, std::shared_ptr<Entry>>;
  void run();
  base::Status update(Entry& entry);
  std::shared_ptr<Entry> entry_of(const SessionEntry& session);
  void drop_unused();

  const std::filesystem::path folder_;
  const IndexLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Entries entries_;  // by the session's folder
  std::deque<std::shared_ptr<Entry>> waiting_;
  uint64_t uses_ = 0;
  uint64_t bytes_ = 0;  // of all entries
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace gpufl::server
