// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>

#include "backend/backend.hpp"
#include "backend/nvidia/code/code_finder.hpp"

// Brings the images of code that ran from where it was loaded to the log: a thread of its own finds
// them, while there is something to find. One object per process, never destroyed: what was loaded
// while one tracer watched may run under the next. on_loaded() from any thread, the rest from the
// collector's or while it waits, but start(). Between start() and the end of a tracer only, all of
// it does something.
namespace gpufl::backend {

class ModuleWatch {
 public:
  static ModuleWatch& instance();

  // A tracer begins that keeps code; no thread of this runs then. `session_start_ns` tells sessions
  // apart.
  void start(const CodeSources& sources, int64_t session_start_ns);
  // In the callback of a module that is being loaded: copies the image, under a short lock. Of more
  // than kMaxLoadedBytes that wait, the rest is left to the search.
  void on_loaded(std::string_view image) noexcept;
  // What ran, and what was sampled: once known, some tens of nanoseconds each.
  void on_kernel(std::string_view name);
  void on_sampled(uint64_t id, std::string_view function);
  // Every round: hands over what has been found.
  void drain(int64_t now_ns, RowSink& sink);
  // A tracer ends: waits for what is under way, for two seconds at most in the session's last
  // round, else for a tenth of one. The thread is gone afterwards; samples whose image was not
  // found by then are told so, and the session's next tracer goes on looking.
  void finish(int64_t now_ns, RowSink& sink);
  // Ends the thread, if there is one. What is under way is given up.
  void stop();

 private:
  static constexpr size_t kMaxLoadedBytes = size_t{128} << 20;
  static constexpr size_t kMaxFoundBytes = size_t{64} << 20;
  static constexpr size_t kMaxKnown = size_t{1} << 20;

  struct Wanted {
    std::string function;
    std::optional<uint64_t> id;  // none: it ran
    int64_t since_ns = 0;
  };

  bool is_new(uint64_t key);
  void want(std::string_view function, std::optional<uint64_t> id);
  bool has_work() const { return !loaded_.empty() || !wanted_.empty(); }
  void wake();
  void run();
  void find_next(std::unique_lock<std::mutex>& lock);
  void deliver(FoundCode found);
  bool hand_over(int64_t now_ns, RowSink& sink);

  std::atomic<bool> is_on_{false};
  std::unordered_set<uint64_t> known_;  // what was wanted; the collector's thread's
  int64_t session_start_ns_ = -1;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<base::PageString> loaded_;
  size_t loaded_bytes_ = 0;
  std::deque<Wanted> wanted_;
  std::deque<FoundCode> found_;
  size_t found_bytes_ = 0;
  bool is_busy_ = false;

  std::atomic<bool> stop_{false};
  CodeFinder finder_{[this](FoundCode found) { deliver(std::move(found)); },
                     stop_};  // the thread's
  std::thread thread_;
};

}  // namespace gpufl::backend
