// SPDX-License-Identifier: Apache-2.0
#include "store/session_store.hpp"

#include <pthread.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <future>
#include <set>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "store/group.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using What = Outcome::What;

constexpr size_t kMostInGroup = 256;
constexpr std::chrono::seconds kHousePace{1};
constexpr std::chrono::milliseconds kTurnTime{3};
constexpr std::chrono::milliseconds kSettleTime{10};  // at a time

}  // namespace

std::string session_prefix(int64_t workspace, int64_t session) {
  return "workspaces/" + std::to_string(workspace) + "/sessions/" + std::to_string(session) + "/";
}

std::string deleted_prefix(int64_t workspace, int64_t session) {
  return "workspaces/" + std::to_string(workspace) + "/deleted/" + std::to_string(session) + "/";
}

std::string module_name(int64_t workspace, std::string_view sha256) {
  return "workspaces/" + std::to_string(workspace) + "/modules/" + std::string(sha256);
}

std::string coming_name(std::string_view name) { return std::string(name) + ".coming"; }

std::string aside_name(int64_t workspace, int64_t id) {
  return "workspaces/" + std::to_string(workspace) + "/quarantine/" + std::to_string(id);
}

struct SessionStore::Waiting {
  Piece piece;
  std::promise<Outcome> outcome;
};

base::Result<std::unique_ptr<SessionStore>> SessionStore::open(std::unique_ptr<BlobStore> blobs,
                                                               std::unique_ptr<Catalogue> catalogue,
                                                               const fs::path& journal,
                                                               const StoreLimits& limits) {
  std::unique_ptr<SessionStore> store(
      new SessionStore(std::move(blobs), std::move(catalogue), journal, limits));
  if (Status ready = store->recover(); !ready) return ready;
  store->health_.start();
  store->thread_ = std::thread([self = store.get()] { self->run(); });
  pthread_setname_np(store->thread_.native_handle(), "gpufl-commit");
  return store;
}

SessionStore::~SessionStore() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Outcome SessionStore::take(Piece piece) {
  if (const auto known = prepare(piece)) return *known;
  Waiting waiting{std::move(piece), {}};
  std::future<Outcome> outcome = waiting.outcome.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_ || waiting_.size() >= limits_.waiting) {
      return {What::Busy, 0, "too much waits to be stored"};
    }
    waiting_.push_back(&waiting);
  }
  changed_.notify_all();
  return outcome.get();
}

// What is there already. `text`: the lines of the same window, of which as many bytes are to be
// read.
std::optional<Outcome> SessionStore::look_up(Piece& piece, fs::path& text, uint64_t& text_bytes) {
  const std::lock_guard lock(catalogue_mutex_);
  const auto session = catalogue_->find_session(piece.workspace, piece.session);
  if (!session) return outcome_of(session.status());
  if (*session && (*session)->is_deleted) return Outcome{What::Gone, 0, "it was deleted"};
  piece.cuts = texts_.cuts();
  if (!*session || (piece.kind != PieceKind::Window && !piece.is_final)) return {};
  const auto row = catalogue_->find_window((*session)->id, piece.channel, piece.number);
  if (!row) return outcome_of(row.status());
  if (!*row) return {};
  const bool is_sealed = (*row)->state == WindowState::Sealed;
  if (is_sealed) {
    const bool is_known = piece.kind == PieceKind::Window && (*row)->sha256 == piece.sha256;
    return is_known ? std::optional(Outcome{What::Known, 0, {}}) : std::nullopt;
  }
  if (piece.kind == PieceKind::Window && (*row)->state == WindowState::Live) return {};
  text = blobs_->path_of(session_prefix(piece.workspace, (*session)->id) +
                         blob_file_name(PieceKind::Live, piece.channel, piece.number, {}));
  text_bytes = LiveTexts::size_of(text);
  if (piece.kind == PieceKind::Window) piece.compared_with = (*row)->sha256;
  return {};
}

// Where lines before it are missing it has no hash, and is told so later.
void SessionStore::hash_final_text(Piece& piece, const fs::path& text) {
  base::Sha256 hash;
  if (piece.offset > 0) {
    std::ifstream in(text, std::ios::binary);
    std::array<char, 65536> part{};
    for (uint64_t left = piece.offset; left > 0;) {
      in.read(part.data(), static_cast<std::streamsize>(std::min<uint64_t>(left, part.size())));
      if (in.gcount() <= 0) return;
      hash.add({part.data(), static_cast<size_t>(in.gcount())});
      left -= static_cast<uint64_t>(in.gcount());
    }
  }
  hash.add(piece.text);
  piece.sha256 = hash.finish();
}

// What takes long is done here, by the threads of those who send: checks and syncs.
std::optional<Outcome> SessionStore::prepare(Piece& piece) {
  fs::path text;
  uint64_t text_bytes = 0;
  if (auto known = look_up(piece, text, text_bytes)) return known;
  if (!piece.blob) {
    piece.fault = check_live_text(piece);
    if (piece.fault && piece.is_final && text_bytes >= piece.offset) hash_final_text(piece, text);
    return {};
  }
  piece.fault = check_blob(piece);
  const Code code = piece.fault.code();
  if (code == Code::IoError || code == Code::NotFound || code == Code::PermissionDenied) {
    return outcome_of(piece.fault);
  }
  if (piece.fault && !piece.compared_with.empty()) {
    const auto same = has_same_rows(piece.blob->path(), text);
    piece.has_same_rows = same && *same;
  }
  if (Status synced = piece.blob->sync(); !synced) return outcome_of(synced);
  return {};
}

void SessionStore::run() {
  std::unique_lock lock(mutex_);
  auto kept_house = LiveTexts::Clock::now();
  bool is_settling = false;
  while (!is_stopping_ || !waiting_.empty()) {
    // Neither mutexes nor SQLite hand over to those who wait, which would not get in between.
    if (!expiring_.empty()) changed_.wait_for(lock, kTurnTime, [&] { return is_stopping_; });
    const auto has_work = [&] {
      return is_stopping_ || is_settling || !expiring_.empty() || !waiting_.empty();
    };
    changed_.wait_for(lock, kHousePace, has_work);
    // Pieces of one name follow each other: what becomes of one depends on that before it.
    std::vector<Waiting*> group;
    std::set<std::pair<std::string, std::string>> names;
    for (auto one = waiting_.begin(); one != waiting_.end() && group.size() < kMostInGroup;) {
      const Piece& piece = (*one)->piece;
      if (!names.emplace(piece.session, piece.place_name()).second) {
        ++one;
        continue;
      }
      group.push_back(*one);
      one = waiting_.erase(one);
    }
    lock.unlock();
    if (!group.empty()) commit(group);
    is_settling = settle_texts();
    if (const auto now = LiveTexts::Clock::now(); now - kept_house >= kHousePace) {
      kept_house = now;
      keep_house();
    }
    keep_retention();
    lock.lock();
  }
  lock.unlock();
  const std::lock_guard catalogue_lock(catalogue_mutex_);
  // What cannot be synced now is replayed by the next start.
  if (!is_replayed_) return;
  const Status synced = has_lost_texts_ ? replay_journal() : texts_.sync_all();
  if (synced && journal_.turn()) (void)journal_.drop_older();
}

void SessionStore::commit(std::vector<Waiting*>& group) {
  Group work;
  std::vector<Outcome> outcomes;
  {
    const std::lock_guard lock(catalogue_mutex_);
    const uint64_t journal_end = journal_.bytes();
    Status done = catalogue_->transact([&]() -> Status {
      for (Waiting* waiting : group) {
        auto outcome = decide(waiting->piece, work);
        if (!outcome) return outcome.status();
        outcomes.push_back(std::move(*outcome));
        if (!work.appends.empty() && work.appends.back().piece == &waiting->piece) {
          work.appends.back().outcome = outcomes.size() - 1;
        }
      }
      if (Status synced = blobs_->sync(); !synced) return synced;
      for (const Append& append : work.appends) journal_.add(append.lines());
      return journal_.sync();
    });
    work.is_committed = done.is_ok();
    if (done) {
      write_live(work, outcomes);
      for (const fs::path& folder : work.ended) texts_.end(folder);
      for (const auto& [workspace, growth] : work.growth) {
        admission_.add(workspace, growth.bytes, growth.texts);
      }
      for (const Append& append : work.appends) {
        const Piece& piece = *append.piece;
        if (piece.channel != format::Channel::System) continue;
        health_.note(append.session, piece.number, !piece.is_final);
      }
      for (const auto& [session, number] : work.readings) health_.note(session, number, false);
      // What fails of this is done at the next start.
      for (const auto& [name, by] : work.replaced) (void)blobs_->replace(name, by);
      for (const std::string& name : work.obsolete) (void)blobs_->remove(name);
      ++commits_;
    } else {
      journal_.cut(journal_end);
      outcomes.assign(group.size(), outcome_of(done));
      for (const std::string& name : work.placed) (void)blobs_->remove(name);
    }
  }
  for (size_t i = 0; i < group.size(); ++i) {
    if (outcomes[i].what == What::Stored) {
      const Piece& piece = group[i]->piece;
      ++pieces_;
      bytes_ += piece.blob ? piece.blob->size() : piece.text.size();
    }
    group[i]->outcome.set_value(std::move(outcomes[i]));
  }
  if (work.is_committed) tell(work.changed);
}

void SessionStore::tell_of_changes(OnChange on_change) {
  const std::lock_guard lock(on_change_mutex_);
  on_change_ = std::move(on_change);
}

// Under no mutex of the store's own.
void SessionStore::tell(const std::set<std::pair<int64_t, int64_t>>& changed) {
  const std::lock_guard lock(on_change_mutex_);
  if (!on_change_) return;
  for (const auto& [workspace, session] : changed) {
    on_change_(workspace, blobs_->path_of(session_prefix(workspace, session)).parent_path());
  }
}

// They are in the journal now; where one cannot be written, its sender does not hear that it was.
void SessionStore::write_live(const Group& group, std::vector<Outcome>& outcomes) {
  for (const Append& append : group.appends) {
    const Status written = texts_.write(append.file, append.offset, append.text);
    if (!written) {
      outcomes[append.outcome] = outcome_of(written);
      const auto bytes = static_cast<int64_t>(append.text.size());
      admission_.add(append.piece->workspace, -bytes, -bytes);
      continue;
    }
    append.has_end ? texts_.end(append.file.parent_path())
                   : texts_.keep_live(append.file.parent_path());
  }
}

void SessionStore::keep_house() {
  const std::lock_guard lock(catalogue_mutex_);
  texts_.end_idle(limits_.live_patience);
  (void)look_for_room();  // what was known before is the best guess
  if (has_lost_texts_ && admission_.has_room()) (void)replay_journal();
}

// After a failure the system would say that all is well, and the files would lack lines.
Status SessionStore::sync_texts_of(const fs::path& folder) {
  if (has_lost_texts_) return replay_journal();
  const Status synced = texts_.sync_folder_of(folder);
  has_lost_texts_ = !synced;
  return synced;
}

// All files of a journal at once would keep everybody waiting for seconds, where many send. So a
// few are synced between two groups, as many as it takes to be done when the next journal is full.
bool SessionStore::settle_texts() {
  const auto until = LiveTexts::Clock::now() + kSettleTime;
  std::unique_lock lock(catalogue_mutex_);
  if (!journal_.has_older()) {
    if (has_lost_texts_ || journal_.bytes() <= limits_.journal_bytes || !journal_.turn()) {
      return false;
    }
    to_settle_ = texts_.begin_settling();
  }
  while (!has_lost_texts_) {
    const auto next = texts_.next_to_settle();
    if (!next) {
      (void)journal_.drop_older();
      return false;
    }
    // Nobody else needs to wait for this. What others sync or remove meanwhile is synced twice.
    lock.unlock();
    const Status synced = LiveTexts::sync(*next);
    lock.lock();
    if (synced) texts_.settle(next->first);
    has_lost_texts_ = has_lost_texts_ || !synced;
    const double filled =
        static_cast<double>(journal_.bytes()) / static_cast<double>(limits_.journal_bytes);
    const double most_left = static_cast<double>(to_settle_) * (1 - filled);
    const bool is_in_time = static_cast<double>(texts_.left_to_settle()) <= most_left;
    if (is_in_time && LiveTexts::Clock::now() >= until) return true;
  }
  return false;  // they are written again first
}

// Other programs set quotas, and fill the disk.
Status SessionStore::look_for_room() {
  const auto workspaces = catalogue_->workspaces();
  if (!workspaces) return workspaces.status();
  struct statvfs disk{};
  const fs::path folder = blobs_->path_of("");
  if (::statvfs(folder.c_str(), &disk) != 0) {
    return Status::from_errno(errno, "cannot look at the disk of " + folder.string());
  }
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  admission_.set_room(*workspaces, free > limits_.free_bytes ? free - limits_.free_bytes : 0);
  return {};
}

base::Result<std::optional<SessionStatus>> SessionStore::status(int64_t workspace,
                                                                std::string_view session) {
  const std::lock_guard lock(catalogue_mutex_);
  auto found = catalogue_->find_session(workspace, session);
  if (!found) return found.status();
  if (!*found) return std::optional<SessionStatus>();
  auto contents = catalogue_->contents((*found)->id);
  if (!contents) return contents.status();
  const std::string prefix = (*found)->is_deleted ? deleted_prefix(workspace, (*found)->id)
                                                  : session_prefix(workspace, (*found)->id);
  for (StoredWindow& window : contents->windows) {
    if (window.state == WindowState::Sealed) continue;
    window.bytes = LiveTexts::size_of(blobs_->path_of(
        prefix + blob_file_name(PieceKind::Live, window.channel, window.number, {})));
  }
  auto refused = catalogue_->list_aside_of(workspace, session);
  if (!refused) return refused.status();
  return std::optional<SessionStatus>(
      {std::move(**found), std::move(*contents), std::move(*refused)});
}

Status SessionStore::set_deleted(int64_t workspace, std::string_view session, bool is_deleted) {
  std::unique_lock lock(catalogue_mutex_);
  const auto found = catalogue_->find_session(workspace, session);
  if (!found) return found.status();
  if (!*found) return {Code::NotFound, "there is no session '" + std::string(session) + "'"};
  if ((*found)->is_deleted == is_deleted) return {};
  const int64_t id = (*found)->id;
  std::string from = session_prefix(workspace, id), to = deleted_prefix(workspace, id);
  if (!is_deleted) std::swap(from, to);
  texts_.forget(blobs_->path_of(session_prefix(workspace, id)).parent_path());
  // Where the folder has gone from, its files cannot be synced any more.
  const fs::path folder = blobs_->path_of(from).parent_path();
  if (const Status synced = sync_texts_of(folder); !synced) return synced;
  const Status done = catalogue_->transact([&]() -> Status {
    if (Status set = catalogue_->set_deleted(id, is_deleted); !set) return set;
    if (Status moved = blobs_->move_all(from, to); !moved) return moved;
    return blobs_->sync();
  });
  if (done) admission_.set_deleted(workspace, session, is_deleted);
  if (!done) (void)blobs_->move_all(to, from);
  if (done && !is_deleted) health_.look_again();
  lock.unlock();
  if (done) tell({{workspace, id}});
  return done;
}

Status SessionStore::set_pinned(int64_t workspace, std::string_view session, bool is_pinned) {
  const std::lock_guard lock(catalogue_mutex_);
  const auto found = catalogue_->find_session(workspace, session);
  if (!found) return found.status();
  if (!*found || (*found)->is_deleted) {
    return {Code::NotFound, "there is no session '" + std::string(session) + "'"};
  }
  return catalogue_->transact([&] { return catalogue_->set_pinned((*found)->id, is_pinned); });
}

base::Result<std::vector<SetAside>> SessionStore::set_aside(int64_t workspace) {
  const std::lock_guard lock(catalogue_mutex_);
  return catalogue_->list_aside(workspace);
}

base::Result<std::vector<Workspace>> SessionStore::workspaces() {
  const std::lock_guard lock(catalogue_mutex_);
  return catalogue_->workspaces();
}

fs::path SessionStore::folder_of(int64_t workspace) const {
  return blobs_->path_of("workspaces/" + std::to_string(workspace));
}

base::Result<fs::path> SessionStore::sessions_of(int64_t workspace) {
  const std::lock_guard lock(catalogue_mutex_);
  const std::string prefix = "workspaces/" + std::to_string(workspace) + "/sessions/";
  Status made = blobs_->make_place(prefix);
  if (made) made = blobs_->sync();
  if (!made) return made;
  return folder_of(workspace) / "sessions";
}

StoreCounts SessionStore::counts() const {
  const std::lock_guard lock(mutex_);
  return {pieces_, bytes_, commits_, waiting_.size()};
}

}  // namespace gpufl::store
