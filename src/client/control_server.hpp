// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "capture/deep_windows.hpp"
#include "capture/service_thread.hpp"

// The other end of client/control_socket.hpp, in the process that records: one thread, deaf to
// signals, which serves one connection of this user at a time, and begins and ends the recording
// at times that were set beforehand.
namespace gpufl::client {

// What is controlled. Called on the server's thread.
class Controlled {
 public:
  virtual ~Controlled() = default;
  virtual base::Json status() = 0;  // an object
  virtual base::Status resume() = 0;
  virtual base::Status pause() = 0;
  virtual base::Status flush() = 0;
  virtual base::Status end() = 0;
  virtual base::Status mark(std::string_view text) = 0;
  virtual base::Status open_deep_window(const capture::DeepWindowRequest& request) = 0;
  virtual base::Status end_deep_window() = 0;
};

// On the monotonic clock, which all processes of a machine share.
struct Schedule {
  std::optional<int64_t> resume_at_ns;
  std::optional<int64_t> end_at_ns;
};

class ControlServer {
 public:
  ControlServer() = default;
  ~ControlServer() { stop(); }
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Opens the socket: who connects waits until start(). Without it only the schedule is served.
  base::Status listen();
  // `target` must last until stop(). False when the system has no thread for us.
  bool start(Controlled& target, const Schedule& schedule);
  // Ends the thread and removes the socket. Not on the server's own thread.
  void stop();
  // As stop(); false when the thread did not end in time. The object must then not be destroyed.
  bool stop_within(std::chrono::milliseconds patience);
  // In the child of a fork(): the socket is the parent's. The object must not be destroyed.
  void abandon();

 private:
  void ask_to_stop();
  void close_descriptors();
  void run();
  int until_next_ms() const;
  void serve_schedule();
  void serve_connection();
  base::Json answer(std::string_view line);
  base::Json outcome(std::string_view command, const base::Json& request);
  base::Json deep(const base::Json& request);

  Controlled* target_ = nullptr;
  Schedule schedule_;
  std::filesystem::path path_;
  int listener_ = -1;
  int wake_ = -1;  // readable: stop
  base::DescriptorIdentity listener_identity_, wake_identity_;
  std::atomic<bool> stops_{false};  // for a program that has closed wake_
  capture::ServiceThread thread_;
};

}  // namespace gpufl::client
