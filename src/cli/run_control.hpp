// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

// The processes of a run that record, asked over their control sockets. One thread; every call is
// bounded in time, however the processes are.
namespace gpufl::cli {

// Who did not answer, and when to ask again: soon at first, because a process of the run may only
// be slow, then ever later, because one that is stopped stays silent.
class Silences {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  bool is_due(pid_t pid, TimePoint now) const;
  void add(pid_t pid, TimePoint now);
  void end(pid_t pid) { silences_.erase(pid); }

 private:
  struct Silence {
    TimePoint::duration pause{0};
    TimePoint until;
  };
  std::map<pid_t, Silence> silences_;
};

class RunControl {
 public:
  // `folder` is the run's: sessions are folders in it.
  explicit RunControl(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Progress {
    size_t processes = 0;  // that record or have recorded
    // Of all of them, as far as they were asked in time. None: nobody records the GPU's work.
    std::optional<uint64_t> kernels;
  };
  Progress ask();

  // Before signal `number` goes to process group `group`: a session whose process that will end
  // is sealed, every other is flushed.
  void prepare_for_signal(int number, pid_t group);

 private:
  enum class Whom { All, Unknown };  // of the run and those that may be; the latter alone
  void ask_statuses(Whom whom);

  const std::filesystem::path folder_;
  std::set<pid_t> strangers_;  // listen, and are no part of the run
  Silences silences_;
  std::map<pid_t, std::optional<uint64_t>> kernels_;  // of the run's processes
};

// Whether `number` would end the process: neither caught, ignored nor blocked there.
bool signal_ends(pid_t pid, int number);

}  // namespace gpufl::cli
