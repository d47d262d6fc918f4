// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/backend.hpp"
#include "capture/change_history.hpp"

// Which scope a thread was in, some time ago: the innermost one over time, thread by thread, and
// which thread was the only one with a scope. Bounded (12 MB): questions about what it has
// forgotten are counted. One thread: the collector's. A question costs some ten nanoseconds.
namespace gpufl::capture {

class ScopeHistory {
 public:
  class Thread {
   public:
    Thread(int64_t id, ChangeHistory::Budget& budget) : id_(id), innermost_(budget) {}

   private:
    friend ScopeHistory;
    const int64_t id_;  // the system's
    ChangeHistory innermost_;
    bool has_scope_ = false;  // as of the last settle()
    uint32_t unsettled_ = 0;  // turns that wait for settle()
    uint32_t lives_ = 0;      // threads of this id that have not ended
  };

  // A thread of that id has come, or gone with all its scopes closed. Ids are used again: the next
  // thread of the same id continues the history.
  Thread& enter(int64_t thread);
  void leave(Thread& thread);
  // The innermost scope of `thread` is `after` from `time_ns` on, and was `before`; 0: none.
  void change(Thread& thread, int64_t time_ns, int64_t before, int64_t after);
  // Every change before `until_ns` has been told, but for those on their way from a thread that was
  // interrupted at the wrong moment: they count from the newest settled change on.
  void settle(int64_t until_ns);

  // As backend::RowSink::scope_at(). A scope holds from its begin, included, to its end, excluded.
  backend::ScopeRef at(int64_t thread, int64_t time_ns);
  // Whether any thread was in a scope at some time of [begin_ns, end_ns).
  bool is_any_open(int64_t begin_ns, int64_t end_ns);
  uint64_t unknown() const { return unknown_; }  // questions about what is forgotten

 private:
  static constexpr size_t kMaxChanges = size_t{1} << 19;
  static constexpr size_t kMaxThreads = 4096;
  static constexpr int64_t kNobody = 0, kSeveral = -1;
  // A thread got its first scope, or lost its last one.
  struct Turn {
    int64_t time_ns;
    Thread* thread;
    bool has_scope;
  };
  struct Slot {
    int64_t id = -1;
    Thread* thread = nullptr;
  };

  Thread* find(int64_t thread);
  void forget_ended();
  backend::ScopeRef forgotten() {
    ++unknown_;
    return {};
  }

  ChangeHistory::Budget budget_ = kMaxChanges;
  std::unordered_map<int64_t, std::unique_ptr<Thread>> threads_;
  std::array<Slot, 64> recent_;      // of find(), by the low bits of the id
  int64_t ended_forgotten_ns_ = -1;  // up to then threads that ended are forgotten
  ChangeHistory only_{budget_};      // the thread that alone has a scope, kNobody or kSeveral
  std::vector<Turn> turns_;          // not settled
  int64_t with_scope_ = 0;           // threads
  int64_t sum_of_ids_ = 0;           // of those: of one thread, its id
  int64_t settled_ns_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace gpufl::capture
