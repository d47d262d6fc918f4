// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "store/session_store.hpp"

// What is not kept for ever: sessions that are too old or too many, and those that were deleted. Of
// each a row stays, by which what still comes of it is refused.
namespace gpufl::store {
namespace {

using base::Status;

constexpr int64_t kDay_ms = int64_t{24} * 3600 * 1000;
constexpr size_t kMostExpired = 10'000;  // that nobody has asked for

}  // namespace

base::Result<SessionStore::Expiring> SessionStore::find_expired(const Workspace& workspace,
                                                                int64_t now_ms) {
  const auto is_too_large = this->is_too_large(workspace);
  if (!is_too_large) return is_too_large.status();
  const std::lock_guard lock(catalogue_mutex_);
  const Retention& retention = workspace.retention;
  Expiring found;
  found.workspace = workspace;
  const auto may_go = [&](const StoredSession& one, bool is_over) {
    if (is_over) found.too_old.push_back(one);
    if (!is_over && *is_too_large) found.others.push_back(one);
  };
  const Status seen = catalogue_->each_kept_session(workspace.id, [&](const StoredSession& one) {
    if (one.is_deleted) {
      return may_go(one, now_ms - one.deleted_ms >= retention.deleted_days * kDay_ms);
    }
    const auto folder = blobs_->path_of(session_prefix(one.workspace, one.id)).parent_path();
    if (one.is_pinned || texts_.is_kept_live(folder)) return;
    if (now_ms - one.changed_ms < limits_.keep_least.count()) return;
    may_go(one, retention.keep_days && now_ms - one.changed_ms >= *retention.keep_days * kDay_ms);
  });
  if (!seen) return seen;
  // Those that somebody deleted go before those that somebody can see.
  std::sort(
      found.others.begin(), found.others.end(), [](const StoredSession& a, const StoredSession& b) {
        return std::pair(!a.is_deleted, a.changed_ms) < std::pair(!b.is_deleted, b.changed_ms);
      });
  return found;
}

// What was set aside makes room for itself: else whoever may send could make sessions go.
base::Result<bool> SessionStore::is_too_large(const Workspace& workspace) {
  if (!workspace.retention.keep_bytes) return false;
  const std::lock_guard lock(catalogue_mutex_);
  const auto aside = catalogue_->list_aside(workspace.id);
  if (!aside) return aside.status();
  int64_t used = admission_.used(workspace.id);
  for (const SetAside& one : *aside) used -= static_cast<int64_t>(one.bytes);
  return used > static_cast<int64_t>(*workspace.retention.keep_bytes);
}

base::Result<std::deque<SessionStore::Expiring>> SessionStore::find_all_expired(int64_t now_ms) {
  const auto workspaces = this->workspaces();
  if (!workspaces) return workspaces.status();
  std::deque<Expiring> all;
  for (const Workspace& workspace : *workspaces) {
    auto expired = find_expired(workspace, now_ms);
    if (!expired) return expired.status();
    all.push_back(std::move(*expired));
  }
  return all;
}

// False: there was none left.
base::Result<bool> SessionStore::expire_next(Expiring& of) {
  if (of.too_old_gone < of.too_old.size()) {
    if (Status gone = expire(of.too_old[of.too_old_gone++]); !gone) return gone;
    return true;
  }
  if (of.others_gone == of.others.size()) return false;
  // How much goes with a session is known once it is gone: lines and modules count, too.
  auto is_too_large = this->is_too_large(of.workspace);
  if (!is_too_large || !*is_too_large) return is_too_large;
  if (Status gone = expire(of.others[of.others_gone++]); !gone) return gone;
  return true;
}

// What has been looked at is taken from `expiring`.
Status SessionStore::expire_until(std::chrono::steady_clock::time_point until,
                                  std::deque<Expiring>& expiring) {
  while (!expiring.empty()) {
    const auto has_gone = expire_next(expiring.front());
    if (!has_gone) return has_gone.status();
    if (!*has_gone) expiring.pop_front();
    if (*has_gone && std::chrono::steady_clock::now() >= until) return {};
  }
  return {};
}

Status SessionStore::apply_retention(int64_t now_ms) {
  auto expiring = find_all_expired(now_ms);
  if (!expiring) return expiring.status();
  return expire_until(std::chrono::steady_clock::time_point::max(), *expiring);
}

// A few at a time, or those who send would wait for as long as it takes for all. What is left of
// the last time is looked for again, because somebody may have thought better of it.
void SessionStore::keep_retention() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ >= limits_.retention_pace) {
    looked_ = now;
    const int64_t now_ms = base::wall_ns() / 1'000'000;
    expiring_.clear();
    if (clocks_.may_trust(now_ms, base::monotonic_ns() / 1'000'000)) {
      if (auto found = find_all_expired(now_ms)) expiring_ = std::move(*found);
    }
  }
  // What fails is tried again the next time.
  if (!expire_until(now + limits_.expiry_time, expiring_)) expiring_.clear();
}

// Unless something of it has changed meanwhile.
Status SessionStore::expire(const StoredSession& session) {
  std::unique_lock lock(catalogue_mutex_);
  const auto now = catalogue_->find_session(session.workspace, session.name);
  if (!now) return now.status();
  const bool is_same = *now && (*now)->is_pinned == session.is_pinned &&
                       (*now)->is_deleted == session.is_deleted &&
                       (*now)->changed_ms == session.changed_ms;
  const auto folder = blobs_->path_of(session_prefix(session.workspace, session.id)).parent_path();
  if (!is_same || texts_.is_kept_live(folder)) return {};
  if (Status gone = purge(session); !gone) return gone;
  if (gone_.size() < kMostExpired) gone_.push_back({session.workspace, session.name});
  if (expired_.size() == kMostExpired) expired_.erase(expired_.begin());
  expired_.push_back({session.workspace, session.name,
                      session.is_deleted ? "what was deleted is gone" : "session expired"});
  lock.unlock();
  tell({{session.workspace, session.id}});
  return {};
}

// Under the mutex. The catalogue goes first: what is left of the files then is swept at the start.
Status SessionStore::purge(const StoredSession& session) {
  const auto contents = catalogue_->contents(session.id);
  if (!contents) return contents.status();
  const std::string prefix = session.is_deleted ? deleted_prefix(session.workspace, session.id)
                                                : session_prefix(session.workspace, session.id);
  int64_t texts = 0, live = 0;
  for (const StoredWindow& window : contents->windows) {
    if (window.state == WindowState::Sealed) continue;
    const auto file = blobs_->path_of(
        prefix + blob_file_name(PieceKind::Live, window.channel, window.number, {}));
    const auto size = static_cast<int64_t>(LiveTexts::size_of(file));
    texts += size;
    if (window.state == WindowState::Live) live += size;
  }
  std::vector<SharedModule> unused;
  Status done = catalogue_->transact([&]() -> Status {
    if (Status purged = catalogue_->purge(session.id); !purged) return purged;
    auto dropped = catalogue_->drop_unused_modules(session.workspace);
    if (!dropped) return dropped.status();
    unused = std::move(*dropped);
    return {};
  });
  if (!done) return done;
  admission_.set_deleted(session.workspace, session.name, true);
  int64_t freed = static_cast<int64_t>(session.bytes) + live;
  for (const SharedModule& module : unused) {
    freed += static_cast<int64_t>(module.bytes);
    done = blobs_->remove(module_name(session.workspace, module.sha256));
  }
  admission_.add(session.workspace, -freed, -texts);
  const Status removed = blobs_->remove_all(prefix);
  return done ? removed : done;
}

std::vector<SessionStore::Expiry> SessionStore::take_expired() {
  const std::lock_guard lock(catalogue_mutex_);
  return std::exchange(expired_, {});
}

std::vector<SessionStore::Gone> SessionStore::take_gone() {
  const std::lock_guard lock(catalogue_mutex_);
  return std::exchange(gone_, {});
}

base::Result<std::vector<std::string>> SessionStore::kept_sessions(int64_t workspace) {
  const std::lock_guard lock(catalogue_mutex_);
  std::vector<std::string> names;
  const Status seen = catalogue_->each_kept_session(
      workspace, [&](const StoredSession& one) { names.push_back(one.name); });
  if (!seen) return seen;
  return names;
}

base::Result<std::vector<StoredSession>> SessionStore::sessions(int64_t workspace, size_t most,
                                                                int64_t before) {
  const std::lock_guard lock(catalogue_mutex_);
  return catalogue_->newest_sessions(workspace, most, before);
}

}  // namespace gpufl::store
