// SPDX-License-Identifier: Apache-2.0
#include "format/log_writer_archive.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "format/session_files.hpp"

namespace gpufl::format {

base::Result<std::unique_ptr<LogArchive>> LogArchive::create(const std::filesystem::path& dir,
                                                             std::string_view session_line) {
  std::unique_ptr<LogArchive> archive(new LogArchive(dir));
  const std::filesystem::path path = dir / kManifestName;
  int error = archive->manifest_.open_new(path);
  if (error == 0) error = archive->manifest_.append(session_line);
  if (error != 0) return base::Status::from_errno(error, "cannot write " + path.string());
  return archive;
}

LogArchive::~LogArchive() { static_cast<void>(finish()); }

void LogArchive::add(const ClosedWindow& window) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({window});
  window_bytes_ += window.bytes;
  if (!thread_.joinable()) start_thread();
  wake_.notify_all();
}

void LogArchive::start_thread() {
  // The host's signals are for the host's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "gpufl-seal");
  } catch (const std::system_error& error) {
    // No thread to be had: the window stays raw for now, finish() seals it.
    if (first_error_.is_ok()) {
      first_error_ = base::Status(base::Code::LimitReached,
                                  std::string("cannot start the sealing thread: ") + error.what());
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LogArchive::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto waiting = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.state == Entry::State::Waiting;
    });
    if (waiting != entries_.end()) {
      seal(lock, waiting);
    } else if (finishing_) {
      return;
    } else {
      wake_.wait(lock);
    }
  }
}

// Crash points: before the rename inside seal_window a temporary file is left over; after it both
// forms of the window are there, without and then with a manifest line. Readers know all of them.
void LogArchive::seal(std::unique_lock<std::mutex>& lock, Entries::iterator entry) {
  entry->state = Entry::State::Sealing;
  const ClosedWindow window = entry->window;
  const auto raw = dir_ / raw_file_name(window.channel, window.number);
  const auto sealed = dir_ / sealed_file_name(window.channel, window.number);
  std::error_code ignored;
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
    const ManifestEntry line{
        ManifestEntry::Event::Sealed, window.channel, window.number, *result, {}};
    if (const int error = manifest_.append(line.to_line()); error != 0) {
      status = base::Status::from_errno(error, "cannot write the manifest");
    }
  }
  if (!status.is_ok()) {
    std::filesystem::remove(sealed, ignored);
    entry->state = Entry::State::Failed;
    if (first_error_.is_ok()) first_error_ = status;
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
  ManifestEntry line{ManifestEntry::Event::Deleted, window.channel, window.number, {}, {}};
  line.sealed.rows = window.rows;
  line.reason = reason;
  // The line first, so that no crash makes a deleted window look like a lost one; on a full disk
  // the line fits only after the window has gone.
  const bool told = manifest_.append(line.to_line()) == 0;
  window_bytes_ -= window.bytes;
  counts_.windows_deleted += 1;
  counts_.rows_deleted += window.rows;
  if (entry->state == Entry::State::Sealing) {
    entry->state = Entry::State::Deleted;  // the sealing thread removes what it has made
  } else {
    std::error_code ignored;
    std::filesystem::remove(dir_ / raw_file_name(window.channel, window.number), ignored);
    std::filesystem::remove(dir_ / sealed_file_name(window.channel, window.number), ignored);
    entries_.erase(entry);
  }
  if (!told) static_cast<void>(manifest_.append(line.to_line()));
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
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->state != Entry::State::Sealed) seal(lock, entry);
  }
  manifest_.close();
  return first_error_;
}

void LogArchive::abandon() { manifest_.close(); }

}  // namespace gpufl::format
