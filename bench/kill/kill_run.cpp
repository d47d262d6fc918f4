// SPDX-License-Identifier: Apache-2.0
#include "bench/kill/kill_run.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "bench/kill/progress_page.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::bench {

namespace {

constexpr int64_t kPromise_ns = 250'000'000;
// A counter is sampled at most every 100 ms, a synthetic kernel ends a little after it is made:
// so much older than the promise may the newest record of these kinds be.
constexpr int64_t kCounterPeriod_ns = 100'000'000;
constexpr int64_t kKernelPeriod_ns = 10'000'000;
constexpr int64_t kIdsPerKernel = 3;  // correlation ids that a synthetic kernel takes

// What the log holds, in monotonic time.
struct Found : format::Visitor {
  explicit Found(int64_t start_ns) : start_ns(start_ns) {}

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    using format::Kind;
    for (size_t i = 0; i < batch.rows(); ++i) {
      if (batch.kind() == Kind::Scope) {
        namespace column = format::scope_column;
        const auto tag = dictionaries.get(format::Dict::Name, batch.at(column::kTag, i), "");
        scope_ends[std::string(tag)].push_back(start_ns + batch.at(column::kStart, i) +
                                               batch.at(column::kDuration, i));
      } else if (batch.kind() == Kind::ScopeOpen) {
        namespace column = format::scope_open_column;
        open_names.emplace_back(dictionaries.get(format::Dict::Name, batch.at(column::kName, i)));
      } else if (batch.kind() == Kind::Counter) {
        newest_counter_ns =
            std::max(newest_counter_ns, start_ns + batch.at(format::counter_column::kTime, i));
      } else if (batch.kind() == Kind::Kernel) {
        newest_kernel_ns =
            std::max(newest_kernel_ns, start_ns + batch.at(format::kernel_column::kStart, i));
        kernels.insert(batch.at(format::kernel_column::kCorrelation, i));
      }
    }
  }

  const int64_t start_ns;
  std::map<std::string, std::vector<int64_t>> scope_ends;  // by tag
  std::vector<std::string> open_names;
  int64_t newest_counter_ns = 0;
  int64_t newest_kernel_ns = 0;
  std::set<int64_t> kernels;  // correlation ids
};

std::string tag_of(int thread) { return "t" + std::to_string(thread); }

// Of each thread the first scopes are there, up to some that came too late: none is missing in
// between.
void judge_gaps(const ProgressPage& page, Found& found, KillOutcome& outcome) {
  for (int t = 0; t < ProgressPage::kThreads; ++t) {
    const ProgressPage::Thread& thread = page.threads[t];
    const auto noted = static_cast<size_t>(thread.ended.load(std::memory_order_acquire));
    std::vector<int64_t>& ends = found.scope_ends[tag_of(t)];
    std::sort(ends.begin(), ends.end());
    for (size_t i = 0; i < std::min(ends.size(), noted); ++i) {
      if (ends[i] <= thread.end_ns[i]) continue;
      outcome.failures.push_back("scope " + std::to_string(i) + " of thread " + std::to_string(t) +
                                 " is missing, and later ones are not");
      break;
    }
  }
}

void judge_scopes(const ProgressPage& page, const Found& found, int64_t killed_ns,
                  KillOutcome& outcome) {
  int64_t newest_ns = 0;
  for (int t = 0; t < ProgressPage::kThreads; ++t) {
    const ProgressPage::Thread& thread = page.threads[t];
    const int64_t ended = thread.ended.load(std::memory_order_acquire);
    uint64_t owed = 0;
    for (int64_t i = 0; i < ended; ++i) owed += thread.end_ns[i] <= killed_ns - kPromise_ns;
    uint64_t readable = 0;
    const auto ends = found.scope_ends.find(tag_of(t));
    if (ends != found.scope_ends.end()) {
      for (const int64_t end_ns : ends->second) {
        readable += end_ns <= killed_ns - kPromise_ns;
        newest_ns = std::max(newest_ns, end_ns);
      }
    }
    outcome.scopes_owed += owed;
    outcome.scopes_found += std::min(owed, readable);
  }
  outcome.newest_age_ms = static_cast<double>(killed_ns - newest_ns) / 1e6;
  if (outcome.scopes_found < outcome.scopes_owed) {
    outcome.late.push_back(std::to_string(outcome.scopes_owed - outcome.scopes_found) +
                           " scopes older than 250 ms are missing");
  }
}

void judge_rest(const Found& found, int64_t killed_ns, KillOutcome& outcome) {
  if (found.newest_counter_ns < killed_ns - kPromise_ns - kCounterPeriod_ns) {
    outcome.late.emplace_back("the newest counter sample is too old");
  }
  if (found.newest_kernel_ns < killed_ns - kPromise_ns - kKernelPeriod_ns) {
    outcome.late.emplace_back("the newest kernel is too old");
  }
  // Synthetic kernels are numbered in the order in which they are made: with the newest there and
  // no number missing, all of them are.
  const int64_t expected =
      found.kernels.empty()
          ? 0
          : (*found.kernels.rbegin() - *found.kernels.begin()) / kIdsPerKernel + 1;
  if (found.kernels.empty() || static_cast<int64_t>(found.kernels.size()) != expected) {
    outcome.failures.push_back(std::to_string(found.kernels.size()) + " kernels where " +
                               std::to_string(expected) + " should be");
  }
  if (std::find(found.open_names.begin(), found.open_names.end(), "whole run") ==
      found.open_names.end()) {
    outcome.failures.emplace_back("the scope that was open at the kill is not shown");
  }
}

void judge_verdict(const std::filesystem::path& session, KillOutcome& outcome) {
  const format::VerifyResult result = format::verify_session(session);
  outcome.verdict = format::to_string(result.verdict);
  outcome.reasons = result.reasons;
  if (result.verdict != format::Verdict::Losses || result.reasons.empty()) {
    outcome.failures.push_back("verify says " + outcome.verdict + " and not what is missing");
  }
  if (result.live || result.ended) outcome.failures.emplace_back("verify thinks it lives or ended");
}

pid_t start_victim(const std::string& victim, const std::string& logs, const std::string& page) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("GPUFL_BACKEND", "synthetic", 1);
    execl(victim.c_str(), victim.c_str(), logs.c_str(), page.c_str(), nullptr);
    _exit(127);
  }
  return child;
}

base::Result<format::SessionReader> open_only_session(const std::filesystem::path& logs) {
  const auto sessions = format::find_sessions(logs);
  if (sessions.size() != 1) return base::Status(base::Code::NotFound, "there is not one session");
  return format::SessionReader::open(sessions[0]);
}

bool has_something_of_each_kind(const std::filesystem::path& logs) {
  const auto reader = open_only_session(logs);
  if (!reader) return false;
  Found found(reader->header().start_monotonic_ns);
  reader->read(found);
  bool has_scopes = true;
  for (int t = 0; t < ProgressPage::kThreads; ++t) {
    has_scopes = has_scopes && !found.scope_ends[tag_of(t)].empty();
  }
  return has_scopes && !found.open_names.empty() && !found.kernels.empty() &&
         found.newest_counter_ns != 0;
}

}  // namespace

KillOutcome kill_and_read(const std::string& victim, std::chrono::milliseconds life) {
  char pattern[] = "/tmp/gpufl_kill_XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern);
  KillOutcome outcome;
  const ProgressPage* page = ProgressPage::map(folder / "progress");
  const pid_t child = start_victim(victim, folder / "logs", folder / "progress");
  if (!base::eventually([&] { return has_something_of_each_kind(folder / "logs"); })) {
    outcome.failures.emplace_back("the program never recorded");
  }
  std::this_thread::sleep_for(life);
  const int64_t killed_ns = base::monotonic_ns();
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) outcome.failures.emplace_back("the program ended before it was killed");

  if (const auto reader = open_only_session(folder / "logs"); reader) {
    Found found(reader->header().start_monotonic_ns);
    reader->read(found);
    judge_gaps(*page, found, outcome);
    judge_scopes(*page, found, killed_ns, outcome);
    judge_rest(found, killed_ns, outcome);
    judge_verdict(reader->dir(), outcome);
  } else {
    outcome.failures.push_back(reader.status().text());
  }
  std::filesystem::remove_all(folder);
  return outcome;
}

std::chrono::milliseconds random_life() {
  uint32_t bits = 0;
  if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) std::abort();
  return std::chrono::milliseconds(300 + bits % 1700);
}

}  // namespace gpufl::bench
