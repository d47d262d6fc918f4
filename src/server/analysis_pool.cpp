// SPDX-License-Identifier: Apache-2.0
#include "server/analysis_pool.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <gpufl/version.hpp>
#include <utility>

#include <fmt/format.h>

#include "text/quantity.hpp"
#include "text/units.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using State = AnalysisState::State;
using Clock = std::chrono::steady_clock;

constexpr size_t kFailuresKept = 256;
constexpr std::chrono::milliseconds kPace(100);

// Of what an analysis says of itself: asking again would fail in the same way, as long as the
// session is the same. LimitReached is not among them: a full disk has room again.
bool is_lasting(Code code) {
  return code == Code::NotFound || code == Code::InvalidArgument || code == Code::Corrupt ||
         code == Code::TooNew;
}

// A quarter more than there was.
bool has_grown(uint64_t log_bytes, uint64_t before) { return log_bytes >= before / 4 * 5; }

}  // namespace

bool used_its_time(std::chrono::microseconds cpu_time, std::chrono::milliseconds time) {
  return cpu_time * 2 >= time;
}

std::string AnalysisRequest::key() const {
  return name_hash(fmt::format("gpufl {}\n{}\n{}", GPUFL_VERSION, subject(), stamp));
}

AnalysisPool::AnalysisPool(const CacheFolder& cache, std::vector<std::string> program,
                           const AnalysisLimits& limits, OnEnd on_end)
    : cache_(cache), program_(std::move(program)), limits_(limits), on_end_(std::move(on_end)) {
  for (size_t i = 0; i < std::max<size_t>(limits_.at_once, 1); ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), "gpufl-analysis");
  }
}

AnalysisPool::~AnalysisPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::string> AnalysisPool::command(const AnalysisRequest& request) const {
  base::Json json = base::Json::object();
  json.set("kind", request.kind).set("arguments", request.arguments);
  json.set("key", request.key()).set("log_bytes", request.log_bytes);
  json.set("memory_bytes", limits_.memory_bytes).set("parent", int64_t{::getpid()});
  std::vector<std::string> words = program_;
  words.push_back(json.dump());
  return words;
}

AnalysisState AnalysisPool::ask(const AnalysisRequest& request) {
  while (true) {
    const uint64_t ended = ended_;
    if (auto state = look(request, ended)) return std::move(*state);
  }
}

std::optional<AnalysisState> AnalysisPool::look(const AnalysisRequest& request, uint64_t ended) {
  const std::string key = request.key();
  auto result = ResultFile::open(cache_.result_file(request.subject()));
  const bool is_current = result && result->key() == key;
  const bool is_good = is_current || (result && request.is_live &&
                                      !has_grown(request.log_bytes, result->log_bytes()));
  if (is_good) {
    const std::lock_guard lock(mutex_);
    ++counts_.found;
  }
  std::optional<AnalysisState> state = is_good ? AnalysisState() : enqueue(request, ended);
  if (!state || (!is_good && !(result && request.is_live))) return state;
  state->state = State::Ready;
  state->result.emplace(std::move(*result));
  state->is_current = is_current;
  return state;
}

bool AnalysisPool::still_fails(const Failure& failure, const AnalysisRequest& request) const {
  // What was too large has not become smaller.
  const bool is_too_large = failure.is_lasting && failure.status.code() == Code::LimitReached;
  if (is_too_large && request.log_bytes >= failure.log_bytes) return true;
  const bool is_same = request.is_live ? !has_grown(request.log_bytes, failure.log_bytes)
                                       : failure.key == request.key();
  return is_same && (failure.is_lasting || Clock::now() - failure.at < limits_.retry_time);
}

std::optional<AnalysisState> AnalysisPool::enqueue(const AnalysisRequest& request, uint64_t ended) {
  AnalysisState state;
  const std::string subject = request.subject();
  const std::lock_guard lock(mutex_);
  if (const auto failure = failures_.find(subject);
      failure != failures_.end() && still_fails(failure->second, request)) {
    state.state = State::Failed;
    state.failure = failure->second.status;
    return state;
  }
  if (const auto found = jobs_.find(subject); found != jobs_.end()) {
    Job& job = *found->second;
    if (!job.is_running) job.request = request;
    state.state = job.is_running ? State::Running : State::Queued;
    state.progress = job.progress;
    return state;
  }
  // One has ended since the file was looked at, and may have left what is asked for.
  if (ended != ended_) return std::nullopt;
  if (waiting_.size() >= limits_.queued || is_stopping_) {
    state.state = State::Busy;
    return state;
  }
  auto job = std::make_shared<Job>(Job{request, false, 0});
  waiting_.push_back(job);
  jobs_.emplace(subject, std::move(job));
  changed_.notify_one();
  return state;
}

void AnalysisPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::shared_ptr<Job> job = waiting_.front();
    waiting_.pop_front();
    job->is_running = true;
    ++counts_.started;
    ++counts_.running;
    lock.unlock();
    bool lasts = false;
    const Status status = run(*job, lasts);
    cache_.prune(limits_.cache_bytes);
    lock.lock();
    --counts_.running;
    jobs_.erase(job->request.subject());
    ++ended_;
    // Of what was stopped with the server, nothing is known.
    if (!status.is_ok() && status.code() != Code::Cancelled) {
      remember(job->request, status, lasts);
    }
    if (!on_end_ || is_stopping_) continue;
    lock.unlock();
    on_end_(job->request, status);
    lock.lock();
  }
}

void AnalysisPool::remember(const AnalysisRequest& request, const Status& failure,
                            bool is_lasting) {
  ++counts_.failed;
  const std::string subject = request.subject();
  failures_.insert_or_assign(
      subject, Failure{request.key(), request.log_bytes, failure, is_lasting, Clock::now()});
  failed_.remove(subject);
  failed_.push_back(subject);
  if (failed_.size() <= kFailuresKept) return;
  failures_.erase(failed_.front());
  failed_.pop_front();
}

Status AnalysisPool::failure_of(const ChildProcess& child, bool is_late, bool& lasts) const {
  Status status = child.outcome();
  lasts = is_lasting(status.code());
  if (is_late) {
    const std::string limit = text::typed_duration(std::chrono::nanoseconds(limits_.time).count());
    lasts = used_its_time(child.cpu_time(), limits_.time);
    if (lasts) return {Code::LimitReached, "it takes longer than " + limit};
    return {Code::Unavailable,
            fmt::format("it was not ready after {}, while the machine was busy otherwise", limit)};
  }
  if (!child.ran_out_of_memory()) return status;
  lasts = true;
  return {status.code(), fmt::format("{}; start the server with more than {}", status.message(),
                                     text::bytes(static_cast<double>(limits_.memory_bytes)))};
}

Status AnalysisPool::run(Job& job, bool& lasts) {
  fs::path temporary;
  const auto fd = cache_.make_temporary(temporary);
  if (!fd) return fd.status();
  auto child = ChildProcess::start(command(job.request), *fd);
  Status status = child ? Status() : child.status();
  const auto deadline = Clock::now() + limits_.time;
  bool is_late = false;
  while (child && !(*child)->wait(kPace)) {
    is_late = is_late || Clock::now() > deadline;
    const std::lock_guard lock(mutex_);
    job.progress = (*child)->progress();
    if (is_late || is_stopping_) (*child)->kill();
  }
  if (child) status = failure_of(**child, is_late, lasts);
  ::close(*fd);
  const fs::path file = cache_.result_file(job.request.subject());
  if (status && ::rename(temporary.c_str(), file.c_str()) == 0) return status;
  if (status) status = Status::from_errno(errno, file.string());
  ::unlink(temporary.c_str());
  return status;
}

AnalysisCounts AnalysisPool::counts() const {
  const std::lock_guard lock(mutex_);
  AnalysisCounts counts = counts_;
  counts.queued = waiting_.size();
  return counts;
}

}  // namespace gpufl::server
