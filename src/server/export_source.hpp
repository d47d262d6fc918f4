// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "net/http_message.hpp"
#include "server/child_process.hpp"

// An export on its way: what a child writes to a pipe goes to the client, and nothing of it is
// kept. A client that leaves ends the child. Worker threads, one at a time.
namespace gpufl::server {

class ExportSource : public net::BodySource {
 public:
  struct Plan {
    std::vector<std::string> command;
    std::filesystem::path scratch;  // a folder of its own, deleted in the end; empty: none
    std::chrono::milliseconds time;
    std::atomic<int>& under_way;  // counts it, for as long as it lives
  };
  // Waits for the first bytes, so that what fails at once is an answer and not a cut connection.
  // Cancelled: `is_cancelled` said so.
  static base::Result<std::unique_ptr<ExportSource>> start(
      const Plan& plan, const std::function<bool()>& is_cancelled);
  ~ExportSource() override;

  bool next(std::string& out) override;

 private:
  explicit ExportSource(const Plan& plan);
  base::Status begin(const std::vector<std::string>& command);
  // True: there is something to read, or the end.
  bool wait_for_output(std::chrono::milliseconds at_most) const;
  // Reads once; false: the child has closed its output.
  bool read_some(std::string& out);

  std::filesystem::path scratch_;
  std::atomic<int>& under_way_;
  std::chrono::steady_clock::time_point deadline_;
  std::unique_ptr<ChildProcess> child_;
  int output_ = -1;
  std::string first_;
};

}  // namespace gpufl::server
