// SPDX-License-Identifier: Apache-2.0
#include "cli/run_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "client/control_socket.hpp"

namespace gpufl::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kStatusPatience = 500ms;
constexpr auto kSealPatience = 10s;    // a seal compresses what is left of the log
constexpr auto kSignalPatience = 15s;  // for all processes together

base::Json request(std::string_view command) {
  base::Json object = base::Json::object();
  return object.set("command", command);
}

}  // namespace

bool signal_ends(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  const uint64_t bit = uint64_t{1} << (number - 1);
  bool was_read = false;
  for (std::string line; std::getline(status, line);) {
    for (const char* field : {"SigBlk:", "SigIgn:", "SigCgt:"}) {
      if (!line.starts_with(field)) continue;
      was_read = true;
      if ((std::strtoull(line.c_str() + 7, nullptr, 16) & bit) != 0) return false;
    }
  }
  return was_read;
}

// Strangers are asked once: a process that joins the run later is a new one.
std::vector<pid_t> RunControl::recording() {
  std::vector<pid_t> found;
  for (const pid_t pid : client::find_controlled_processes()) {
    if (strangers_.contains(pid)) continue;
    if (!kernels_.contains(pid)) {
      const auto status = client::ask_process(pid, request("status"), kStatusPatience);
      if (!status) continue;
      const std::filesystem::path session = (*status)["dir"].as_string();
      if (session.parent_path() != folder_) {
        strangers_.insert(pid);
        continue;
      }
      kernels_[pid] = {};
    }
    found.push_back(pid);
  }
  return found;
}

RunControl::Progress RunControl::ask() {
  for (const pid_t pid : recording()) {
    const auto status = client::ask_process(pid, request("status"), kStatusPatience);
    // A session that has ended tells no count: the last one stays.
    if (!status || !(*status)["tracer"].is_object()) continue;
    const base::Json& tracer = (*status)["tracer"];
    if (tracer["detail"].is_string()) continue;  // why it does not record
    kernels_[pid] = static_cast<uint64_t>(tracer["kernels"].as_integer());
  }
  Progress progress;
  progress.processes = kernels_.size();
  for (const auto& [pid, kernels] : kernels_) {
    if (kernels) progress.kernels = progress.kernels.value_or(0) + *kernels;
  }
  return progress;
}

void RunControl::prepare_for_signal(int number, pid_t group) {
  const auto deadline = steady_clock::now() + kSignalPatience;
  for (const pid_t pid : recording()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left <= 0ms) return;
    const bool ends = getpgid(pid) == group && signal_ends(pid, number);
    (void)client::ask_process(pid, request(ends ? "end" : "flush"),
                              std::min<std::chrono::milliseconds>(left, kSealPatience));
  }
}

}  // namespace gpufl::cli
