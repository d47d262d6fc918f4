// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "workbench/list_sessions.hpp"

// The sessions of a folder as they are now. A thread looks every quarter of a second, and reads
// again only what has changed: a session that has ended costs one stat() a look, one that is
// recorded or was killed one for each of its files. Readers get entries that never change. Any
// thread.
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

 private:
  struct Known {
    std::string folder_stamp;  // of the folder itself
    SessionPtr entry;
  };

  void run();
  void look();
  std::shared_ptr<SessionEntry> look_at(const std::filesystem::path& dir) const;
  SessionPtr look_again(const std::filesystem::path& dir, const std::string& folder_stamp) const;
  void make_unique(std::map<std::filesystem::path, Known>& now) const;
  std::vector<Change> publish(std::map<std::filesystem::path, Known> now);

  const std::filesystem::path folder_;
  const std::chrono::milliseconds pace_;
  const OnChanges on_changes_;
  std::map<std::filesystem::path, Known> known_;  // of the thread alone
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<SessionPtr> sessions_;
  std::map<std::string, SessionPtr, std::less<>> by_id_;
  uint64_t revision_ = 0;
  bool has_looked_ = false;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace gpufl::server
