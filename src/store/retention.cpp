// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "store/session_store.hpp"

// What is not kept for ever: sessions that are too old or too many, and those that were deleted. Of
// each a row stays, by which what still comes of it is refused.
namespace gpufl::store {
namespace {

using base::Status;

constexpr int64_t kDay_ms = int64_t{24} * 3600 * 1000;
constexpr size_t kMostExpired = 10'000;  // that nobody has asked for

}  // namespace

// The oldest first.
base::Result<SessionStore::Expired> SessionStore::find_expired(const Workspace& workspace,
                                                               int64_t now_ms) {
  const std::lock_guard lock(catalogue_mutex_);
  const Retention& retention = workspace.retention;
  Expired found;
  const Status seen = catalogue_->each_kept_session(workspace.id, [&](const StoredSession& one) {
    if (one.is_deleted) {
      const bool is_over = now_ms - one.deleted_ms >= retention.deleted_days * kDay_ms;
      (is_over ? found.too_old : found.others).push_back(one);
      return;
    }
    const auto folder = blobs_->path_of(session_prefix(one.workspace, one.id)).parent_path();
    if (one.is_pinned || texts_.is_kept_live(folder)) return;
    if (now_ms - one.changed_ms < limits_.keep_least.count()) return;
    const bool is_over =
        retention.keep_days && now_ms - one.changed_ms >= *retention.keep_days * kDay_ms;
    (is_over ? found.too_old : found.others).push_back(one);
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

Status SessionStore::apply_retention(int64_t now_ms) {
  const auto workspaces = this->workspaces();
  if (!workspaces) return workspaces.status();
  for (const Workspace& workspace : *workspaces) {
    const auto expired = find_expired(workspace, now_ms);
    if (!expired) return expired.status();
    for (const StoredSession& one : expired->too_old) {
      if (Status gone = expire(one); !gone) return gone;
    }
    // How much goes with a session is known once it is gone: lines and modules count, too.
    for (const StoredSession& one : expired->others) {
      const auto is_too_large = this->is_too_large(workspace);
      if (!is_too_large) return is_too_large.status();
      if (!*is_too_large) break;
      if (Status gone = expire(one); !gone) return gone;
    }
  }
  return {};
}

// Unless something of it has changed meanwhile. What is sent is committed between two of them.
Status SessionStore::expire(const StoredSession& session) {
  const std::lock_guard lock(catalogue_mutex_);
  const auto now = catalogue_->find_session(session.workspace, session.name);
  if (!now) return now.status();
  const bool is_same = *now && (*now)->is_pinned == session.is_pinned &&
                       (*now)->is_deleted == session.is_deleted &&
                       (*now)->changed_ms == session.changed_ms;
  const auto folder = blobs_->path_of(session_prefix(session.workspace, session.id)).parent_path();
  if (!is_same || texts_.is_kept_live(folder)) return {};
  if (Status gone = purge(session); !gone) return gone;
  if (expired_.size() == kMostExpired) expired_.erase(expired_.begin());
  expired_.push_back({session.workspace, session.name,
                      session.is_deleted ? "what was deleted is gone" : "session expired"});
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

base::Result<std::vector<StoredSession>> SessionStore::sessions(int64_t workspace, size_t most,
                                                                int64_t before) {
  const std::lock_guard lock(catalogue_mutex_);
  return catalogue_->newest_sessions(workspace, most, before);
}

}  // namespace gpufl::store
