// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "agent/follower.hpp"
#include "cli/monitor_options.hpp"

// `gpufl monitor --upload`: sends what is in the monitor's folder while it records, on a thread of
// its own. Recording never waits for it.
namespace gpufl::cli {

class MonitorUpload {
 public:
  // Begins at once. `who` begins each line on stderr.
  MonitorUpload(const MonitorOptions& options, std::string who);
  ~MonitorUpload();
  MonitorUpload(const MonitorUpload&) = delete;
  MonitorUpload& operator=(const MonitorUpload&) = delete;

  // After the end of the session: sends the rest, for about a minute at most, and says how it went.
  void finish();

 private:
  const std::string who_;
  const std::string folder_;
  std::atomic<bool> is_stopped_{false};
  std::atomic<agent::Follower::End> end_{agent::Follower::End::Stopped};
  std::unique_ptr<agent::Follower> follower_;
  std::thread thread_;
};

}  // namespace gpufl::cli
