// SPDX-License-Identifier: Apache-2.0
#include "index/session_index.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "format/session_files.hpp"
#include "index/queries.hpp"

namespace gpufl::index {
namespace {

namespace fs = std::filesystem;
using format::WindowFile;

constexpr int kMostRemade = 2;  // then an index stays in memory

bool is_there(const WindowFile& file) {
  return file.state != WindowFile::State::Missing && file.state != WindowFile::State::Deleted;
}

std::shared_ptr<const int> open_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  return {new int(fd), [](const int* open) {
            ::close(*open);
            delete open;
          }};
}

uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

void add_faults(const WindowSource& window, IndexedSession& session) {
  using format::Problem;
  const std::string name = window.file().path.filename().string();
  const WindowIndex& index = window.index();
  if (!index.problem.empty()) {
    session.problems.push_back(index.problem);
    session.faults.push_back({Problem::Kind::BadWindow, name, 0, index.problem});
  }
  if (index.bad_lines != 0) {
    session.faults.push_back(
        {Problem::Kind::BadLine, name, 0, std::to_string(index.bad_lines) + " lines are damaged"});
  }
  if (index.events_left_out != 0) {
    session.problems.push_back(name + " has too many tracks: " +
                               std::to_string(index.events_left_out) + " events are not shown");
  }
}

}  // namespace

// A window that its writer appends to, or will seal soon.
struct SessionIndex::LiveWindow {
  LiveWindow(uint64_t of, std::shared_ptr<const int> opened, const CarriedState& state)
      : number(of), file(std::move(opened)), builder(state), digest_before(state.digest()) {}

  fs::path path() const { return "/proc/self/fd/" + std::to_string(*file); }

  const uint64_t number;
  const std::shared_ptr<const int> file;
  IndexBuilder builder;
  const uint64_t digest_before;
  ReadProgress progress;
  base::Status limit;  // it has taken as much as it may
};

const Durations& IndexedSession::durations() const {
  std::call_once(made_->once, [&] { made_->durations = all_durations(windows); });
  return made_->durations;
}

SessionIndex::SessionIndex(fs::path session, fs::path cache, ReadLimits limits)
    : dir_(std::move(session)), cache_(std::move(cache)), limits_(std::move(limits)) {}

SessionIndex::~SessionIndex() = default;

std::shared_ptr<const IndexedSession> SessionIndex::session() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

WindowIdentity SessionIndex::identity_of(const WindowFile& file) const {
  WindowIdentity identity{
      session_id_, std::string(format::to_string(file.channel)), file.number, 0, 0, file.hash};
  struct stat status{};
  if (::stat(file.path.c_str(), &status) == 0) {
    identity.bytes = static_cast<uint64_t>(status.st_size);
    identity.modified_ns =
        int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + int64_t{status.st_mtim.tv_nsec};
  }
  return identity;
}

fs::path SessionIndex::path_of(const WindowKey& key) const {
  return cache_ /
         (std::string(format::to_string(key.first)) + "." + std::to_string(key.second) + ".idx");
}

base::Status SessionIndex::update(const Question& may_go_on, const Question& may_begin) {
  const std::lock_guard lock(update_mutex_);
  const auto reader = format::SessionReader::open(dir_);
  if (!reader) return reader.status();
  if (session_id_ != reader->header().session_id) {
    known_.clear();
    live_.clear();
    remade_.clear();
  }
  session_id_ = reader->header().session_id;
  IndexedSession session;
  session.dir = dir_;
  session.header = reader->header();
  session.is_live = reader->is_live();
  for (const WindowFile& file : reader->windows()) {
    if (is_there(file)) session.progress.bytes_total += size_of(file.path);
  }
  const auto before = this->session();
  const bool was_complete = before != nullptr && before->progress.is_complete();

  session.files = reader->windows();
  session.faults = reader->open_problems();

  const std::map<WindowKey, Known> old = std::exchange(known_, {});
  std::optional<format::Channel> channel;
  Begin begin{{}, false, false, may_go_on, may_begin};
  begin.is_distrustful = std::any_of(old.begin(), old.end(), [](const auto& known) {
    return known.second.source != nullptr && known.second.source->is_damaged();
  });
  bool goes_on = true;
  bool is_whole = true;          // nothing was left for another time
  std::set<WindowKey> followed;  // in memory
  for (const WindowFile& file : reader->windows()) {
    if (channel != file.channel) {
      channel = file.channel;
      begin.state = {};
      begin.has_predecessor = false;
      goes_on = may_go_on();
    }
    if (!is_there(file)) {
      begin.has_predecessor = false;
      begin.state = {};
      continue;
    }
    const WindowKey key{file.channel, file.number};
    const auto known = old.find(key);
    if (known != old.end()) known_[key] = known->second;
    // What follows in this channel goes on from what this one leaves.
    if (!goes_on) {
      is_whole = false;
      continue;
    }
    const bool is_written = reader->is_live() && file.state != WindowFile::State::Sealed;
    if (is_written) followed.insert(key);
    const base::Status status = add_window(file, is_written, begin, session.problems);
    if (status.code() == base::Code::Cancelled) {
      known_.erase(key);
      if (known != old.end()) known_[key] = known->second;
      goes_on = is_whole = false;
      continue;
    }
    if (!status) {
      session.problems.push_back(status.message());
      session.faults.push_back(
          {format::Problem::Kind::Unreadable, file.path.filename().string(), 0, status.message()});
    }
    session.progress.bytes_done += size_of(file.path);
    const auto& source = known_[key].source;
    begin.has_predecessor = source != nullptr;
    if (source == nullptr) {
      begin.state = {};
      continue;
    }
    begin.state = source->index().after;
    add_faults(*source, session);
    const TimeSpan& span = source->index().span;
    if (!span.empty()) session.span.include(span.first, span.last);
    session.windows.push_back(source);
    // The first time, people see what there is while the rest is under way.
    if (!was_complete) publish(session);
  }
  if (is_whole) {
    // Of windows that have been sealed since.
    std::erase_if(live_, [&](const auto& live) { return !followed.contains(live.first); });
  }
  if (is_whole || !was_complete) publish(std::move(session));
  return {};
}

void SessionIndex::publish(IndexedSession session) {
  const std::lock_guard lock(mutex_);
  if (session_ != nullptr) {
    const bool is_same = session.windows == session_->windows &&
                         session.is_live == session_->is_live &&
                         session.progress.bytes_done == session_->progress.bytes_done &&
                         session.progress.bytes_total == session_->progress.bytes_total;
    session.version = session_->version + (is_same ? 0 : 1);
  }
  session.made_ = std::make_shared<IndexedSession::Made>();
  session_ = std::make_shared<IndexedSession>(std::move(session));
}

base::Status SessionIndex::add_window(const WindowFile& file, bool is_written, const Begin& begin,
                                      std::vector<std::string>& problems) {
  const WindowKey key{file.channel, file.number};
  if (is_written) return follow(file, begin);
  const WindowIdentity identity = identity_of(file);
  // Rows that an index gave to its events go on from the window before it, where that is there.
  const uint64_t digest = begin.state.digest();
  const auto fits = [&](const WindowIndex& index) {
    return !begin.has_predecessor || index.digest_before == digest;
  };
  Known& known = known_[key];
  if (begin.is_distrustful && known.source != nullptr) known.source->check();
  const bool is_damaged = known.source != nullptr && known.source->is_damaged();
  if (!is_damaged && known.source != nullptr && known.identity == identity &&
      fits(known.source->index())) {
    return {};
  }
  known = {identity, nullptr};
  if (!is_damaged) {
    const auto stored = IndexFile::open(path_of(key), identity);
    if (stored && fits((*stored)->index())) {
      known.source = std::make_shared<WindowSource>(file, *stored);
      return {};
    }
  }
  if (!begin.may_go_on() || (begin.may_begin && !begin.may_begin())) {
    return {base::Code::Cancelled, "there is no time left"};
  }
  const base::Status status = index_file(file, identity, begin, problems);
  if (is_damaged && status) ++remade_[key];
  return status;
}

base::Status SessionIndex::index_file(const WindowFile& file, const WindowIdentity& identity,
                                      const Begin& begin, std::vector<std::string>& problems) {
  const WindowKey key{file.channel, file.number};
  IndexBuilder builder(begin.state);
  ReadProgress progress;
  base::Status read =
      read_lines(file.path, limits_, [&] { return !begin.may_go_on(); }, builder, progress);
  // Of others it is not certain that the window itself is the reason.
  const bool is_its_fault =
      read.code() == base::Code::Corrupt || read.code() == base::Code::LimitReached;
  if (!read && !is_its_fault) return read;
  if (!read) builder.set_problem(read.message());
  std::shared_ptr<const WindowSource>& source = known_[key].source;
  const auto keep_in_memory = [&] {
    source = std::make_shared<WindowSource>(make_source(file, builder, nullptr));
    return base::Status();
  };
  // A slow disk must not cut it short for good; and what is stored may be damaged over and over.
  if (progress.is_out_of_time || remade_[key] >= kMostRemade) return keep_in_memory();
  // A cache that cannot be written costs time and nothing else.
  const fs::path path = path_of(key);
  const base::Status written = IndexFile::write(path, identity, builder);
  const auto stored = written ? IndexFile::open(path, identity) : written;
  if (!stored) {
    problems.push_back("the index of " + file.path.filename().string() +
                       " cannot be kept: " + stored.status().message());
    return keep_in_memory();
  }
  source = std::make_shared<WindowSource>(file, *stored);
  return {};
}

base::Status SessionIndex::follow(const WindowFile& file, const Begin& begin) {
  std::unique_ptr<LiveWindow>& live = live_[{file.channel, file.number}];
  const bool is_other =
      live != nullptr && begin.has_predecessor && live->digest_before != begin.state.digest();
  if (live == nullptr || is_other) {
    auto opened = open_file(file.path);
    if (opened == nullptr) return base::Status::from_errno(errno, file.path.string());
    live = std::make_unique<LiveWindow>(file.number, std::move(opened), begin.state);
  }
  const uint64_t lines_before = live->builder.lines();
  base::Status read = live->limit;
  try {
    if (read) {
      read = read_lines(
          live->path(), limits_, [&] { return !begin.may_go_on(); }, live->builder, live->progress);
    }
  } catch (...) {
    live.reset();  // how far it came is not known
    throw;
  }
  if (read.code() == base::Code::LimitReached) live->limit = read;
  Known& known = known_[{file.channel, file.number}];
  if (known.source == nullptr || live->builder.lines() != lines_before) {
    known.source = std::make_shared<WindowSource>(make_source(file, live->builder, live->file));
  }
  return read;
}

}  // namespace gpufl::index
