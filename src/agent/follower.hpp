// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
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
#include <vector>

#include "agent/credentials.hpp"
#include "agent/folder_watch.hpp"
#include "agent/pace.hpp"
#include "agent/shipper.hpp"

// Sends every session below some folders for as long as it runs: live lines as they come, windows
// as they are sealed, all sessions in turn. What the server has is its only memory, so it can be
// killed at any time. run() is one thread's.
namespace gpufl::agent {

struct FollowOptions {
  std::vector<std::filesystem::path> folders;
  ServerChoice server;
  net::Variables variables = net::environment_variable;
  std::filesystem::path credentials;  // file of the logins
  std::filesystem::path key_file;     // read anew when a key is refused; empty: none
  uint64_t bytes_per_s = 0;           // 0: as fast as it goes
  Redaction redaction;                // and what the variables leave out
  // Ends when the server has all that is there, or after that time.
  bool drains = false;
  std::optional<std::chrono::nanoseconds> drain_for = {};
  // A drain waits for sessions to end that are being written.
  bool waits_for_writers = true;
  std::chrono::milliseconds look_every{1000};  // where nothing tells of changes
  // For sessions that nothing told of, and in those that are complete.
  std::chrono::milliseconds walk_every{30000};
  // Whether sessions that were deleted on the server are wanted again.
  std::chrono::milliseconds ask_gone_every{300000};
  // Whether the server is still what it was.
  std::chrono::milliseconds ask_server_every{60000};
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
  uint64_t set_aside = 0;  // files that it refused, or that cannot be read
  uint64_t pieces = 0, bytes = 0, rows = 0;
  uint64_t left_bytes = 0;           // that are not sent yet
  std::chrono::seconds lag{0};       // for how long there has been something left
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
  // From now on it drains, for no longer than that. Any thread.
  void drain(std::chrono::nanoseconds at_most);

 private:
  using Clock = std::chrono::steady_clock;
  struct Followed {
    enum class State : uint8_t {
      New,         // not opened yet
      Empty,       // it has no whole line yet
      Unreadable,  // for us
      Sending,     // its shipper sends what there is
      Complete,    // it has ended, and the server has confirmed it
      Gone,        // it was deleted on the server
    } state = State::New;
    std::filesystem::path root;
    std::unique_ptr<Shipper> shipper;          // of Sending
    Shipper::Step last = Shipper::Step::Wait;  // of Sending
    int unconfirmed = 0;                       // times in a row that nothing was left to send
    Backoff backoff{Backoff::random_seed()};
    Clock::time_point not_before{};  // its next turn
    ShipCounts told;                 // of its counts, in ours
    std::set<std::string> told_aside, told_once;
    std::string told_stuck;
    bool told_gone = false, told_kept = false;
    int64_t changed_ns = 0;                   // of the folder, when it was found complete
    std::optional<Clock::time_point> behind;  // since when something is left
  };
  using Sessions = std::map<std::filesystem::path, Followed>;
  enum class Round : uint8_t { Sent, Idle, Wait, Denied };

  bool is_stopped() const { return options_.is_stopped && options_.is_stopped(); }
  // Of all sessions: once, until something else is said; empty: it is over.
  void tell_trouble(const std::string& text);
  // Of one that the server cannot take now: likewise, until all of it is there.
  void tell_stuck(const std::filesystem::path& dir, Followed& followed);
  bool connect();
  // Whether the server is another one by now: then all is asked again.
  void ask_server();
  // For sessions that are new, or have changed, or are not there any more.
  void look();
  void walk();
  void watch_below(const std::filesystem::path& folder, int depth);
  void open(const std::filesystem::path& dir, Followed& followed);
  // Sessions that are open, have ended, and are not all sent.
  int64_t unfinished() const;
  // One piece of each session.
  Round go_round();
  // Nothing: the round goes on.
  std::optional<Round> go(const std::filesystem::path& dir, Followed& followed, bool& has_sent);
  // Live lines of all, while a file of one is on its way.
  void send_live_meanwhile();
  void finish(const std::filesystem::path& dir, Followed& followed);
  bool may_delete(const std::filesystem::path& dir, const Followed& followed) const;
  void delete_session(const std::filesystem::path& dir, Followed& followed);
  void count(const std::filesystem::path& dir, Followed& followed);
  void tell_once(const std::string& text, Followed& followed);
  // Once, of a file that does not go.
  void tell_left(const std::filesystem::path& file, const char* what, const std::string& why,
                 Followed& followed);
  void count_sessions();
  void set_denied(bool is_denied);
  bool is_drained() const;
  bool is_late() const;
  // Of a drain that is over.
  End drained() const;
  // False: it was stopped.
  bool rest(Round round);

  const FollowOptions options_;
  const Redaction redaction_;
  std::atomic<bool> drains_;
  std::atomic<Clock::time_point> drain_until_{Clock::time_point::max()};
  Throttle throttle_;
  Backoff backoff_;
  FolderWatch watch_;
  bool is_all_watched_ = false;
  bool has_unopened_ = false;                             // there was no room for some
  std::set<std::filesystem::path> closed_, told_closed_;  // folders that may not be read
  Clock::time_point walk_at_{}, ask_at_{};
  std::unique_ptr<Ingest> ingest_, live_ingest_;
  std::string generation_;  // of the server
  Sessions sessions_;
  std::filesystem::path latest_;  // whose turn it was last
  std::optional<std::chrono::seconds> asked_wait_;
  std::string trouble_;  // the latest that was told
  bool told_warning_ = false;
  mutable std::mutex mutex_;  // guards what follows
  FollowCounts counts_;
};

}  // namespace gpufl::agent
