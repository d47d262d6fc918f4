// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <gpufl/options.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "capture/session.hpp"
#include "client/options.hpp"

// The process's one session, behind include/gpufl/session.hpp. Never destroyed: scopes, exit
// handlers and threads of the host may outlive every static.
namespace gpufl::client {

class Client {
 public:
  // The process's. After a fork() the child has one of its own, without a session.
  static Client& instance();
  // `left_behind` is the parent's, in the child of a fork(): kept, because threads that are not
  // there may hold its lock, and never used again.
  explicit Client(Client* left_behind) : left_behind_(left_behind) {}

  bool init(const InitOptions& program);
  void shutdown();
  // As shutdown, but gives up where another thread holds the lock for long: at exit the holder may
  // be a thread that will never run again, or this one, interrupted.
  void shutdown_at_exit();
  std::string report();
  void system_start(const std::string& name);
  void system_stop(const std::string& name);
  // In the child of a fork().
  void abandon();

 private:
  bool start(const ResolvedOptions& resolved);
  void stop_session();
  void say(const std::string& line) const;

  [[maybe_unused]] Client* const left_behind_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<capture::Session> session_;
  std::filesystem::path last_dir_;
  bool debug_ = false;
  bool disabled_ = false;
};

}  // namespace gpufl::client
