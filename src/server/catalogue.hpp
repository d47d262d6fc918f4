// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "workbench/list_sessions.hpp"

// The sessions of a folder as they are now. A thread looks every quarter of a second, and reads
// again only what has changed: a session that has ended costs one stat() a look, one that is
// recorded or was killed one for each of its files. At what it is told of it looks at once. Readers
// get entries that never change. Any thread.
namespace gpufl::server {

struct SessionEntry {
  // For addresses: the session's own id. Where that cannot stand in one, or another session has it
  // too, "x-" and a hash of the path.
  std::string id;
  std::string run;             // likewise, of the run's id
  std::filesystem::path dir;   // absolute
  std::filesystem::path name;  // below the folder that is served; "." when it is that folder
  workbench::ListedSession listed;
  std::string stamp;  // what it was read from

  bool is_live() const { return listed.state == "live"; }
};
using SessionPtr = std::shared_ptr<const SessionEntry>;

struct Change {
  enum class What : uint8_t { Appeared, Grew, Ended, Removed };
  What what;
  SessionPtr session;  // of a removed one, what it was last
};
std::string_view to_string(Change::What what);  // "appeared"

class Catalogue {
 public:
  using OnChanges = std::function<void(const std::vector<Change>& changes)>;

  // Begins to look. `on_changes` is called on its thread, not for what the first look finds.
  Catalogue(std::filesystem::path folder, std::chrono::milliseconds pace, OnChanges on_changes);
  ~Catalogue();
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  // All sessions, newest first. Waits for the end of the first look.
  std::vector<SessionPtr> sessions() const;
  // The session of that id; null: there is none. During the first look, one whose folder has its
  // id as its name is found without waiting for the others.
  SessionPtr find(std::string_view id) const;
  // How often something has changed.
  uint64_t revision() const;
  // Something of that session's folder, which is `folder() / name`, has changed: it is looked at
  // before all others. False: too many wait, and it has its turn with all others. Costs next to
  // nothing.
  bool look_soon(std::filesystem::path dir);
  static constexpr size_t kMostReported = 4096;

 private:
  using Clock = std::chrono::steady_clock;
  // Of a session's folder itself.
  struct FolderStamp {
    std::string text;  // empty: there is no folder
    // Long enough ago that whatever came since would have given it another stamp.
    bool is_settled = false;
  };
  struct Known {
    FolderStamp folder;
    SessionPtr entry;
  };
  using KnownSessions = std::map<std::filesystem::path, Known>;
  struct Newer {
    bool operator()(const SessionPtr& a, const SessionPtr& b) const;
  };

  void run();
  bool is_stopping() const;
  bool wait_until(Clock::time_point next_look);
  void look();
  void look_at_reported();
  void look_at_one(const std::filesystem::path& dir, std::vector<Change>& changes);
  std::shared_ptr<SessionEntry> look_at(const std::filesystem::path& dir) const;
  static FolderStamp stamp_of_folder(const std::filesystem::path& dir);
  SessionPtr look_again(const std::filesystem::path& dir, const FolderStamp& folder) const;
  SessionPtr with_own_id(SessionPtr entry) const;
  void leave_out(const std::filesystem::path& dir, std::vector<Change>& changes);
  void put(const std::filesystem::path& dir, Known now, std::vector<Change>& changes);
  KnownSessions::iterator drop(KnownSessions::iterator known, std::vector<Change>& changes);
  void forget(const SessionPtr& entry);
  void tell(const std::vector<Change>& changes) const;

  const std::filesystem::path folder_;
  const std::chrono::milliseconds pace_;
  const OnChanges on_changes_;
  KnownSessions known_;                 // of the thread alone, as is what follows
  Clock::time_point rests_until_ = {};  // after it looked at what was reported
  mutable std::mutex mutex_;            // guards what follows, which the thread alone changes
  mutable std::condition_variable changed_;
  std::set<SessionPtr, Newer> sessions_;
  std::map<std::string, SessionPtr, std::less<>> by_id_;
  uint64_t revision_ = 0;
  bool has_looked_ = false;
  bool is_stopping_ = false;                  // anybody's
  std::set<std::filesystem::path> reported_;  // anybody's
  std::thread thread_;
};

}  // namespace gpufl::server
