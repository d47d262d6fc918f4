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

// A line of a dictionary with what is kept of it: a name in three forms.
constexpr uint64_t kNameBytes = 400;

template <typename Value>
uint64_t bytes_of(const std::vector<Value>& values) {
  return values.capacity() * sizeof(Value);
}

// What one window has in memory. Of buckets of a window that is written, as many as it may have.
uint64_t held_bytes(const index::WindowSource& window) {
  const index::WindowIndex& known = window.index();
  uint64_t bytes = sizeof(window) + bytes_of(known.tracks) + bytes_of(known.batches) +
                   bytes_of(known.dict_lines) + bytes_of(known.name_of_config) +
                   bytes_of(known.lanes) + known.dict_lines.size() * kNameBytes;
  for (const index::IndexedBatch& batch : known.batches) {
    bytes += bytes_of(batch.before);
    for (const index::RowsBefore& before : batch.before) bytes += bytes_of(before.rows.ends);
  }
  for (const index::IndexedLane& lane : known.lanes) {
    bytes += bytes_of(lane.kept);
    for (const auto& level : lane.levels) bytes += bytes_of(level);
    if (window.index_bytes() != 0 || !lane.has_buckets || lane.span.empty()) continue;
    const auto most = static_cast<uint64_t>(lane.span.last - lane.span.first) >> lane.shift;
    bytes += std::min(lane.events, most + 1) * sizeof(index::Bucket);
  }
  for (const auto& [key, series] : known.series.all()) bytes += bytes_of(series.buckets);
  return bytes;
}

uint64_t held_bytes(const index::IndexedSession& session) {
  uint64_t bytes = sizeof(session);
  for (const auto& window : session.windows) bytes += held_bytes(*window);
  return bytes;
}

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
  uint64_t bytes = 0;  // of memory
  // Of the session that lies there now; another one may take its place.
  std::string names_of;
  std::shared_ptr<index::Names> names;
  // Of any thread: nobody will ask for what is made.
  std::atomic<bool> is_dropped = false;
};

IndexPool::IndexPool(std::filesystem::path folder, const IndexLimits& limits)
    : folder_(std::move(folder)), limits_(limits), thread_([this] { run(); }) {}

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
    base::Status status = update(*entry);
    const auto session = entry->index.session();
    const uint64_t bytes = session == nullptr ? 0 : held_bytes(*session);
    lock.lock();
    entry->status = std::move(status);
    entry->updated = stamp;
    entry->is_waiting = false;
    if (!entry->is_dropped) {
      bytes_ = bytes_ - entry->bytes + bytes;
      entry->bytes = bytes;
      drop_unused();
    }
    changed_.notify_all();
  }
}

base::Status IndexPool::update(Entry& entry) {
  try {
    return entry.index.update([&] { return !is_stopping_ && !entry.is_dropped; });
  } catch (const std::exception& failure) {
    return {base::Code::LimitReached, failure.what()};
  }
}

std::shared_ptr<IndexPool::Entry> IndexPool::entry_of(const SessionEntry& session) {
  std::shared_ptr<Entry>& entry = entries_[session.dir];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>(session.dir, folder_ / name_hash(session.dir.string()));
  }
  entry->used = ++uses_;
  const std::shared_ptr<Entry> result = entry;
  drop_unused();
  return result;
}

void IndexPool::drop_unused() {
  while (entries_.size() > 1 && (entries_.size() > limits_.sessions || bytes_ > limits_.bytes)) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
    const std::shared_ptr<Entry> entry = oldest->second;
    entries_.erase(oldest);
    bytes_ -= entry->bytes;
    entry->is_dropped = true;
    // Whoever waits for it gets what there is.
    const auto waiting = std::find(waiting_.begin(), waiting_.end(), entry);
    if (waiting == waiting_.end()) continue;
    waiting_.erase(waiting);
    entry->is_waiting = false;
    changed_.notify_all();
  }
}

IndexCounts IndexPool::counts() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), waiting_.size(), bytes_};
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
