// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "store/admission.hpp"
#include "store/blob_store.hpp"
#include "store/catalogue.hpp"
#include "store/clock_watch.hpp"
#include "store/health.hpp"
#include "store/live_journal.hpp"
#include "store/live_texts.hpp"
#include "store/piece.hpp"

// Takes the pieces of sessions, and acknowledges what outlives a kill and a loss of power. Callers
// sync what they received side by side; one thread puts in place and commits whatever waits
// together. Any thread.
namespace gpufl::store {

struct StoreLimits {
  size_t waiting = 1024;                            // pieces; beyond: Busy
  uint64_t journal_bytes = uint64_t{64} << 20;      // of live lines before their files are synced
  std::chrono::milliseconds live_patience{60'000};  // without lines a session counts as cut off
  uint64_t free_bytes = uint64_t{64} << 20;         // of the disk; below: Full
  std::chrono::milliseconds retention_pace{10'000};
  // Of sessions that go, between two groups of what comes; one at least.
  std::chrono::milliseconds expiry_time{20};
  // What has changed since stays, whatever retention says: a network may be away for a while.
  std::chrono::milliseconds keep_least{3'600'000};
  uint64_t text_bytes = uint64_t{4} << 30;   // of lines of one window; beyond: set aside
  size_t aside = 256;                        // set aside, of each workspace; beyond, the
  uint64_t aside_bytes = uint64_t{1} << 30;  // oldest go
  HealthLimits health = {};
};

struct StoreCounts {
  uint64_t pieces = 0, bytes = 0;  // stored so far
  uint64_t commits = 0;
  size_t waiting = 0;
};

struct SessionStatus {
  StoredSession session;
  SessionContents contents;  // of lines with how much of them is there
  std::vector<SetAside> refused;
};

struct Group;

class SessionStore {
 public:
  // Brings what a kill left in order first. The folder is for the journal of live lines.
  static base::Result<std::unique_ptr<SessionStore>> open(std::unique_ptr<BlobStore> blobs,
                                                          std::unique_ptr<Catalogue> catalogue,
                                                          const std::filesystem::path& journal,
                                                          const StoreLimits& limits = {});
  ~SessionStore();
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  base::Result<IncomingPtr> receive() { return blobs_->receive(); }
  // Returns when the piece is durable or refused.
  Outcome take(Piece piece);
  // Nothing: the workspace has no such session.
  base::Result<std::optional<SessionStatus>> status(int64_t workspace, std::string_view session);
  // Of what is said of a piece before it comes.
  const Admission& admission() const { return admission_; }
  Admission::ReservationPtr reserve(int64_t workspace, uint64_t bytes, bool is_window,
                                    std::string& why) {
    return admission_.reserve(workspace, bytes, is_window, why);
  }
  // Deleted: it is out of sight, and what comes of it is refused. NotFound: there is none. One that
  // nothing is left of comes back empty, for its sender to send it again.
  base::Status set_deleted(int64_t workspace, std::string_view session, bool is_deleted);
  // Pinned: no retention touches it. NotFound: there is none, or it is deleted.
  base::Status set_pinned(int64_t workspace, std::string_view session, bool is_pinned);
  // Newest first, at most as many, of those with smaller numbers.
  base::Result<std::vector<StoredSession>> sessions(int64_t workspace, size_t most, int64_t before);
  // What retention says at that time, for every workspace. Called every few seconds by itself.
  base::Status apply_retention(int64_t now_ms);
  // What it has done since the last time.
  struct Expiry {
    int64_t workspace = 0;
    std::string session, reason;
  };
  std::vector<Expiry> take_expired();
  // Of which nothing is left, since the last time.
  struct Gone {
    int64_t workspace = 0;
    std::string session;
  };
  std::vector<Gone> take_gone();
  // Of a workspace, those of which something is left.
  base::Result<std::vector<std::string>> kept_sessions(int64_t workspace);
  const std::string& generation() const { return generation_; }
  base::Result<std::vector<SetAside>> set_aside(int64_t workspace);
  base::Result<std::vector<Workspace>> workspaces();
  // The folder with the sessions of a workspace, which is made.
  base::Result<std::filesystem::path> sessions_of(int64_t workspace);
  std::filesystem::path folder_of(int64_t workspace) const;
  StoreCounts counts() const;
  // Is told of every session of which something was stored, that was deleted or came back, once
  // that holds; the path is its folder. On the thread that did it, which the store's callers may be
  // waiting for, so it only takes note. Empty: nobody is told, from the moment this returns.
  using OnChange = std::function<void(int64_t workspace, const std::filesystem::path& folder)>;
  void tell_of_changes(OnChange on_change);
  // Readings of GPUs, packed.
  Health& health() { return health_; }

 private:
  struct Waiting;

  SessionStore(std::unique_ptr<BlobStore> blobs, std::unique_ptr<Catalogue> catalogue,
               const std::filesystem::path& journal, const StoreLimits& limits)
      : limits_(limits),
        blobs_(std::move(blobs)),
        catalogue_(std::move(catalogue)),
        journal_(journal),
        health_(catalogue_mutex_, *catalogue_, *blobs_, admission_, limits.health) {}

  // When it starts, in recover.cpp.
  using Files = std::map<std::string, uint64_t>;  // bytes by name
  base::Status recover();
  base::Status replay_journal();
  base::Status adopt_modules(StoredSession& session);
  base::Status sweep_modules(int64_t workspace);
  base::Status sweep(int64_t workspace, std::vector<StoredSession>& sessions);
  base::Status sweep_session(const StoredSession& session, const std::string& prefix,
                             const Files& files);

  std::optional<Outcome> prepare(Piece& piece);
  std::optional<Outcome> look_up(Piece& piece, std::filesystem::path& text, uint64_t& text_bytes);
  void hash_final_text(Piece& piece, const std::filesystem::path& text);
  void run();
  void commit(std::vector<Waiting*>& group);
  void write_live(const Group& group, std::vector<Outcome>& outcomes);
  void tell(const std::set<std::pair<int64_t, int64_t>>& changed);
  void keep_house();
  base::Status look_for_room();
  base::Status sync_texts_of(const std::filesystem::path& folder);
  // Whether there is more to do.
  bool settle_texts();

  // In retention.cpp.
  // What may go, the first to go first, and what has gone of it already.
  struct Expiring {
    Workspace workspace;
    std::vector<StoredSession> too_old, others;  // `others`: that may go for their size
    size_t too_old_gone = 0, others_gone = 0;
  };
  base::Result<Expiring> find_expired(const Workspace& workspace, int64_t now_ms);
  base::Result<std::deque<Expiring>> find_all_expired(int64_t now_ms);
  base::Status expire_until(std::chrono::steady_clock::time_point until,
                            std::deque<Expiring>& expiring);
  base::Result<bool> expire_next(Expiring& of);
  void keep_retention();
  base::Status expire(const StoredSession& session);
  base::Result<bool> is_too_large(const Workspace& workspace);
  base::Status purge(const StoredSession& session);

  // In decide.cpp.
  base::Result<Outcome> decide(Piece& piece, Group& group);
  base::Result<Outcome> take_piece(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_window(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_file(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_module(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_live(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> end_text(Piece& piece, const StoredSession& session, uint64_t size,
                                 Group& group);
  base::Result<std::optional<Outcome>> compare_versions(Piece& piece, const StoredFile& known,
                                                        const std::string& name, Group& group);
  base::Result<Outcome> put_aside(Piece& piece, Outcome::What what, std::string why, Group& group);
  std::optional<Outcome> refuse_for_room(const Piece& piece, int64_t growth,
                                         const Group& group) const;
  std::optional<Outcome> place(Piece& piece, const std::string& name, Group& group);

  const StoreLimits limits_;
  const std::unique_ptr<BlobStore> blobs_;

  mutable std::mutex catalogue_mutex_;  // guards what follows; held while a group is committed
  const std::unique_ptr<Catalogue> catalogue_;
  LiveJournal journal_;
  LiveTexts texts_;
  // Every line of the journal is in its file, as far as the system says.
  bool is_replayed_ = false;
  size_t to_settle_ = 0;  // sessions whose lines are in older journals, at first
  // The system may have forgotten lines that it could not write. The journals still have them.
  bool has_lost_texts_ = false;
  std::vector<Expiry> expired_;
  std::vector<Gone> gone_;
  std::chrono::steady_clock::time_point looked_;  // for what has expired
  std::deque<Expiring> expiring_;                 // what was found then; the committing thread's
  ClockWatch clocks_;
  std::string generation_;
  Admission admission_;
  Health health_;  // its own thread's, under that mutex

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Waiting*> waiting_;
  bool is_stopping_ = false;
  std::atomic<uint64_t> pieces_ = 0, bytes_ = 0, commits_ = 0;

  std::mutex on_change_mutex_;  // guards what follows; held while it is called
  OnChange on_change_;
  std::thread thread_;
};

// The name of what is below a session, and of that of a deleted one; both end with a slash.
std::string session_prefix(int64_t workspace, int64_t session);
std::string deleted_prefix(int64_t workspace, int64_t session);
std::string module_name(int64_t workspace, std::string_view sha256);
// What a file is called until it takes the place of the one before it.
std::string coming_name(std::string_view name);
std::string aside_name(int64_t workspace, int64_t id);

}  // namespace gpufl::store
