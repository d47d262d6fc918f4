// SPDX-License-Identifier: Apache-2.0
#include "format/log_writer_archive.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"
#include "format/session_files.hpp"

namespace gpufl::format {
namespace {

constexpr int kMaxAttempts = 3;                     // at sealing a window, before finish()
constexpr const char* kNoMemory = "out of memory";  // short: a Status of it takes no memory

}  // namespace

base::Result<std::unique_ptr<LogArchive>> LogArchive::create(const std::filesystem::path& dir,
                                                             std::string_view session_line,
                                                             uint64_t manifest_slack) {
  std::unique_ptr<LogArchive> archive(new LogArchive(dir, session_line, manifest_slack));
  const std::filesystem::path path = dir / kManifestName;
  int error = archive->manifest_.open_new(path);
  if (error == 0) {
    error = archive->manifest_.append(session_line);
    if (error != 0) ::unlink(path.c_str());
  }
  if (error != 0) return base::Status::from_errno(error, "cannot write " + path.string());
  archive->compact_at_ = archive->manifest_.size() + manifest_slack;
  return archive;
}

LogArchive::~LogArchive() { static_cast<void>(finish()); }

void LogArchive::reserve() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) spare_.emplace_back();
}

void LogArchive::add(const ClosedWindow& window) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.state == Entry::State::Failed && entry.attempts < kMaxAttempts) {
      entry.state = Entry::State::Waiting;
    }
  }
  entries_.splice(entries_.end(), spare_);
  entries_.back().window = window;
  window_bytes_ += window.bytes;
  if (!thread_.joinable()) start_thread();
  wake_.notify_all();
}

void LogArchive::start_thread() {
  const base::SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "gpufl-seal");
  } catch (const std::exception&) {
    // No thread to be had: the window stays raw for now, the next one tries again, or finish().
  }
}

void LogArchive::run() {
  const base::OwnThread own;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto waiting = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.state == Entry::State::Waiting;
    });
    if (waiting != entries_.end()) {
      try_seal(lock, waiting);
      if (manifest_.size() > compact_at_ && counts_.windows_deleted > 0) compact_manifest();
    } else if (finishing_) {
      return;
    } else {
      wake_.wait(lock);
    }
  }
}

// Nothing may be thrown out of a thread inside the host: out of memory the window stays raw.
void LogArchive::try_seal(std::unique_lock<std::mutex>& lock, Entries::iterator entry) {
  try {
    seal(lock, entry);
  } catch (const std::exception&) {
    if (!lock.owns_lock()) lock.lock();
    if (entry->state != Entry::State::Deleted) entry->state = Entry::State::Failed;
    ++entry->attempts;
    if (first_error_.is_ok()) first_error_ = base::Status(base::Code::LimitReached, kNoMemory);
  }
}

// Crash points: before the rename inside seal_window a temporary file is left over; after it both
// forms of the window are there, without and then with a manifest line. Readers know all of them.
void LogArchive::seal(std::unique_lock<std::mutex>& lock, Entries::iterator entry) {
  const ClosedWindow window = entry->window;
  const auto raw = dir_ / raw_file_name(window.channel, window.number);
  const auto sealed = dir_ / sealed_file_name(window.channel, window.number);
  std::error_code ignored;
  entry->state = Entry::State::Sealing;
  lock.unlock();
  const auto result = seal_window(raw, sealed);
  lock.lock();
  if (entry->state == Entry::State::Deleted) {
    std::filesystem::remove(sealed, ignored);
    std::filesystem::remove(raw, ignored);
    entries_.erase(entry);
    return;
  }
  base::Status status = result.status();
  if (result.is_ok()) {
    entry->state = Entry::State::Sealed;  // not to be deleted as a raw file from here on
    ManifestEntry line;
    line.channel = window.channel;
    line.window = window.number;
    line.sealed = *result;
    if (const int error = manifest_.append(line.to_line()); error != 0) {
      status = base::Status::from_errno(error, "cannot write the manifest");
    }
  }
  if (!status.is_ok()) {
    std::filesystem::remove(sealed, ignored);
    entry->state = Entry::State::Failed;
    ++entry->attempts;
    if (first_error_.is_ok()) first_error_ = std::move(status);
    return;
  }
  window_bytes_ += result->sealed_bytes - window.bytes;
  entry->window.bytes = result->sealed_bytes;
  counts_.windows_sealed += 1;
  counts_.sealed_bytes += result->sealed_bytes;
  lock.unlock();  // the disk may take its time, and the collector asks for bytes()
  if (manifest_.sync() == 0) std::filesystem::remove(raw, ignored);
  lock.lock();
}

// Through a temporary file: a crash leaves the old manifest or the new one. The lock is held
// throughout, so that no line goes to the file that is on its way out; it is rare, and small.
void LogArchive::compact_manifest() {
  try {
    const std::filesystem::path path = dir_ / kManifestName;
    std::filesystem::path temporary = path;
    temporary += ".tmp";
    const Manifest manifest = read_manifest(path);
    std::string text = session_line_;
    for (const ManifestEntry& entry : compacted(manifest.entries)) text += entry.to_line();
    ::unlink(temporary.c_str());
    AppendFile shorter;
    if (manifest.status.is_ok() && shorter.open_new(temporary) == 0) {
      if (shorter.append(text) == 0 && shorter.sync() == 0 &&
          ::rename(temporary.c_str(), path.c_str()) == 0) {
        manifest_.swap(shorter);
        manifest_.renamed(path);
      } else {
        ::unlink(temporary.c_str());
      }
    }
  } catch (const std::exception&) {
    // As long as it was, then.
  }
  compact_at_ = manifest_.size() + manifest_slack_;
}

uint64_t LogArchive::bytes() const {
  const std::lock_guard lock(mutex_);
  return window_bytes_ + manifest_.size();
}

void LogArchive::delete_older_than(int64_t session_ns) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->window.closed_ns < session_ns && is_deletable(*entry)) {
      delete_entry(entry, "keep_last");
    }
    entry = next;
  }
}

bool LogArchive::delete_oldest() {
  const std::lock_guard lock(mutex_);
  const auto oldest = std::find_if(entries_.begin(), entries_.end(), is_deletable);
  if (oldest == entries_.end()) return false;
  delete_entry(oldest, "spool_full");
  return true;
}

bool LogArchive::is_deletable(const Entry& entry) {
  return entry.window.channel != Channel::Code && entry.state != Entry::State::Deleted;
}

void LogArchive::delete_entry(Entries::iterator entry, std::string_view reason) {
  const ClosedWindow& window = entry->window;
  ManifestEntry line;
  line.event = ManifestEntry::Event::Deleted;
  line.channel = window.channel;
  line.window = window.number;
  line.sealed.rows = window.rows;
  line.reason = reason;
  line.pauses = window.pauses;
  const std::string text = line.to_line();
  const auto raw = dir_ / raw_file_name(window.channel, window.number);
  const auto sealed = dir_ / sealed_file_name(window.channel, window.number);
  // The line first, so that no crash makes a deleted window look like a lost one; on a full disk
  // the line fits only after the window has gone.
  const bool told = manifest_.append(text) == 0;
  window_bytes_ -= window.bytes;
  counts_.windows_deleted += 1;
  counts_.rows_deleted += window.rows;
  if (entry->state == Entry::State::Sealing) {
    entry->state = Entry::State::Deleted;  // the sealing thread removes what it has made
  } else {
    std::error_code ignored;
    std::filesystem::remove(raw, ignored);
    std::filesystem::remove(sealed, ignored);
    entries_.erase(entry);
  }
  if (!told) static_cast<void>(manifest_.append(text));
}

ArchiveCounts LogArchive::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

base::Status LogArchive::finish() {
  std::unique_lock lock(mutex_);
  if (finishing_) return first_error_;
  finishing_ = true;
  wake_.notify_all();
  if (thread_.joinable()) {
    lock.unlock();
    thread_.join();
    lock.lock();
  }
  first_error_ = {};
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto entry = next++;
    if (entry->state != Entry::State::Sealed) try_seal(lock, entry);
  }
  manifest_.close();
  return first_error_;
}

void LogArchive::abandon() { manifest_.close(); }

}  // namespace gpufl::format
