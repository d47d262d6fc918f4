// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/follower.hpp"
#include "base/clock.hpp"

// What a follower says and counts.
namespace gpufl::agent {

namespace fs = std::filesystem;

FollowCounts Follower::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Follower::tell_trouble(const std::string& text) {
  if (text == trouble_) return;
  trouble_ = text;
  if (options_.say) options_.say(text.empty() ? "sending works again" : text);
}

void Follower::tell_stuck(const fs::path& dir, Followed& followed) {
  const std::string& why = followed.shipper->reason();
  if (why == followed.told_stuck) return;
  followed.told_stuck = why;
  if (options_.say) options_.say(dir.string() + ": " + why);
}

void Follower::count(const fs::path& dir, Followed& followed) {
  const ShipCounts& now = followed.shipper->counts();
  const bool has_refused = now.refused > followed.told.refused;
  {
    const std::lock_guard lock(mutex_);
    if (now.pieces > followed.told.pieces) counts_.acknowledged_wall_ns = base::wall_ns();
    counts_.pieces += now.pieces - followed.told.pieces;
    counts_.bytes += now.bytes - followed.told.bytes;
    counts_.rows += now.rows - followed.told.rows;
  }
  followed.told = now;
  if (!has_refused) return;
  for (const auto& [name, why] : followed.shipper->set_aside()) {
    tell_left(dir / name, "not taken", why, followed);
  }
}

void Follower::tell_once(const std::string& text, Followed& followed) {
  if (followed.told_once.insert(text).second && options_.say) options_.say(text);
}

void Follower::tell_left(const fs::path& file, const char* what, const std::string& why,
                         Followed& followed) {
  if (!followed.told_aside.insert(file.filename()).second) return;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.set_aside;
  }
  if (options_.say) options_.say(file.string() + ": " + what + ": " + why);
}

void Follower::count_sessions() {
  using State = Followed::State;
  FollowCounts now;
  const auto at = Clock::now();
  now.sessions = sessions_.size();
  for (auto& [dir, followed] : sessions_) {
    now.live += followed.shipper && followed.shipper->is_live() ? 1 : 0;
    now.complete += followed.state == State::Complete ? 1 : 0;
    now.gone += followed.state == State::Gone ? 1 : 0;
    const uint64_t left = followed.shipper ? followed.shipper->bytes_left() : 0;
    now.left_bytes += left;
    if (left == 0) followed.behind.reset();
    if (left > 0 && !followed.behind) followed.behind = at;
    if (followed.behind) {
      now.lag = std::max(now.lag, std::chrono::floor<std::chrono::seconds>(at - *followed.behind));
    }
  }
  const std::lock_guard lock(mutex_);
  counts_.sessions = now.sessions;
  counts_.live = now.live;
  counts_.complete = now.complete;
  counts_.gone = now.gone;
  counts_.left_bytes = now.left_bytes;
  counts_.lag = now.lag;
}

void Follower::set_denied(bool is_denied) {
  const std::lock_guard lock(mutex_);
  counts_.is_denied = is_denied;
  counts_.waits += is_denied ? 1 : 0;
}

}  // namespace gpufl::agent
