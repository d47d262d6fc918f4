// SPDX-License-Identifier: Apache-2.0
#include "hosting/audit_trail.hpp"

#include <algorithm>
#include <utility>

namespace gpufl::hosting {
namespace {

constexpr size_t kMostNotes = 500;  // that wait
constexpr size_t kLongestSubject = 400;

}  // namespace

bool AuditTrail::try_write(int64_t workspace, std::string_view actor, std::string_view action,
                           std::string_view subject) {
  const base::Status done = people_.audit(workspace, actor, action, subject);
  if (!done) complain_("the audit log could not be written: " + done.message());
  return done.is_ok();
}

void AuditTrail::write(int64_t workspace, std::string_view actor, std::string_view action,
                       std::string_view subject) {
  (void)try_write(workspace, actor, action, subject);
}

void AuditTrail::write_of(const store::User& user, std::string_view action,
                          std::string_view subject) {
  if (user.roles.empty()) write(0, user.name, action, subject);
  for (const auto& [workspace, role] : user.roles) write(workspace, user.name, action, subject);
}

void AuditTrail::note_of(const store::User& user, std::string_view action,
                         std::string_view subject) {
  if (user.roles.empty()) note(0, user.name, action, subject);
  for (const auto& [workspace, role] : user.roles) note(workspace, user.name, action, subject);
}

void AuditTrail::note(int64_t workspace, std::string_view actor, std::string_view action,
                      std::string_view subject) {
  subject = subject.substr(0, kLongestSubject);
  const std::lock_guard lock(mutex_);
  const auto same = std::find_if(notes_.begin(), notes_.end(), [&](const Note& one) {
    return one.workspace == workspace && one.actor == actor && one.action == action &&
           one.subject == subject;
  });
  if (same != notes_.end()) {
    ++same->times;
  } else if (notes_.size() < kMostNotes) {
    notes_.push_back({workspace, std::string(actor), std::string(action), std::string(subject), 1});
  } else {
    ++lost_;
  }
}

void AuditTrail::flush() {
  std::deque<Note> notes;
  size_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(notes_);
    lost = std::exchange(lost_, 0);
  }
  bool is_written = true;
  while (!notes.empty() && is_written) {
    const Note& one = notes.front();
    const std::string times = one.times > 1 ? ", " + std::to_string(one.times) + " times" : "";
    is_written = try_write(one.workspace, one.actor, one.action, one.subject + times);
    if (is_written) notes.pop_front();
  }
  if (lost > 0 && is_written && try_write(0, "", "entries lost", std::to_string(lost))) lost = 0;
  const std::lock_guard lock(mutex_);
  lost_ += lost;
  notes_.insert(notes_.begin(), notes.begin(), notes.end());
  for (; notes_.size() > kMostNotes; ++lost_) notes_.pop_back();
}

}  // namespace gpufl::hosting
