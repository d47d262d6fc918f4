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
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "store/blob_store.hpp"
#include "store/catalogue.hpp"
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
  size_t aside = 256;                               // set aside, of each workspace; beyond, the
  uint64_t aside_bytes = uint64_t{1} << 30;         // oldest go
};

struct StoreCounts {
  uint64_t pieces = 0, bytes = 0;  // stored so far
  uint64_t commits = 0;
  size_t waiting = 0;
};

struct SessionStatus {
  StoredSession session;
  SessionContents contents;  // of lines with how much of them is there
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
  // Deleted: it is out of sight, and what comes of it is refused. NotFound: there is none.
  base::Status set_deleted(int64_t workspace, std::string_view session, bool is_deleted);
  base::Result<std::vector<SetAside>> set_aside(int64_t workspace);
  base::Result<std::vector<Workspace>> workspaces();
  // The folder with the sessions of a workspace, which is made.
  base::Result<std::filesystem::path> sessions_of(int64_t workspace);
  std::filesystem::path folder_of(int64_t workspace) const;
  StoreCounts counts() const;

 private:
  struct Waiting;

  SessionStore(std::unique_ptr<BlobStore> blobs, std::unique_ptr<Catalogue> catalogue,
               const std::filesystem::path& journal, const StoreLimits& limits)
      : limits_(limits),
        blobs_(std::move(blobs)),
        catalogue_(std::move(catalogue)),
        journal_(journal) {}

  // When it starts, in recover.cpp.
  using Files = std::map<std::string, uint64_t>;  // bytes by name
  base::Status recover();
  base::Status replay_journal();
  base::Status sweep(int64_t workspace);
  base::Status sweep_session(const StoredSession& session, const std::string& prefix,
                             const Files& files);

  std::optional<Outcome> prepare(Piece& piece);
  void run();
  void commit(std::vector<Waiting*>& group);
  void write_live(const Group& group, std::vector<Outcome>& outcomes);
  void keep_house();
  base::Status look_for_room();

  // In decide.cpp.
  base::Result<Outcome> decide(Piece& piece, Group& group);
  base::Result<Outcome> take_window(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_file(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_module(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> take_live(Piece& piece, const StoredSession& session, Group& group);
  base::Result<Outcome> end_text(Piece& piece, const StoredSession& session,
                                 const std::filesystem::path& file, uint64_t end, Group& group);
  base::Result<Outcome> put_aside(Piece& piece, Outcome::What what, std::string why, Group& group);
  std::optional<Outcome> refuse_for_room(const Piece& piece, uint64_t bytes) const;
  std::optional<Outcome> place(Piece& piece, const std::string& name, bool is_new, Group& group);

  const StoreLimits limits_;
  const std::unique_ptr<BlobStore> blobs_;

  mutable std::mutex catalogue_mutex_;  // guards what follows; held while a group is committed
  const std::unique_ptr<Catalogue> catalogue_;
  LiveJournal journal_;
  LiveTexts texts_;
  std::map<int64_t, std::optional<uint64_t>> quotas_;  // by workspace
  std::map<int64_t, int64_t> used_;                    // bytes
  std::map<int64_t, StoredSession> known_;             // by number, while it starts
  bool is_disk_low_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Waiting*> waiting_;
  bool is_stopping_ = false;
  std::atomic<uint64_t> pieces_ = 0, bytes_ = 0, commits_ = 0;
  std::thread thread_;
};

// The name of what is below a session, and of that of a deleted one; both end with a slash.
std::string session_prefix(int64_t workspace, int64_t session);
std::string deleted_prefix(int64_t workspace, int64_t session);
std::string module_name(int64_t workspace, std::string_view hash);
std::string aside_name(int64_t workspace, int64_t id);

}  // namespace gpufl::store
