// SPDX-License-Identifier: Apache-2.0
#include "cli/agent_command.hpp"

#include <memory>
#include <utility>

#include "cli/agent_following.hpp"

namespace gpufl::cli {

void add_agent_command(Command program) {
  Command command = program.add_command("agent", "Send sessions to a server as they are recorded");
  auto line = std::make_shared<AgentLine>();
  add_agent_options(command, *line);
  command.set_action(
      [line] { return base::Result<int>(run_agent(std::move(*line), "gpufl agent")); });
}

}  // namespace gpufl::cli
