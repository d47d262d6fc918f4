// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "store/people.hpp"

// What was done, for those who ask afterwards. What cannot be written is complained about. Any
// thread.
namespace gpufl::hosting {

class AuditTrail {
 public:
  using Complain = std::function<void(const std::string& line)>;
  AuditTrail(store::People& people, Complain complain)
      : people_(people), complain_(std::move(complain)) {}

  // It is on the disk when this returns. `workspace` 0: it concerns none of them.
  void write(int64_t workspace, std::string_view actor, std::string_view action,
             std::string_view subject);
  // In every workspace that the user is in, and nowhere else: who else there is concerns nobody.
  void write_of(const store::User& user, std::string_view action, std::string_view subject);
  // The same, but soon: how long it takes tells nobody whether there is such a user.
  void note_of(const store::User& user, std::string_view action, std::string_view subject);
  void note(int64_t workspace, std::string_view actor, std::string_view action,
            std::string_view subject);
  // Writes what was noted. Where that fails the rest waits for the next time.
  void flush();

 private:
  bool try_write(int64_t workspace, std::string_view actor, std::string_view action,
                 std::string_view subject);

  store::People& people_;
  const Complain complain_;
  std::mutex mutex_;  // guards what follows
  struct Note {
    int64_t workspace;
    std::string actor, action, subject;
    int times;
  };
  std::deque<Note> notes_;
  size_t lost_ = 0;
};

}  // namespace gpufl::hosting
