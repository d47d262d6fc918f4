// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/catalogue.hpp"

// What is known of a piece's chances before any of it has come: whether its session was deleted,
// and whether there is room for it. Any thread; nobody waits for a disk here.
namespace gpufl::store {

class Admission {
 public:
  // Room that a piece will take. It is given back with this.
  class Reservation {
   public:
    Reservation(Admission& of, int64_t workspace, uint64_t bytes)
        : of_(of), workspace_(workspace), bytes_(bytes) {}
    ~Reservation() { of_.give_back(workspace_, bytes_); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

   private:
    Admission& of_;
    const int64_t workspace_;
    const uint64_t bytes_;
  };
  using ReservationPtr = std::unique_ptr<Reservation>;

  void set_deleted(int64_t workspace, std::string_view session, bool is_deleted);
  bool is_deleted(int64_t workspace, std::string_view session) const;

  // What others may have changed: quotas, and how much of the disk may be used.
  void set_room(const std::vector<Workspace>& workspaces, uint64_t usable_bytes);
  // What a workspace gains or loses. `texts`: as much of it is live lines, to which a window is
  // about to come that takes their place.
  void add(int64_t workspace, int64_t bytes, int64_t texts = 0);
  bool has_room() const;  // on the disk
  int64_t used(int64_t workspace) const;
  // Of what is about to be kept. Nothing: there is room; else why not.
  std::optional<std::string> refuse(int64_t workspace, int64_t growth) const;
  // Of what is about to come, beside all that comes already. Null: `why` has the reason.
  ReservationPtr reserve(int64_t workspace, uint64_t bytes, bool is_window, std::string& why);

 private:
  struct Account {
    int64_t used = 0, texts = 0;
    uint64_t reserved = 0;
    std::optional<uint64_t> quota;
  };
  void give_back(int64_t workspace, uint64_t bytes);

  mutable std::mutex mutex_;
  std::map<int64_t, Account> accounts_;  // by workspace
  uint64_t usable_ = 0, reserved_ = 0;   // of the disk
  std::set<std::pair<int64_t, std::string>, std::less<>> deleted_;
};

}  // namespace gpufl::store
