// SPDX-License-Identifier: Apache-2.0
#include "server/catalogue.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "format/session_files.hpp"
#include "format/session_reader.hpp"
#include "format/session_scan.hpp"
#include "server/cache_folder.hpp"
#include "server/session_stamp.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kLongestId = 128;
constexpr int kRestPerWork = 20;  // looking takes a twentieth of a core at most

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

std::string folder_stamp(const fs::path& dir) {
  struct stat info{};
  if (::lstat(dir.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", info.st_dev, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

// Its files can change while its folder does not: it is recorded, or nothing says that it is not.
bool is_watched(const SessionEntry& entry) { return !entry.listed.has_end; }

std::string watched_stamp(const fs::path& dir) {
  return files_stamp(dir) + (format::is_locked(dir) ? "locked" : "free");
}

bool is_newer(const SessionPtr& a, const SessionPtr& b) {
  if (is_older(a->listed.found, b->listed.found)) return false;
  if (is_older(b->listed.found, a->listed.found)) return true;
  return a->dir < b->dir;
}

}  // namespace

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
  while (true) {
    const auto begin = Clock::now();
    look();
    const auto rest = std::max<Clock::duration>(pace_, kRestPerWork * (Clock::now() - begin));
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, rest, [&] { return is_stopping_; })) return;
  }
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
SessionPtr Catalogue::look_again(const fs::path& dir, const std::string& folder_stamp) const {
  const auto before = known_.find(dir);
  const SessionEntry* known = before == known_.end() ? nullptr : before->second.entry.get();
  const bool is_same_folder = known != nullptr && before->second.folder_stamp == folder_stamp;
  if (is_same_folder && !is_watched(*known)) return before->second.entry;
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

void Catalogue::look() {
  std::map<fs::path, Known> now;
  for (const fs::path& dir : format::find_sessions(folder_)) {
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
    }
    // Before it is read, so that what comes meanwhile is seen by the next look.
    std::string stamp = folder_stamp(dir);
    SessionPtr entry = look_again(dir, stamp);
    now.emplace(dir, Known{std::move(stamp), std::move(entry)});
  }
  const std::vector<Change> changes = publish(std::move(now));
  if (!changes.empty() && on_changes_) on_changes_(changes);
}

// Of sessions with one id, the one that was there first keeps it.
void Catalogue::make_unique(std::map<fs::path, Known>& now) const {
  std::set<std::string, std::less<>> ids;
  for (const bool is_known : {true, false}) {
    for (auto& [dir, one] : now) {
      if (known_.contains(dir) != is_known || ids.insert(one.entry->id).second) continue;
      auto other = std::make_shared<SessionEntry>(*one.entry);
      other->id = "x-" + name_hash(other->name.string());
      ids.insert(other->id);
      one.entry = std::move(other);
    }
  }
}

std::vector<Change> Catalogue::publish(std::map<fs::path, Known> now) {
  make_unique(now);
  std::vector<Change> changes;
  std::vector<SessionPtr> sessions;
  std::map<std::string, SessionPtr, std::less<>> by_id;
  for (const auto& [dir, one] : now) {
    sessions.push_back(one.entry);
    by_id.emplace(one.entry->id, one.entry);
    const auto before = known_.find(dir);
    if (before == known_.end()) {
      changes.push_back({Change::What::Appeared, one.entry});
    } else if (before->second.entry->stamp != one.entry->stamp) {
      const bool has_ended = before->second.entry->is_live() && !one.entry->is_live();
      changes.push_back({has_ended ? Change::What::Ended : Change::What::Grew, one.entry});
    }
  }
  for (const auto& [dir, one] : known_) {
    if (!now.contains(dir)) changes.push_back({Change::What::Removed, one.entry});
  }
  std::sort(sessions.begin(), sessions.end(), is_newer);
  known_ = std::move(now);

  const std::lock_guard lock(mutex_);
  if (!has_looked_) changes.clear();
  if (!has_looked_ || !changes.empty()) {
    sessions_ = std::move(sessions);
    by_id_ = std::move(by_id);
    ++revision_;
  }
  has_looked_ = true;
  changed_.notify_all();
  return changes;
}

std::vector<SessionPtr> Catalogue::sessions() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_looked_ || is_stopping_; });
  return sessions_;
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
