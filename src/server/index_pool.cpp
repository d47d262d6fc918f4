// SPDX-License-Identifier: Apache-2.0
#include "server/index_pool.hpp"

#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

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

bool is_damaged(const OpenIndex& open) {
  if (open.session == nullptr) return false;
  const index::Windows& windows = open.session->windows;
  return std::any_of(windows.begin(), windows.end(),
                     [](const auto& window) { return window->is_damaged(); });
}

// Of a session that is indexed for the first time. One that has grown since is out of date instead.
bool is_part(const OpenIndex& open) {
  return open.session != nullptr && !open.session->progress.is_complete() && !is_damaged(open);
}

}  // namespace

struct IndexPool::Entry {
  Entry(const std::filesystem::path& session, const std::filesystem::path& cache,
        const index::ReadLimits& limits)
      : dir(session), index(session, cache, own_time(limits)), use(use_of(cache)) {}

  static std::optional<FolderUse> use_of(const std::filesystem::path& cache) {
    std::error_code ignored;
    std::filesystem::create_directory(cache, ignored);
    return FolderUse::take(cache);
  }

  index::ReadLimits own_time(index::ReadLimits limits) {
    limits.clock = [this, clock = std::move(limits.clock)] { return clock() - waited; };
    return limits;
  }

  const std::filesystem::path dir;
  // Of the thread that works on it:
  std::chrono::nanoseconds waited{0};  // for its turn
  index::SessionIndex index;
  std::string names_of;  // another session may take the place of the one that lies there
  std::shared_ptr<index::Names> names;
  // Of the pool's mutex:
  OpenIndex ready;                     // with all names
  std::string stamp;                   // of the catalogue: what is asked for
  std::optional<std::string> updated;  // what the last update was for; none: there was none
  bool is_waiting = false;             // or is worked on
  bool is_wanted = false;              // somebody has asked for it
  base::Status status;
  uint64_t used = 0;
  uint64_t bytes = 0;  // of memory
  // Of its files, which are read as long as it is in memory.
  const std::optional<FolderUse> use;
  // Of any thread: nobody will ask for what is made.
  std::atomic<bool> is_dropped = false;
};

// How far a thread came with an entry.
struct IndexPool::Outcome {
  base::Status status;
  bool is_paused = false;  // others are to have their turn; there is more to be done
  uint64_t bytes = 0;      // of memory
};

IndexPool::IndexPool(std::filesystem::path folder, const IndexLimits& limits)
    : folder_(std::move(folder)), limits_(limits), turns_(limits.turn) {
  for (size_t i = 0; i < limits.workers; ++i) threads_.emplace_back([this] { run(); });
}

IndexPool::~IndexPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IndexPool::run() {
  pthread_setname_np(pthread_self(), "gpufl-index");
  std::unique_lock lock(mutex_);
  while (true) {
    const auto may_prepare = [this] { return !preparing_ && !to_prepare_.empty(); };
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty() || may_prepare(); });
    if (is_stopping_) return;
    if (waiting_.empty()) begin_preparing();
    if (waiting_.empty()) continue;
    std::shared_ptr<Entry> entry = std::move(waiting_.front());
    waiting_.pop_front();
    const std::string stamp = entry->stamp;
    const uint64_t place = turns_.join();
    lock.unlock();
    turns_.take(place);
    const Outcome outcome = update(*entry);
    turns_.leave();
    prune_files();
    lock.lock();
    finish(entry, stamp, outcome);
    changed_.notify_all();
    if (!entry->is_dropped) continue;
    lock.unlock();
    entry.reset();
    // Else each leaves holes between what others hold, and a server that nobody looks at grows.
    ::malloc_trim(0);
    lock.lock();
  }
}

void IndexPool::finish(const std::shared_ptr<Entry>& entry, const std::string& stamp,
                       const Outcome& outcome) {
  entry->status = outcome.status;
  // What has failed is tried again when somebody asks.
  entry->updated.reset();
  if (outcome.status) entry->updated = stamp;
  entry->is_waiting = false;
  if (entry->is_dropped) return;
  if (entry == preparing_ && !outcome.is_paused) {
    preparing_.reset();
    if (!entry->is_wanted) return drop(entries_.find(entry->dir));
  }
  if (outcome.is_paused) {
    entry->is_waiting = true;
    waiting_.push_back(entry);
  }
  bytes_ = bytes_ - entry->bytes + outcome.bytes;
  entry->bytes = outcome.bytes;
  drop_unused();
}

void IndexPool::prune_files() {
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (pruned_ && now - *pruned_ < limits_.file_pace) return;
    pruned_ = now;
  }
  prune_folders(folder_, limits_.file_bytes);
}

bool IndexPool::may_go_on(Entry& entry) {
  if (is_stopping_ || entry.is_dropped) return false;
  entry.waited += turns_.give_way();
  return !is_stopping_ && !entry.is_dropped;
}

IndexPool::Outcome IndexPool::update(Entry& entry) {
  Outcome outcome;
  const auto began = Turns::Clock::now();
  const auto waited_before = entry.waited;
  bool is_first = true;
  const auto may_begin = [&] {
    // What is indexed is shown before the next window is begun, which may take its time.
    outcome.status = show(entry);
    if (std::exchange(is_first, false)) return true;
    const auto worked = Turns::Clock::now() - began - (entry.waited - waited_before);
    if (worked < limits_.turn) return true;
    const std::lock_guard lock(mutex_);
    outcome.is_paused = !waiting_.empty();
    return !outcome.is_paused;
  };
  try {
    outcome.status = entry.index.update([&] { return may_go_on(entry); }, may_begin);
    if (outcome.status) outcome.status = show(entry);
  } catch (const std::exception& failure) {
    outcome.status = {base::Code::LimitReached, failure.what()};
  }
  const auto session = entry.index.session();
  if (session != nullptr) outcome.bytes = held_bytes(*session);
  return outcome;
}

// Reads the names of what is indexed, and lets requests have both.
base::Status IndexPool::show(Entry& entry) {
  const auto session = entry.index.session();
  if (session == nullptr) return {};
  if (entry.names == nullptr || entry.names_of != session->header.session_id) {
    entry.names_of = session->header.session_id;
    entry.names = std::make_shared<index::Names>();
  }
  base::Status status = entry.names->update(session->windows, [&] { return !may_go_on(entry); });
  if (!status) return status;
  {
    const std::lock_guard lock(mutex_);
    entry.ready = {session, entry.names};
  }
  changed_.notify_all();
  return {};
}

std::shared_ptr<IndexPool::Entry> IndexPool::make_entry(const SessionEntry& session) {
  auto entry = std::make_shared<Entry>(session.dir, folder_ / name_hash(session.dir.string()),
                                       limits_.window);
  entry->used = ++uses_;
  return entry;
}

std::shared_ptr<IndexPool::Entry> IndexPool::entry_of(const SessionEntry& session) {
  std::shared_ptr<Entry>& entry = entries_[session.dir];
  if (entry == nullptr) entry = make_entry(session);
  entry->used = ++uses_;
  const std::shared_ptr<Entry> result = entry;
  drop_unused();
  return result;
}

void IndexPool::drop_unused() {
  // What is prepared takes nobody's place.
  const size_t most = limits_.sessions + (preparing_ && !preparing_->is_wanted ? 1 : 0);
  while (entries_.size() > 1 && (entries_.size() > most || bytes_ > limits_.bytes)) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
    drop(oldest);
  }
}

void IndexPool::drop(Entries::iterator unused) {
  const std::shared_ptr<Entry> entry = unused->second;
  entries_.erase(unused);
  bytes_ -= entry->bytes;
  entry->is_dropped = true;
  if (entry == preparing_) preparing_.reset();
  // Whoever waits for it gets what there is.
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), entry);
  if (waiting == waiting_.end()) return;
  waiting_.erase(waiting);
  entry->is_waiting = false;
  changed_.notify_all();
}

void IndexPool::prepare(SessionPtr session) {
  {
    const std::lock_guard lock(mutex_);
    const std::filesystem::path& dir = session->dir;
    to_prepare_.insert_or_assign(dir, std::move(session));
  }
  changed_.notify_all();
}

void IndexPool::begin_preparing() {
  const SessionPtr session = std::move(to_prepare_.begin()->second);
  to_prepare_.erase(to_prepare_.begin());
  const auto known = entries_.find(session->dir);
  if (known != entries_.end()) return begin_update(known->second, *session);
  preparing_ = make_entry(*session);
  entries_.emplace(session->dir, preparing_);
  begin_update(preparing_, *session);
}

IndexCounts IndexPool::counts() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), waiting_.size() + to_prepare_.size(), bytes_};
}

bool IndexPool::is_damaged(const SessionEntry& session) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(session.dir);
  return entry != entries_.end() && server::is_damaged(entry->second->ready);
}

void IndexPool::begin_update(const std::shared_ptr<Entry>& entry, const SessionEntry& session) {
  entry->stamp = session.stamp;
  const bool has_more = entry->updated != session.stamp || server::is_damaged(entry->ready);
  if (!has_more || entry->is_waiting) return;
  entry->is_waiting = true;
  waiting_.push_back(entry);
  changed_.notify_all();
}

base::Result<OpenIndex> IndexPool::open(const SessionEntry& session, const IndexWait& wait) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Entry> entry = entry_of(session);
  entry->is_wanted = true;
  begin_update(entry, session);
  const auto has_ended = [&] { return is_stopping_ || !entry->is_waiting; };
  if (!changed_.wait_for(lock, wait.all, has_ended)) {
    changed_.wait_for(lock, wait.part, [&] { return has_ended() || is_part(entry->ready); });
  }
  if (server::is_damaged(entry->ready)) return OpenIndex();
  if (entry->ready.session == nullptr && !entry->status) return entry->status;
  return entry->ready;
}

}  // namespace gpufl::server
