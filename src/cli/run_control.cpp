// SPDX-License-Identifier: Apache-2.0
#include "cli/run_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "client/control_socket.hpp"

namespace gpufl::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Both are for all processes together.
constexpr auto kStatusPatience = 500ms;
constexpr auto kSealPatience = 10s;  // a seal compresses what is left of the log
constexpr auto kShortestPause = 1s, kLongestPause = 16s;

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

bool Silences::is_due(pid_t pid, TimePoint now) const {
  const auto found = silences_.find(pid);
  return found == silences_.end() || now >= found->second.until;
}

void Silences::add(pid_t pid, TimePoint now) {
  Silence& silence = silences_[pid];
  silence.pause = std::clamp<TimePoint::duration>(silence.pause * 2, kShortestPause, kLongestPause);
  silence.until = now + silence.pause;
}

// Strangers are asked once: a process that joins the run later is a new one.
void RunControl::ask_statuses(Whom whom) {
  const auto now = steady_clock::now();
  std::vector<client::ControlQuestion> questions;
  for (const pid_t pid : client::find_controlled_processes()) {
    const bool is_asked = whom == Whom::All || !kernels_.contains(pid);
    if (is_asked && !strangers_.contains(pid) && silences_.is_due(pid, now)) {
      questions.push_back({pid, request("status")});
    }
  }
  const auto answers = client::ask_processes(questions, kStatusPatience);
  for (size_t i = 0; i < questions.size(); ++i) {
    const pid_t pid = questions[i].pid;
    if (!answers[i]) {
      silences_.add(pid, steady_clock::now());
      continue;
    }
    silences_.end(pid);
    const base::Json& status = *answers[i];
    const std::filesystem::path session = status["dir"].as_string();
    if (session.parent_path() != folder_) {
      if (!kernels_.contains(pid)) strangers_.insert(pid);
      continue;
    }
    std::optional<uint64_t>& kernels = kernels_[pid];
    const base::Json& tracer = status["tracer"];
    // A session that has ended tells no count: the last one stays. A detail is why it does not
    // record.
    if (!tracer.is_object() || tracer["detail"].is_string()) continue;
    kernels = static_cast<uint64_t>(tracer["kernels"].as_integer());
  }
}

RunControl::Progress RunControl::ask() {
  ask_statuses(Whom::All);
  Progress progress;
  progress.processes = kernels_.size();
  for (const auto& [pid, kernels] : kernels_) {
    if (kernels) progress.kernels = progress.kernels.value_or(0) + *kernels;
  }
  return progress;
}

void RunControl::prepare_for_signal(int number, pid_t group) {
  ask_statuses(Whom::Unknown);
  std::vector<client::ControlQuestion> questions;
  for (const pid_t pid : client::find_controlled_processes()) {
    if (!kernels_.contains(pid)) continue;
    const bool ends = getpgid(pid) == group && signal_ends(pid, number);
    questions.push_back({pid, request(ends ? "end" : "flush")});
  }
  (void)client::ask_processes(questions, kSealPatience);
}

}  // namespace gpufl::cli
