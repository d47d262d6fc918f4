// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// requests get what there is. Those that were longest not asked for are dropped from memory; their
// files stay in the cache. Any thread.
namespace gpufl::server {

struct OpenIndex {
  std::shared_ptr<const index::IndexedSession> session;  // null: nothing has been indexed yet
  std::shared_ptr<const index::Names> names;
};

class IndexPool {
 public:
  explicit IndexPool(std::filesystem::path folder);
  ~IndexPool();
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  // What is known of the session as the catalogue has it; where more is to be done, waits a moment
  // for it. Fails as SessionIndex::update().
  base::Result<OpenIndex> open(const SessionEntry& session, std::chrono::milliseconds wait);

 private:
  struct Entry;
  void run();
  std::shared_ptr<Entry> entry_of(const SessionEntry& session);

  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::filesystem::path, std::shared_ptr<Entry>> entries_;  // by the session's folder
  std::deque<std::shared_ptr<Entry>> waiting_;
  uint64_t uses_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace gpufl::server
