// SPDX-License-Identifier: Apache-2.0
#include "agent/follower.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
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
// A drain does not wait for a server that goes on to lack what it has taken.
constexpr int kMostUnconfirmed = 3;
// Each has descriptors, of which a process has a thousand; one that is being written has its turn
// whatever there is to do.
constexpr int64_t kMostOpen = 128;

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

base::Result<std::string> key_in(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) return base::Status::from_errno(errno, "cannot open the key file " + file.string());
  std::string key;
  stream >> key;
  if (!key.empty()) return key;
  return base::Status(base::Code::InvalidArgument, "there is no key in " + file.string());
}

}  // namespace

Follower::Follower(FollowOptions options)
    : options_(std::move(options)),
      redaction_(with_variables(options_.redaction, options_.variables)),
      drains_(options_.drains),
      throttle_(options_.bytes_per_s),
      backoff_(Backoff::random_seed()) {
  if (options_.drains && options_.drain_for) drain(*options_.drain_for);
}

void Follower::drain(std::chrono::nanoseconds at_most) {
  drain_until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(at_most);
  drains_ = true;
}

bool Follower::connect() {
  ServerChoice choice = options_.server;
  if (!options_.key_file.empty()) {
    auto key = key_in(options_.key_file);
    if (!key) {
      tell_trouble(key.status().message());
      return false;
    }
    choice.api_key = std::move(*key);
  }
  const auto address = choose_server(choice, options_.variables, options_.credentials);
  const auto make = [&]() -> base::Result<std::unique_ptr<Ingest>> {
    if (!address) return address.status();
    return make_ingest(*address, choice, options_.variables,
                       [this] { return is_stopped() || is_late(); });
  };
  auto ingest = make();
  auto live_ingest = make();
  if (!ingest || !live_ingest) {
    tell_trouble((ingest ? live_ingest : ingest).status().message());
    return false;
  }
  if (const std::string text = warning_of(*address);
      options_.say && !text.empty() && !std::exchange(told_warning_, true)) {
    options_.say(text);
  }
  // Whoever sends by the old one goes first.
  for (auto& [dir, followed] : sessions_) {
    if (followed.state != Followed::State::Sending) continue;
    followed.shipper.reset();
    followed.state = Followed::State::New;
  }
  ingest_ = std::move(*ingest);
  live_ingest_ = std::move(*live_ingest);
  walk_at_ = ask_at_ = {};
  return true;
}

void Follower::ask_server() {
  if (Clock::now() < ask_at_) return;
  ask_at_ = Clock::now() + options_.ask_server_every;
  KnownServer server;
  if (ingest_->check(server).verdict != SendAnswer::Verdict::Stored) return;
  if (server.generation.empty() || server.generation == generation_) return;
  const bool is_first = generation_.empty();
  generation_ = server.generation;
  if (is_first) return;
  for (auto& [dir, followed] : sessions_) {
    if (followed.shipper) followed.shipper->forget_known();
    if (followed.state == Followed::State::Complete) open(dir, followed);
  }
}

// At the root of ext4, closed to all but root.
constexpr const char* kOfFileSystem = "lost+found";

void Follower::watch_below(const fs::path& folder, int depth) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error == std::errc::permission_denied) {
    closed_.insert(folder);
    if (options_.say && told_closed_.insert(folder).second) {
      options_.say(folder.string() + " may not be read: sessions in it are not sent");
    }
    return;
  }
  is_all_watched_ = watch_.add(folder, true) && is_all_watched_;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const bool is_folder = entry->is_directory(ignored) && !entry->is_symlink(ignored);
    if (!is_folder || depth == 0 || sessions_.contains(entry->path())) continue;
    if (entry->path().filename() == kOfFileSystem) continue;
    watch_below(entry->path(), depth - 1);
  }
}

void Follower::walk() {
  constexpr int kRunDepth = 2;  // log folder, run; their sessions are watched when they are opened
  walk_at_ = Clock::now() + options_.walk_every;
  std::set<fs::path> found;
  for (const fs::path& root : options_.folders) {
    for (const fs::path& dir : format::find_sessions(root)) {
      found.insert(dir);
      sessions_[dir].root = root;
    }
  }
  std::erase_if(sessions_, [&](const auto& one) {
    if (!found.contains(one.first)) watch_.remove(one.first);
    return !found.contains(one.first);
  });
  is_all_watched_ = true;
  closed_.clear();
  for (const fs::path& root : options_.folders) watch_below(root, kRunDepth);
}

void Follower::look() {
  using State = Followed::State;
  const bool has_news = watch_.has_news();
  const bool walks = has_news || !is_all_watched_ || Clock::now() >= walk_at_;
  if (walks) walk();
  has_unopened_ = false;
  int64_t unfinished_now = unfinished();
  for (auto& [dir, followed] : sessions_) {
    switch (followed.state) {
      case State::Sending: break;
      case State::New:
        if (unfinished_now >= kMostOpen && !format::is_locked(dir)) {
          has_unopened_ = true;
          break;
        }
        open(dir, followed);
        ++unfinished_now;
        break;
      case State::Empty: open(dir, followed); break;
      case State::Unreadable:
      case State::Gone:
        if (Clock::now() >= followed.not_before) open(dir, followed);
        break;
      case State::Complete:
        if (Clock::now() < followed.not_before) break;
        if (walks && changed_ns(dir) != followed.changed_ns) open(dir, followed);
        // The server may have lost it since: it is asked once more.
        if (may_delete(dir, followed)) open(dir, followed);
        break;
    }
  }
}

void Follower::open(const fs::path& dir, Followed& followed) {
  if (followed.state == Followed::State::Sending) return;
  auto folder = open_below(followed.root, dir);
  auto session = folder ? SessionFolder::open(std::move(*folder))
                        : base::Result<SessionFolder>(folder.status());
  if (!session) {
    // It has just begun, or died at its start.
    const bool is_empty = session.status().code() == base::Code::NotFound;
    followed.state = is_empty ? Followed::State::Empty : Followed::State::Unreadable;
    if (is_empty) return;
    followed.not_before = Clock::now() + options_.walk_every;
    tell_once(session.status().message(), followed);
    return;
  }
  watch_.add(dir, false);
  ShipOptions options;
  options.throttle = &throttle_;
  options.is_stopped = [this] { return is_stopped() || is_late(); };
  options.final_after = options_.final_after;
  options.redaction = redaction_;
  options.meanwhile = [this] { send_live_meanwhile(); };
  followed.shipper = std::make_unique<Shipper>(std::move(*session), *ingest_, std::move(options));
  followed.told = {};
  followed.last = Step::Wait;
  followed.not_before = {};
  followed.state = Followed::State::Sending;
}

int64_t Follower::unfinished() const {
  return std::count_if(sessions_.begin(), sessions_.end(), [](const auto& one) {
    const Followed& followed = one.second;
    const bool is_over = followed.last == Step::Idle || followed.last == Step::Later;
    return followed.shipper && !is_over && !followed.shipper->is_live();
  });
}

void Follower::send_live_meanwhile() {
  const auto now = Clock::now();
  for (auto& [dir, followed] : sessions_) {
    if (!followed.shipper || now < followed.not_before) continue;
    // What goes wrong will go wrong in its own turn, too.
    followed.shipper->step_live(*live_ingest_);
    count(dir, followed);
  }
}

Follower::Round Follower::go_round() {
  bool has_sent = false;
  // From the one after the latest: where the server takes little, all have their turn.
  auto at = sessions_.upper_bound(latest_);
  for (size_t i = 0; i < sessions_.size(); ++i, ++at) {
    if (at == sessions_.end()) at = sessions_.begin();
    latest_ = at->first;
    if (!at->second.shipper || Clock::now() < at->second.not_before) continue;
    if (const auto round = go(at->first, at->second, has_sent)) return *round;
  }
  return has_sent ? Round::Sent : Round::Idle;
}

std::optional<Follower::Round> Follower::go(const fs::path& dir, Followed& followed,
                                            bool& has_sent) {
  const Step step = followed.shipper->step();
  followed.last = step;
  count(dir, followed);
  const auto rest_until = [&](std::chrono::milliseconds pause) {
    followed.not_before = Clock::now() + pause;
  };
  switch (step) {
    case Step::Sent:
      has_sent = true;
      followed.told_gone = false;
      followed.unconfirmed = 0;
      followed.backoff.succeed();
      backoff_.succeed();
      break;
    case Step::Later: tell_stuck(dir, followed); break;
    case Step::Idle:
      followed.told_stuck.clear();
      if (!followed.shipper->is_live()) finish(dir, followed);
      break;
    case Step::Gone:
      if (options_.say && !std::exchange(followed.told_gone, true)) {
        options_.say(dir.string() + ": " + followed.shipper->reason());
      }
      followed.shipper.reset();
      followed.state = Followed::State::Gone;
      rest_until(options_.ask_gone_every);
      break;
    case Step::Wait: {
      asked_wait_ = followed.shipper->wait();
      if (followed.shipper->is_for_all()) {
        tell_trouble(followed.shipper->reason());
        return Round::Wait;
      }
      tell_stuck(dir, followed);
      const std::lock_guard lock(mutex_);
      ++counts_.waits;
      rest_until(followed.backoff.next(asked_wait_));
      break;
    }
    case Step::Denied: tell_trouble(followed.shipper->reason()); return Round::Denied;
    case Step::Cancelled: return Round::Wait;
  }
  return std::nullopt;
}

// Nothing is left to send of a session that is not written any more.
void Follower::finish(const fs::path& dir, Followed& followed) {
  constexpr milliseconds kLookAgain{5000};
  if (followed.shipper->is_settling()) return;
  const std::map<std::string, std::string> unread = followed.shipper->unreadable();
  for (const auto& [name, why] : unread) tell_left(dir / name, "not sent", why, followed);
  if (followed.shipper->has_set_aside() || !unread.empty()) {
    followed.not_before = Clock::now() + kLookAgain;
    return;
  }
  const int64_t changed = changed_ns(dir);
  const std::optional<bool> is_there = followed.shipper->confirms();
  if (is_there != true) {
    followed.last = is_there ? Step::Later : Step::Wait;
    followed.unconfirmed += is_there ? 1 : 0;
    // What it lacks is sent at once; what it goes on to lack is asked for more and more rarely.
    followed.not_before = Clock::now() + followed.backoff.next(followed.shipper->wait());
    return;
  }
  followed.changed_ns = changed;
  followed.shipper.reset();
  followed.state = Followed::State::Complete;
  watch_.remove(dir);
  followed.behind.reset();
  if (may_delete(dir, followed)) delete_session(dir, followed);
}

bool Follower::may_delete(const fs::path& dir, const Followed& followed) const {
  if (!options_.delete_after || !options_.delete_session) return false;
  const bool is_old = base::wall_ns() - followed.changed_ns >= options_.delete_after->count();
  return is_old && changed_ns(dir) == followed.changed_ns && !format::is_locked(dir);
}

void Follower::delete_session(const fs::path& dir, Followed& followed) {
  constexpr std::chrono::minutes kTryAgain{10};
  options_.delete_session(dir);
  if (format::find_sessions(dir).empty()) {
    std::error_code error;
    if (options_.say && fs::exists(dir, error)) {
      options_.say(dir.string() +
                   ": the session is deleted, but its folder stays: something else is in it, or "
                   "the folder around it may not be written to");
    }
    walk_at_ = {};
    const std::lock_guard lock(mutex_);
    ++counts_.deleted;
    return;
  }
  followed.not_before = Clock::now() + kTryAgain;
  followed.changed_ns = changed_ns(dir);
  if (options_.say && !std::exchange(followed.told_kept, true)) {
    options_.say(dir.string() +
                 ": is on the server, but cannot be deleted here: may its folder "
                 "be written to?");
  }
}

bool Follower::is_drained() const {
  using State = Followed::State;
  const bool waits = options_.waits_for_writers;
  return std::all_of(sessions_.begin(), sessions_.end(), [waits](const auto& one) {
    const Followed& followed = one.second;
    if (followed.state == State::New) return false;
    if (followed.state == State::Empty) return !waits || !format::is_locked(one.first);
    if (followed.state != State::Sending) return true;
    const Shipper& shipper = *followed.shipper;
    const bool is_over = followed.last == Step::Idle || followed.unconfirmed >= kMostUnconfirmed;
    return is_over && (!waits || !shipper.is_live()) && !shipper.is_settling();
  });
}

bool Follower::is_late() const { return drains_ && Clock::now() >= drain_until_.load(); }

Follower::End Follower::drained() const {
  if (!closed_.empty()) return End::Incomplete;
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& one) {
                       const Followed& followed = one.second;
                       const bool is_sending = followed.state == Followed::State::Sending;
                       // One that may go on being written when the drain is over.
                       const bool is_live = is_sending && followed.shipper->is_live();
                       return (is_sending && !is_live) ||
                              followed.state == Followed::State::Unreadable;
                     })
             ? End::Incomplete
             : End::Drained;
}

Follower::End Follower::run() {
  bool was_away = false;  // the server
  while (!is_stopped()) {
    if (is_late()) {
      count_sessions();
      if (options_.say) options_.say("the time to drain is over; what is left stays here");
      return End::Incomplete;
    }
    if (!ingest_ && !connect()) {
      if (drains_) return End::Incomplete;
      set_denied(true);
      if (!watch_.wait(backoff_.next({}), [this] { return is_stopped(); })) break;
      continue;
    }
    ask_server();
    look();
    Round round = Round::Sent;
    // Sessions that begin meanwhile have their turn, too.
    const auto look_again = Clock::now() + options_.look_every;
    while (round == Round::Sent && !is_stopped() && !is_late() && Clock::now() < look_again) {
      round = go_round();
    }
    if (is_stopped()) break;
    // It may have come back as another one.
    const bool is_away = round == Round::Wait;
    if (std::exchange(was_away, is_away) && !is_away) ask_at_ = {};
    if (round == Round::Idle) {
      set_denied(false);
      tell_trouble("");
    }
    count_sessions();
    if (round == Round::Idle && drains_ && is_drained()) return drained();
    if (round == Round::Denied) {
      if (drains_) return End::Incomplete;
      set_denied(true);
      ingest_.reset();  // with the next one the key may be another
    }
    const bool has_turn = round == Round::Idle && has_unopened_ && unfinished() < kMostOpen;
    if (round != Round::Sent && !has_turn && !rest(round)) break;
  }
  return End::Stopped;
}

bool Follower::rest(Round round) {
  const auto stopped = [this] { return is_stopped() || is_late(); };
  if (round == Round::Idle) {
    const bool goes_on = watch_.wait(options_.look_every, stopped) && sleep_for(kGather, stopped);
    return goes_on || !is_stopped();
  }
  {
    const std::lock_guard lock(mutex_);
    ++counts_.waits;
  }
  return sleep_for(backoff_.next(asked_wait_), stopped) || !is_stopped();
}

}  // namespace gpufl::agent
