// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "net/http_message.hpp"
#include "server/child_process.hpp"

// An export on its way: what a child writes to a pipe goes to the client, and nothing of it is
// kept. A client that leaves ends the child. Worker threads, one at a time.
namespace gpufl::server {

// One of those that may be under way, given back with the object.
class ExportSlot {
 public:
  // Nothing: all are taken.
  static std::optional<ExportSlot> take(std::atomic<int>& under_way, int most);
  ~ExportSlot();
  ExportSlot(ExportSlot&& other) noexcept : under_way_(std::exchange(other.under_way_, nullptr)) {}
  ExportSlot& operator=(ExportSlot&&) = delete;

 private:
  explicit ExportSlot(std::atomic<int>* under_way) : under_way_(under_way) {}

  std::atomic<int>* under_way_;
};

class ExportSource : public net::BodySource {
 public:
  struct Plan {
    std::vector<std::string> command;
    std::filesystem::path scratch;  // a folder of its own, deleted in the end; empty: none
    std::chrono::milliseconds time;
    ExportSlot slot;
    std::optional<ExportSlot> share = {};  // of those that its site may have
  };
  // Waits for the first bytes, so that what fails at once is an answer and not a cut connection.
  // Cancelled: `is_cancelled` said so.
  static base::Result<std::unique_ptr<ExportSource>> start(
      Plan plan, const std::function<bool()>& is_cancelled);
  ~ExportSource() override;

  bool next(std::string& out) override;

 private:
  explicit ExportSource(Plan plan);
  base::Status begin();
  // True: there is something to read, or the end.
  bool wait_for_output(std::chrono::milliseconds at_most) const;
  // Reads once; false: the child has closed its output.
  bool read_some(std::string& out);

  Plan plan_;
  std::chrono::steady_clock::time_point deadline_;
  std::unique_ptr<ChildProcess> child_;
  int output_ = -1;
  std::string first_;
};

}  // namespace gpufl::server
