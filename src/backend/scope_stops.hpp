// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/range_plan.hpp"

// Where scopes of the program stop while an engine opens and closes ranges of hardware counters for
// them: the work of a scope must begin after its range, and end before it. While no engine listens,
// a scope pays one load. One object per process, never destroyed. One range is open at a time.
namespace gpufl::backend {

// What the engine is to do. A range that is discarded was given up: nobody waits for its end.
struct RangeRequest {
  bool opens = false;
  bool is_discarded = false;
  size_t group = 0;   // of metrics, as in RangePlan
  uint32_t pass = 0;  // passes that the scope's group has had
  std::string scope;
  int64_t thread = 0;  // that opened the scope, and a time inside of it (monotonic clock)
  int64_t inside_ns = 0;
  // Scopes that other threads had open meanwhile, as far as they began while the engine listened:
  // what they launched is in the range as well.
  std::set<std::string> beside;
};

struct RangeProgress {
  uint64_t measured = 0, skipped = 0;
  bool is_open = false;
  bool is_complete = false;  // all scopes that have begun have everything
  int64_t last_ns = 0;       // when a range was opened or closed last; monotonic clock
  int64_t longest_ns = 0;    // range
};

class ScopeStops {
 public:
  // A scope goes on without its range when that takes longer, and no other one stops then.
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr size_t kMostBeside = 16;  // names

  static ScopeStops& instance();

  bool is_listening() const { return listening_.load(std::memory_order_relaxed); }

  // The program's threads, while an engine listens.
  // A scope of that name is about to begin. True: its range is open, and begun() has to follow.
  bool before_begin(std::string_view name) noexcept;
  void begun(uint64_t scope, int64_t thread) noexcept;  // 0: it was not recorded
  void ended(uint64_t scope) noexcept;
  void after_fork_in_child() noexcept { listening_.store(false, std::memory_order_relaxed); }

  // The engine's thread. listen() again: with more groups.
  void begin_session();
  void listen(const std::vector<uint32_t>& passes);
  std::optional<RangeRequest> wait(std::chrono::nanoseconds at_most);
  // Answers: is it open? False: the scope has gone on without it, so it has to be closed again.
  bool opened(bool is_open);
  // Closed. Nothing: it was not measured.
  void closed(std::optional<bool> is_group_done);
  RangeProgress progress() const;
  // Scopes go on, and none stops any more.
  std::map<std::string, std::vector<size_t>> stop();
  // A scope has waited for too long.
  bool has_run_out() const;
  void set_patience(std::chrono::nanoseconds patience);  // tests

 private:
  enum class Stage : uint8_t { Idle, WantsOpen, Opening, Open, WantsClose, Closing };

  bool wait_for_answer(std::unique_lock<std::mutex>& lock, uint64_t ticket);
  void discard();
  void note_begin(std::string_view name);
  void note_beside(const std::string& name);
  void set_idle();

  std::atomic<bool> listening_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable engine_cv_, program_cv_;
  std::chrono::nanoseconds patience_ = kPatience;
  RangePlan plan_;
  Stage stage_ = Stage::Idle;
  RangeRequest range_;
  uint64_t scope_ = 0;  // whose range it is, once it has begun
  std::thread::id owner_;
  std::map<std::thread::id, std::vector<std::string>> begun_;  // that are open, by thread
  uint64_t ticket_ = 0, answered_ = 0;
  bool has_run_out_ = false;
  int64_t opened_ns_ = 0;
  RangeProgress progress_;
};

}  // namespace gpufl::backend
