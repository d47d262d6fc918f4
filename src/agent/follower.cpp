// SPDX-License-Identifier: Apache-2.0
#include "agent/follower.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "format/session_files.hpp"
#include "format/session_reader.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Step = Shipper::Step;

// After a change, for more of it to come; a session writes every few tens of milliseconds.
constexpr milliseconds kGather{200};

int64_t changed_ns(const fs::path& path) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0) return 0;
  return int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
}

// Down from `root`, and through no link.
base::Result<Folder> open_below(const fs::path& root, const fs::path& dir) {
  auto folder = Folder::open(root);
  if (!folder) return folder;
  for (const fs::path& name : dir.lexically_relative(root)) {
    if (name == ".") continue;
    auto next = folder->open_folder(name.string());
    if (!next) return next;
    *folder = std::move(*next);
  }
  return folder;
}

std::string first_word(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

}  // namespace

Follower::Follower(FollowOptions options)
    : options_(std::move(options)),
      throttle_(options_.bytes_per_s),
      backoff_(Backoff::random_seed()) {}

FollowCounts Follower::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Follower::tell_trouble(const std::string& text) {
  if (text == trouble_) return;
  trouble_ = text;
  if (options_.say && !text.empty()) options_.say(text);
}

bool Follower::connect() {
  ServerChoice choice = options_.server;
  if (!options_.key_file.empty()) choice.api_key = first_word(options_.key_file);
  const auto address = choose_server(choice, options_.variables, options_.credentials);
  auto ingest =
      address ? make_ingest(*address, choice, options_.variables, [this] { return is_stopped(); })
              : base::Result<std::unique_ptr<Ingest>>(address.status());
  if (!ingest) {
    tell_trouble(ingest.status().message());
    return false;
  }
  if (const std::string text = warning_of(*address); !text.empty()) tell_trouble(text);
  // Whoever sends by the old one goes first.
  for (auto& [dir, followed] : sessions_) followed.shipper.reset();
  ingest_ = std::move(*ingest);
  return true;
}

void Follower::look() {
  watch_.add(options_.logs);
  const std::vector<fs::path> found = format::find_sessions(options_.logs);
  std::erase_if(sessions_, [&](const auto& one) {
    return !std::binary_search(found.begin(), found.end(), one.first);
  });
  for (const fs::path& dir : found) {
    watch_.add(dir.parent_path());
    Followed& followed = sessions_[dir];
    if (followed.shipper || followed.is_gone) continue;
    if (followed.is_complete && changed_ns(dir) == followed.changed_ns) continue;
    open(dir, followed);
  }
}

void Follower::open(const fs::path& dir, Followed& followed) {
  auto folder = open_below(options_.logs, dir);
  if (!folder) return tell_trouble(folder.status().message());
  auto session = SessionFolder::open(std::move(*folder));
  if (!session) return;  // it has just begun
  watch_.add(dir);
  ShipOptions options;
  options.throttle = &throttle_;
  options.is_stopped = [this] { return is_stopped(); };
  options.final_after = options_.final_after;
  followed.shipper = std::make_unique<Shipper>(std::move(*session), *ingest_, std::move(options));
  followed.told = {};
  followed.is_complete = false;
}

Follower::Round Follower::go_round() {
  Round round = Round::Idle;
  for (auto& [dir, followed] : sessions_) {
    if (!followed.shipper) continue;
    const Step step = followed.shipper->step();
    count(dir, followed);
    switch (step) {
      case Step::Sent: round = Round::Sent; break;
      case Step::Idle:
        if (!followed.shipper->is_live()) finish(dir, followed);
        break;
      case Step::Gone:
        followed.is_gone = true;
        if (options_.say) options_.say(dir.string() + ": " + followed.shipper->reason());
        followed.shipper.reset();
        break;
      case Step::Wait:
      case Step::Denied:
        tell_trouble(followed.shipper->reason());
        asked_wait_ = followed.shipper->wait();
        return step == Step::Wait ? Round::Wait : Round::Denied;
      case Step::Cancelled: return Round::Wait;
    }
    backoff_.succeed();
  }
  return round;
}

// Nothing is left to send of a session that is not written any more.
void Follower::finish(const fs::path& dir, Followed& followed) {
  const int64_t changed = changed_ns(dir);
  if (followed.shipper->confirms() != true || !followed.shipper->set_aside().empty()) return;
  followed.shipper.reset();
  followed.is_complete = true;
  followed.changed_ns = changed;
}

bool Follower::is_deleted(const fs::path& dir, Followed& followed) {
  const bool is_old = base::wall_ns() - followed.changed_ns >= options_.delete_after->count();
  if (!followed.is_complete || !is_old || changed_ns(dir) != followed.changed_ns) return false;
  if (format::is_locked(dir)) return false;
  // The server may have lost it since.
  open(dir, followed);
  if (!followed.shipper || followed.shipper->confirms() != true) return false;
  followed.shipper.reset();
  options_.delete_session(dir);
  std::error_code error;
  if (fs::exists(dir, error)) return false;
  const std::lock_guard lock(mutex_);
  ++counts_.deleted;
  return true;
}

void Follower::delete_what_may_go() {
  if (!options_.delete_after || !options_.delete_session) return;
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    at = is_deleted(at->first, at->second) ? sessions_.erase(at) : std::next(at);
  }
}

void Follower::count(const fs::path& dir, Followed& followed) {
  const ShipCounts& now = followed.shipper->counts();
  const std::lock_guard lock(mutex_);
  if (now.pieces > followed.told.pieces) counts_.acknowledged_wall_ns = base::wall_ns();
  counts_.pieces += now.pieces - followed.told.pieces;
  counts_.bytes += now.bytes - followed.told.bytes;
  counts_.rows += now.rows - followed.told.rows;
  followed.told = now;
  for (const auto& [name, why] : followed.shipper->set_aside()) {
    if (!followed.told_aside.insert(name).second) continue;
    ++counts_.set_aside;
    if (options_.say) options_.say((dir / name).string() + ": not taken: " + why);
  }
}

void Follower::count_sessions() {
  const std::lock_guard lock(mutex_);
  counts_.sessions = sessions_.size();
  counts_.live = counts_.complete = counts_.gone = 0;
  for (const auto& [dir, followed] : sessions_) {
    counts_.live += followed.shipper && followed.shipper->is_live() ? 1 : 0;
    counts_.complete += followed.is_complete ? 1 : 0;
    counts_.gone += followed.is_gone ? 1 : 0;
  }
}

void Follower::set_denied(bool is_denied) {
  const std::lock_guard lock(mutex_);
  counts_.is_denied = is_denied;
  counts_.waits += is_denied ? 1 : 0;
}

bool Follower::is_drained() const {
  return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& one) {
    const Followed& followed = one.second;
    return !followed.shipper || !followed.shipper->is_live();
  });
}

Follower::End Follower::run() {
  while (!is_stopped()) {
    if (!ingest_ && !connect()) {
      if (options_.drains) return End::Incomplete;
      set_denied(true);
      if (!watch_.wait(backoff_.next({}), [this] { return is_stopped(); })) break;
      continue;
    }
    look();
    Round round = Round::Sent;
    // Sessions that begin meanwhile have their turn, too.
    const auto look_again = Throttle::Clock::now() + options_.look_every;
    while (round == Round::Sent && !is_stopped() && Throttle::Clock::now() < look_again) {
      round = go_round();
    }
    if (is_stopped()) break;
    if (round == Round::Idle) {
      set_denied(false);
      tell_trouble("");
      delete_what_may_go();
    }
    count_sessions();
    if (round == Round::Idle && options_.drains && is_drained()) {
      const FollowCounts now = counts();
      return now.complete + now.gone == now.sessions ? End::Drained : End::Incomplete;
    }
    if (round == Round::Denied) {
      if (options_.drains) return End::Incomplete;
      set_denied(true);
      ingest_.reset();  // with the next one the key may be another
    }
    if (round != Round::Sent && !rest(round)) break;
  }
  return End::Stopped;
}

bool Follower::rest(Round round) {
  const auto stopped = [this] { return is_stopped(); };
  if (round == Round::Idle) {
    return watch_.wait(options_.look_every, stopped) && sleep_for(kGather, stopped);
  }
  {
    const std::lock_guard lock(mutex_);
    ++counts_.waits;
  }
  return sleep_for(backoff_.next(asked_wait_), stopped);
}

}  // namespace gpufl::agent
