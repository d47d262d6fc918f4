// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "net/http_limits.hpp"

// Requests as lines. A thread of its own writes them, because whoever reads a log may be slow and
// the network is not to wait; what does not fit meanwhile is dropped and counted in the next line.
// add() on any thread.
namespace gpufl::server {

class AccessLogger {
 public:
  using Write = std::function<void(std::string_view line)>;

  AccessLogger(bool is_json, Write write);
  ~AccessLogger();  // after the last line is written
  AccessLogger(const AccessLogger&) = delete;
  AccessLogger& operator=(const AccessLogger&) = delete;

  void add(const net::AccessRecord& record);

 private:
  void run();

  const bool is_json_;
  const Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  uint64_t dropped_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

// A line with its newline. Nothing of a request can end it or steer a terminal.
std::string access_line(const net::AccessRecord& record, int64_t wall_ns, bool is_json);

}  // namespace gpufl::server
