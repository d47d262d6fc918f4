// SPDX-License-Identifier: Apache-2.0
#include "store/admission.hpp"

#include <algorithm>

namespace gpufl::store {
namespace {

constexpr const char* kDiskFull = "the server's disk is full";
constexpr const char* kQuotaUsed = "the workspace has used its quota";

uint64_t positive(int64_t bytes) { return static_cast<uint64_t>(std::max<int64_t>(bytes, 0)); }

}  // namespace

void Admission::set_deleted(int64_t workspace, std::string_view session, bool is_deleted) {
  const std::lock_guard lock(mutex_);
  std::pair<int64_t, std::string> one(workspace, session);
  if (is_deleted) {
    deleted_.insert(std::move(one));
  } else {
    deleted_.erase(one);
  }
}

bool Admission::is_deleted(int64_t workspace, std::string_view session) const {
  const std::lock_guard lock(mutex_);
  return deleted_.contains(std::pair<int64_t, std::string>(workspace, session));
}

void Admission::set_room(const std::vector<Workspace>& workspaces, uint64_t usable_bytes) {
  const std::lock_guard lock(mutex_);
  usable_ = usable_bytes;
  for (const Workspace& workspace : workspaces) {
    accounts_[workspace.id].quota = workspace.quota_bytes;
  }
}

void Admission::add(int64_t workspace, int64_t bytes, int64_t texts) {
  const std::lock_guard lock(mutex_);
  Account& account = accounts_[workspace];
  account.used += bytes;
  account.texts += texts;
}

bool Admission::has_room() const {
  const std::lock_guard lock(mutex_);
  return usable_ > 0;
}

int64_t Admission::used(int64_t workspace) const {
  const std::lock_guard lock(mutex_);
  const auto found = accounts_.find(workspace);
  return found == accounts_.end() ? 0 : std::max<int64_t>(found->second.used, 0);
}

std::optional<std::string> Admission::refuse(int64_t workspace, int64_t growth) const {
  const std::lock_guard lock(mutex_);
  if (usable_ == 0) return kDiskFull;
  const auto found = accounts_.find(workspace);
  if (found == accounts_.end() || !found->second.quota || growth <= 0) return std::nullopt;
  if (positive(found->second.used + growth) > *found->second.quota) return kQuotaUsed;
  return std::nullopt;
}

Admission::ReservationPtr Admission::reserve(int64_t workspace, uint64_t bytes, bool is_window,
                                             std::string& why) {
  const std::lock_guard lock(mutex_);
  // Also of a length that somebody made up: sums must not overflow.
  if (usable_ == 0 || bytes > usable_ || reserved_ > usable_ - bytes) {
    why = kDiskFull;
    return nullptr;
  }
  Account& account = accounts_[workspace];
  // Which lines a window replaces is known once it is there.
  const uint64_t used = positive(account.used - (is_window ? account.texts : 0));
  if (account.quota && used + account.reserved + bytes > *account.quota) {
    why = kQuotaUsed;
    return nullptr;
  }
  account.reserved += bytes;
  reserved_ += bytes;
  return std::make_unique<Reservation>(*this, workspace, bytes);
}

void Admission::give_back(int64_t workspace, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  accounts_[workspace].reserved -= bytes;
  reserved_ -= bytes;
}

}  // namespace gpufl::store
