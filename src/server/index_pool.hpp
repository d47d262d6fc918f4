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
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "index/names.hpp"
#include "index/session_index.hpp"
#include "server/cache_folder.hpp"
#include "server/catalogue.hpp"
#include "server/turns.hpp"

// The indexes of sessions that somebody looks at. Threads of its own make them, read their names
// and follow live sessions, one at a time and in turns, so that a large session does not keep
// others waiting; requests get what there is. Those that were longest not asked for are dropped
// where all of them take too much memory; their files stay in the cache, up to a limit of their
// own. Any thread.
namespace gpufl::server {

// Beyond one of them, indexes are dropped; the one that was asked for last stays.
struct IndexLimits {
  uint64_t bytes = uint64_t{512} << 20;  // of memory, as far as it can be told
  size_t sessions = 64;
  // Sessions that are worked on in turns, each with the window at hand in memory. Others get the
  // place of one that has had its turn as soon as its window is done.
  size_t workers = 4;
  std::chrono::milliseconds turn = std::chrono::seconds(1);
  index::ReadLimits window = {};  // its time is without that in which others have their turn
  // Of files on the disk; those of sessions in memory stay. Looked at once in a while, after an
  // update.
  uint64_t file_bytes = kMostIndexBytes;
  std::chrono::milliseconds file_pace = std::chrono::minutes(1);
};

// How long a request waits: for all that is to be indexed, and where that takes longer, for any
// part of a session that is indexed for the first time.
struct IndexWait {
  std::chrono::milliseconds all{400};
  std::chrono::milliseconds part{0};
};

struct IndexCounts {
  size_t open = 0, waiting = 0;  // to be prepared, too
  uint64_t bytes = 0;
};

struct OpenIndex {
  std::shared_ptr<const index::IndexedSession> session;  // null: nothing has been indexed yet
  std::shared_ptr<const index::Names> names;             // all that it uses
};

class IndexPool {
 public:
  explicit IndexPool(std::filesystem::path folder, const IndexLimits& limits = {});
  ~IndexPool();
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  // What is known of the session as the catalogue has it; where more is to be done, waits a moment
  // for it. Fails as SessionIndex::update(), and where names cannot be read. One with a damaged
  // file is made again, and not handed out until it is.
  base::Result<OpenIndex> open(const SessionEntry& session, const IndexWait& wait = {});
  // Makes the files of its index before somebody asks, one session at a time and when nobody waits;
  // of one that nobody has asked for nothing stays in memory.
  void prepare(SessionPtr session);
  // Whether what open() gave of it turned out to be damaged, so that asking again is of use.
  bool is_damaged(const SessionEntry& session) const;
  IndexCounts counts() const;

 private:
  struct Entry;
  using Entries = std::map<std::filesystem::path, std::shared_ptr<Entry>>;
  void run();
  struct Outcome;
  Outcome update(Entry& entry);
  base::Status show(Entry& entry);
  bool may_go_on(Entry& entry);
  void finish(const std::shared_ptr<Entry>& entry, const std::string& stamp,
              const Outcome& outcome);
  std::shared_ptr<Entry> make_entry(const SessionEntry& session);
  std::shared_ptr<Entry> entry_of(const SessionEntry& session);
  void begin_update(const std::shared_ptr<Entry>& entry, const SessionEntry& session);
  void begin_preparing();
  void drop(Entries::iterator unused);
  void drop_unused();
  void prune_files();

  const std::filesystem::path folder_;
  const IndexLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Entries entries_;  // by the session's folder
  std::deque<std::shared_ptr<Entry>> waiting_;
  std::map<std::filesystem::path, SessionPtr> to_prepare_;
  std::shared_ptr<Entry> preparing_;
  uint64_t uses_ = 0;
  uint64_t bytes_ = 0;  // of all entries
  std::atomic<bool> is_stopping_ = false;
  std::optional<std::chrono::steady_clock::time_point> pruned_;
  Turns turns_;
  std::vector<std::thread> threads_;
};

}  // namespace gpufl::server
