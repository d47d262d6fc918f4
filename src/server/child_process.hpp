// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"

// A child that works for the server: its output goes to a descriptor, and on descriptor 3 it says
// how far it is and how it ended, a JSON object a line. Is killed, and waited for, with the object;
// what it has started itself ends with it, however it ends. One thread at a time. Safe beside other
// threads, because nothing of ours runs between fork and exec.
namespace gpufl::server {

// The descriptor on which a child reports, and its exit code where memory was not enough.
inline constexpr int kReportFd = 3;
inline constexpr int kExitOutOfMemory = 75;

class ChildProcess {
 public:
  // `output` is the child's standard output; ours to close.
  static base::Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& command,
                                                           int output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Takes in what the child says, for up to that long. True: it has ended.
  bool wait(std::chrono::milliseconds at_most);
  void kill();

  double progress() const { return progress_; }  // 0 to 1
  // After its end: what it reported, or why it could not.
  base::Status outcome() const;
  // Likewise: whether its own limit of memory ended it, and the time of processors that it took.
  bool ran_out_of_memory() const;
  std::chrono::microseconds cpu_time() const { return cpu_time_; }

 private:
  ChildProcess(pid_t pid, int report) : pid_(pid), report_(report) {}
  void take_line(std::string_view line);
  // Whether it has ended; it is not reaped by that.
  bool is_over(bool waits) const;
  void reap();

  pid_t pid_;
  int report_;
  bool has_ended_ = false;
  bool was_killed_ = false;
  int wait_status_ = 0;
  double progress_ = 0;
  std::chrono::microseconds cpu_time_{0};
  std::string partial_;
  std::optional<base::Status> reported_;
};

}  // namespace gpufl::server
