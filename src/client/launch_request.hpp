// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "capture/identity.hpp"
#include "client/control_server.hpp"

// What `gpufl trace` asks of every process it launches and a program cannot ask for itself, carried
// by the environment; beside it go the variables of options. Pure.
namespace gpufl::client {

using capture::Environment;

struct LaunchRequest {
  bool dormant = false;       // record nothing of the GPU until told to
  std::string capture_range;  // as SessionConfig's
  Schedule schedule;
  // Which run of its command this is, from 1, and the engine asked for in each; none: the only one.
  std::optional<int64_t> pass;
  std::vector<std::string> passes;
  // `event` lines that the launcher has for the log: of variables that it has replaced.
  std::vector<base::Json> events;

  // Every variable that carries it, with its value.
  std::vector<std::pair<std::string_view, std::string>> to_variables() const;
  // A value that makes no sense is passed over: only the launcher writes them.
  static LaunchRequest from_environment(const Environment& env);
};

std::span<const std::string_view> launch_variables();

}  // namespace gpufl::client
