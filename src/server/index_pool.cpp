// SPDX-License-Identifier: Apache-2.0
#include "server/index_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "server/cache_folder.hpp"

namespace gpufl::server {
namespace {

constexpr size_t kMaxOpen = 64;

}  // namespace

struct IndexPool::Entry {
  Entry(const std::filesystem::path& dir, const std::filesystem::path& cache) : index(dir, cache) {}

  index::SessionIndex index;
  // Of the pool's mutex:
  std::string stamp;                   // of the catalogue: what is asked for
  std::optional<std::string> updated;  // what the last update was for; none: there was none
  bool is_waiting = false;
  base::Status status;
  uint64_t used = 0;
  // Of the session that lies there now; another one may take its place.
  std::string names_of;
  std::shared_ptr<index::Names> names;
};

IndexPool::IndexPool(std::filesystem::path folder)
    : folder_(std::move(folder)), thread_([this] { run(); }) {}

IndexPool::~IndexPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void IndexPool::run() {
  pthread_setname_np(pthread_self(), "gpufl-index");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::shared_ptr<Entry> entry = std::move(waiting_.front());
    waiting_.pop_front();
    const std::string stamp = entry->stamp;
    lock.unlock();
    base::Status status;
    try {
      status = entry->index.update([this] {
        const std::lock_guard stopping(mutex_);
        return !is_stopping_;
      });
    } catch (const std::exception& failure) {
      status = {base::Code::LimitReached, failure.what()};
    }
    lock.lock();
    entry->status = std::move(status);
    entry->updated = stamp;
    entry->is_waiting = false;
    changed_.notify_all();
  }
}

std::shared_ptr<IndexPool::Entry> IndexPool::entry_of(const SessionEntry& session) {
  std::shared_ptr<Entry>& entry = entries_[session.dir];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>(session.dir, folder_ / name_hash(session.dir.string()));
  }
  entry->used = ++uses_;
  const std::shared_ptr<Entry> result = entry;
  while (entries_.size() > kMaxOpen) {
    entries_.erase(std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second->used < b.second->used; }));
  }
  return result;
}

base::Result<OpenIndex> IndexPool::open(const SessionEntry& session,
                                        std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Entry> entry = entry_of(session);
  entry->stamp = session.stamp;
  if (entry->updated != session.stamp && !entry->is_waiting) {
    entry->is_waiting = true;
    waiting_.push_back(entry);
    changed_.notify_all();
  }
  changed_.wait_for(lock, wait, [&] { return is_stopping_ || !entry->is_waiting; });
  const base::Status status = entry->status;
  lock.unlock();
  OpenIndex open{entry->index.session(), nullptr};
  if (open.session == nullptr) {
    if (!status) return status;
    return open;
  }
  lock.lock();
  if (entry->names == nullptr || entry->names_of != open.session->header.session_id) {
    entry->names_of = open.session->header.session_id;
    entry->names = std::make_shared<index::Names>();
  }
  const std::shared_ptr<index::Names> names = entry->names;
  lock.unlock();
  if (const base::Status read = names->update(open.session->windows); !read) return read;
  open.names = names;
  return open;
}

}  // namespace gpufl::server
