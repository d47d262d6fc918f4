// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/follower.hpp"
#include "cli/command_line.hpp"
#include "net/endpoint.hpp"

// What `gpufl agent` and `gpufl-agent` do: an agent from start to stop, with its metrics, on the
// main thread of a program that has no other.
namespace gpufl::cli {

struct AgentLine {
  std::vector<std::string> folders;  // none: the usual one
  agent::FollowOptions options;
  std::optional<net::Endpoint> metrics;
};

// `line` is filled while the command line is read and must outlive that.
void add_agent_options(Command command, AgentLine& line);
// `who` begins each line on stderr. Returns the exit code.
int run_agent(AgentLine line, std::string_view who);

}  // namespace gpufl::cli
