// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "server/analysis_request.hpp"
#include "server/cache_folder.hpp"
#include "server/child_process.hpp"
#include "server/result_file.hpp"

// Analyses of whole sessions, each in a child process under a memory limit, one or two at a time,
// the others in a bounded queue. Results go to the cache and are found there again, also by the
// next server. Any thread; nothing here waits for an analysis but the pool's own threads.
namespace gpufl::server {

struct AnalysisLimits {
  uint64_t memory_bytes = uint64_t{2} << 30;
  std::chrono::milliseconds time = std::chrono::minutes(10);
  size_t at_once = 1;
  size_t queued = 64;
  uint64_t cache_bytes = uint64_t{2} << 30;
  // After a failure for a reason that may pass: a full disk, a busy machine, a child that was
  // killed.
  std::chrono::milliseconds retry_time = std::chrono::seconds(30);
};

// Whether an analysis that was stopped after `time` had a processor for most of it, so that it
// would not be ready in time the next time either.
bool used_its_time(std::chrono::microseconds cpu_time, std::chrono::milliseconds time);

struct AnalysisState {
  enum class State : uint8_t { Ready, Queued, Running, Failed, Busy };
  State state = State::Queued;
  std::optional<ResultFile> result = {};  // of Ready
  bool is_current = true;                 // of Ready: made of what is there now
  double progress = 0;
  base::Status failure = {};  // LimitReached: too large or too slow, or the disk is full
};

struct AnalysisCounts {
  uint64_t started = 0, failed = 0, found = 0;
  size_t running = 0, queued = 0;
};

class AnalysisPool {
 public:
  using OnEnd = std::function<void(const AnalysisRequest& request, const base::Status& status)>;

  // `program`: what to start, before the request. `on_end` is called on the pool's threads.
  AnalysisPool(const CacheFolder& cache, std::vector<std::string> program,
               const AnalysisLimits& limits, OnEnd on_end);
  ~AnalysisPool();  // kills what runs
  AnalysisPool(const AnalysisPool&) = delete;
  AnalysisPool& operator=(const AnalysisPool&) = delete;

  // The result, where there is one; else how far it is, and where it was not asked for before it
  // is from now on. A live session's older result is good until its log has grown by a quarter,
  // and is given while the next is made.
  AnalysisState ask(const AnalysisRequest& request);
  AnalysisCounts counts() const;

  const AnalysisLimits& limits() const { return limits_; }
  // The words that start a child for a request.
  std::vector<std::string> command(const AnalysisRequest& request) const;

 private:
  struct Job {
    AnalysisRequest request;
    bool is_running = false;
    double progress = 0;
  };

  struct Failure {
    std::string key;
    uint64_t log_bytes = 0;
    base::Status status;
    bool is_lasting = false;  // as long as the session is the same
    std::chrono::steady_clock::time_point at;
  };

  bool still_fails(const Failure& failure, const AnalysisRequest& request) const;
  void work();
  // `lasts`: a failure that comes again.
  base::Status run(Job& job, bool& lasts);
  base::Status failure_of(const ChildProcess& child, bool is_late, bool& lasts) const;
  void remember(const AnalysisRequest& request, const base::Status& failure, bool is_lasting);
  // Nothing: look again, because more analyses than `ended` have ended.
  std::optional<AnalysisState> look(const AnalysisRequest& request, uint64_t ended);
  std::optional<AnalysisState> enqueue(const AnalysisRequest& request, uint64_t ended);

  const CacheFolder& cache_;
  const std::vector<std::string> program_;
  const AnalysisLimits limits_;
  const OnEnd on_end_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  // By subject. A session that is recorded has another key every second, and one analysis of it
  // under way is enough.
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // waiting and running
  std::map<std::string, Failure> failures_;
  std::list<std::string> failed_;  // subjects, oldest first
  AnalysisCounts counts_;
  std::atomic<uint64_t> ended_ = 0;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpufl::server
