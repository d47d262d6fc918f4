// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "agent/credentials.hpp"
#include "agent/folder_watch.hpp"
#include "agent/pace.hpp"
#include "agent/shipper.hpp"

// Sends every session below a folder for as long as it runs: live lines as they come, windows as
// they are sealed, all sessions in turn. What the server has is its only memory, so it can be
// killed at any time. run() is one thread's; counts() any thread's.
namespace gpufl::agent {

struct FollowOptions {
  std::filesystem::path logs;
  ServerChoice server;
  net::Variables variables = net::environment_variable;
  std::filesystem::path credentials;  // file of the logins
  std::filesystem::path key_file;     // read anew when a key is refused; empty: none
  uint64_t bytes_per_s = 0;           // 0: as fast as it goes
  // Ends when the server has all that is there.
  bool drains = false;
  std::chrono::milliseconds look_every{1000};  // where nothing tells of changes
  // What a dead writer left is final after that.
  std::chrono::nanoseconds final_after{std::chrono::seconds(15)};
  // Ended sessions that the server has confirmed, file by file, are deleted that long after their
  // end; none: kept.
  std::optional<std::chrono::nanoseconds> delete_after = {};
  std::function<void(const std::filesystem::path&)> delete_session = {};
  std::function<void(std::string_view)> say = {};
  std::function<bool()> is_stopped = {};
};

struct FollowCounts {
  uint64_t sessions = 0;  // that are followed now
  uint64_t live = 0;      // of these, being written
  uint64_t complete = 0;  // that ended and that the server has confirmed
  uint64_t deleted = 0;
  uint64_t gone = 0;       // that were deleted on the server
  uint64_t set_aside = 0;  // files that it refused
  uint64_t pieces = 0, bytes = 0, rows = 0;
  uint64_t waits = 0;                // times that the server asked for patience or was not there
  int64_t acknowledged_wall_ns = 0;  // the latest; 0: none yet
  bool is_denied = false;            // the key or the address is refused
};

class Follower {
 public:
  explicit Follower(FollowOptions options);

  enum class End : uint8_t { Stopped, Drained, Incomplete };
  // Incomplete: drained, but for what the server refused or could not be sent.
  End run();
  FollowCounts counts() const;

 private:
  struct Followed {
    std::unique_ptr<Shipper> shipper;  // none: there is nothing to send now
    ShipCounts told;                   // of its counts, in ours
    std::set<std::string> told_aside;
    bool is_complete = false;
    bool is_gone = false;    // was deleted on the server
    int64_t changed_ns = 0;  // of the folder, when it was found complete
  };
  enum class Round : uint8_t { Sent, Idle, Wait, Denied };

  bool is_stopped() const { return options_.is_stopped && options_.is_stopped(); }
  // Once, until something else is said; empty: it is over.
  void tell_trouble(const std::string& text);
  bool connect();
  // For sessions that are new, or have changed, or are not there any more.
  void look();
  void open(const std::filesystem::path& dir, Followed& followed);
  // One piece of each session.
  Round go_round();
  void finish(const std::filesystem::path& dir, Followed& followed);
  void delete_what_may_go();
  // Whether it could go, and has gone.
  bool is_deleted(const std::filesystem::path& dir, Followed& followed);
  void count(const std::filesystem::path& dir, Followed& followed);
  void count_sessions();
  void set_denied(bool is_denied);
  bool is_drained() const;
  // False: it was stopped.
  bool rest(Round round);

  const FollowOptions options_;
  Throttle throttle_;
  Backoff backoff_;
  FolderWatch watch_;
  std::unique_ptr<Ingest> ingest_;
  std::map<std::filesystem::path, Followed> sessions_;
  std::optional<std::chrono::seconds> asked_wait_;
  std::string trouble_;       // the latest that was told
  mutable std::mutex mutex_;  // guards what follows
  FollowCounts counts_;
};

}  // namespace gpufl::agent
