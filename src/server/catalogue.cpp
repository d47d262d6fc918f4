// SPDX-License-Identifier: Apache-2.0
#include "server/catalogue.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "format/session_files.hpp"
#include "format/session_reader.hpp"
#include "format/session_scan.hpp"
#include "server/cache_folder.hpp"
#include "server/session_stamp.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
constexpr size_t kLongestId = 128;
constexpr int kRestPerWork = 20;     // looking takes a twentieth of a core at most
constexpr int kRestPerReported = 4;  // and at what was reported a fifth
// The system counts the times of changes in steps of a few milliseconds.
constexpr int64_t kSettled_ns = 100'000'000;

// What can stand in an address as it is, and is a name in any file system.
bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= kLongestId && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::string plain_id(std::string_view id) {
  return is_plain(id) ? std::string(id) : "x-" + name_hash(id);
}

// Its files can change while its folder does not: it is recorded, or nothing says that it is not.
bool is_watched(const SessionEntry& entry) { return !entry.listed.has_end; }

std::string watched_stamp(const fs::path& dir) {
  return files_stamp(dir) + (format::is_locked(dir) ? "locked" : "free");
}

}  // namespace

bool Catalogue::Newer::operator()(const SessionPtr& a, const SessionPtr& b) const {
  if (is_older(a->listed.found, b->listed.found)) return false;
  if (is_older(b->listed.found, a->listed.found)) return true;
  return a->dir < b->dir;
}

std::string_view to_string(Change::What what) {
  switch (what) {
    case Change::What::Appeared: return "appeared";
    case Change::What::Grew: return "grew";
    case Change::What::Ended: return "ended";
    case Change::What::Removed: break;
  }
  return "removed";
}

Catalogue::Catalogue(fs::path folder, std::chrono::milliseconds pace, OnChanges on_changes)
    : folder_(std::move(folder)), pace_(pace), on_changes_(std::move(on_changes)) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "gpufl-catalog");
}

Catalogue::~Catalogue() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Catalogue::run() {
  auto next_look = Clock::now();
  while (wait_until(next_look)) {
    const auto begin = Clock::now();
    if (begin < next_look) {
      look_at_reported();
      continue;
    }
    look();
    const auto end = Clock::now();
    next_look = end + std::max<Clock::duration>(pace_, kRestPerWork * (end - begin));
  }
}

bool Catalogue::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

// Or until there is something to look at before. False: it ends.
bool Catalogue::wait_until(Clock::time_point next_look) {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    const auto until = reported_.empty() ? next_look : std::min(next_look, rests_until_);
    if (Clock::now() >= until) return true;
    changed_.wait_until(lock, until);
  }
  return false;
}

bool Catalogue::look_soon(fs::path dir) {
  {
    const std::lock_guard lock(mutex_);
    if (reported_.size() >= kMostReported) return reported_.contains(dir);
    if (!reported_.insert(std::move(dir)).second) return true;
  }
  changed_.notify_all();
  return true;
}

std::shared_ptr<SessionEntry> Catalogue::look_at(const fs::path& dir) const {
  auto entry = std::make_shared<SessionEntry>();
  entry->dir = dir;
  entry->name = dir.lexically_relative(folder_);
  entry->listed = workbench::look_quickly(dir);
  const format::SessionHeader& header = entry->listed.found.header;
  entry->id = plain_id(header.session_id);
  entry->run = plain_id(header.run_id.empty() ? header.session_id : header.run_id);
  return entry;
}

// What was known, where nothing has changed since.
SessionPtr Catalogue::look_again(const fs::path& dir, const FolderStamp& folder) const {
  const auto before = known_.find(dir);
  const SessionEntry* known = before == known_.end() ? nullptr : before->second.entry.get();
  const bool is_same_folder = known != nullptr && before->second.folder.text == folder.text;
  if (is_same_folder && before->second.folder.is_settled && !is_watched(*known)) {
    return before->second.entry;
  }
  std::string stamp = watched_stamp(dir);
  if (is_same_folder && known->stamp == stamp) return before->second.entry;
  const std::shared_ptr<SessionEntry> entry = look_at(dir);
  entry->stamp = std::move(stamp);
  // Whoever has the address of a session keeps it, unless another one has taken its place.
  const bool is_same_session =
      known != nullptr && known->listed.found.is_readable() &&
      known->listed.found.header.session_id == entry->listed.found.header.session_id;
  if (is_same_session) entry->id = known->id;
  return entry;
}

Catalogue::FolderStamp Catalogue::stamp_of_folder(const fs::path& dir) {
  struct stat info{};
  if (::lstat(dir.c_str(), &info) != 0) return {};
  const int64_t changed_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return {fmt::format("{} {} {}", info.st_dev, info.st_ino, changed_ns),
          base::wall_ns() - changed_ns > kSettled_ns};
}

void Catalogue::look_at_one(const fs::path& dir, std::vector<Change>& changes) {
  // Before it is read, so that what comes meanwhile is seen by the next look.
  FolderStamp folder = stamp_of_folder(dir);
  if (folder.text.empty()) return leave_out(dir, changes);  // it has just gone
  SessionPtr entry = look_again(dir, folder);
  put(dir, {std::move(folder), std::move(entry)}, changes);
}

void Catalogue::look() {
  std::vector<fs::path> there = format::find_sessions(folder_);
  std::sort(there.begin(), there.end());
  std::vector<Change> changes;
  // First, so that their ids are free for others: folders can be renamed.
  auto next = there.begin();
  for (auto known = known_.begin(); known != known_.end();) {
    while (next != there.end() && *next < known->first) ++next;
    const bool is_there = next != there.end() && *next == known->first;
    known = is_there ? std::next(known) : drop(known, changes);
  }
  for (const fs::path& dir : there) {
    if (is_stopping()) return;
    // Whoever reported something does not wait for all the others. What was seen before is told
    // before.
    if (has_looked_) {
      tell(std::exchange(changes, {}));
      look_at_reported();
    }
    look_at_one(dir, changes);
  }
  if (has_looked_) return tell(changes);
  const std::lock_guard lock(mutex_);
  has_looked_ = true;
  ++revision_;
  changed_.notify_all();
}

void Catalogue::look_at_reported() {
  const auto begin = Clock::now();
  if (begin < rests_until_) return;
  std::set<fs::path> reported;
  {
    const std::lock_guard lock(mutex_);
    reported.swap(reported_);
  }
  if (reported.empty()) return;
  std::vector<Change> changes;
  for (const fs::path& dir : reported) {
    if (is_stopping()) return;
    format::is_session_folder(dir) ? look_at_one(dir, changes) : leave_out(dir, changes);
  }
  tell(changes);
  const auto end = Clock::now();
  rests_until_ = end + kRestPerReported * (end - begin);
}

// Of sessions with one id, the one that was there first keeps it.
SessionPtr Catalogue::with_own_id(SessionPtr entry) const {
  const auto found = by_id_.find(entry->id);
  if (found == by_id_.end() || found->second->dir == entry->dir) return entry;
  auto other = std::make_shared<SessionEntry>(*entry);
  other->id = "x-" + name_hash(other->name.string());
  return other;
}

void Catalogue::put(const fs::path& dir, Known now, std::vector<Change>& changes) {
  const auto [place, is_new] = known_.try_emplace(dir);
  Known& known = place->second;
  const SessionPtr before = std::exchange(known, std::move(now)).entry;
  if (before == known.entry) return;
  known.entry = with_own_id(std::move(known.entry));
  if (is_new) {
    changes.push_back({Change::What::Appeared, known.entry});
  } else if (before->stamp != known.entry->stamp) {
    const bool has_ended = before->is_live() && !known.entry->is_live();
    changes.push_back({has_ended ? Change::What::Ended : Change::What::Grew, known.entry});
  }
  const std::lock_guard lock(mutex_);
  if (before) forget(before);
  sessions_.insert(known.entry);
  by_id_.emplace(known.entry->id, known.entry);
  ++revision_;
}

Catalogue::KnownSessions::iterator Catalogue::drop(KnownSessions::iterator known,
                                                   std::vector<Change>& changes) {
  changes.push_back({Change::What::Removed, known->second.entry});
  const std::lock_guard lock(mutex_);
  forget(known->second.entry);
  ++revision_;
  return known_.erase(known);
}

void Catalogue::leave_out(const fs::path& dir, std::vector<Change>& changes) {
  if (const auto known = known_.find(dir); known != known_.end()) drop(known, changes);
}

// Under the mutex.
void Catalogue::forget(const SessionPtr& entry) {
  sessions_.erase(entry);
  const auto found = by_id_.find(entry->id);
  if (found != by_id_.end() && found->second == entry) by_id_.erase(found);
}

void Catalogue::tell(const std::vector<Change>& changes) const {
  if (!changes.empty() && on_changes_) on_changes_(changes);
}

std::vector<SessionPtr> Catalogue::sessions() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_looked_ || is_stopping_; });
  return {sessions_.begin(), sessions_.end()};
}

SessionPtr Catalogue::find(std::string_view id) const {
  std::unique_lock lock(mutex_);
  if (!has_looked_ && is_plain(id)) {
    lock.unlock();
    const fs::path dir = folder_ / id;
    std::error_code error;
    if (!fs::is_symlink(dir, error) && format::is_session_folder(dir)) {
      SessionPtr entry = look_at(dir);
      if (entry->id == id) return entry;
    }
    lock.lock();
  }
  changed_.wait(lock, [&] { return has_looked_ || is_stopping_; });
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

uint64_t Catalogue::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

}  // namespace gpufl::server
