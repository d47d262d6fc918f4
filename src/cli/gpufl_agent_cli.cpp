// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cli/agent_following.hpp"
#include "cli/command_line.hpp"
#include "cli/gpufl_cli.hpp"

// Apart from gpufl's commands, as the monitor is.
namespace gpufl::cli {

int run_gpufl_agent(int argc, char** argv) {
  constexpr const char* kName = "gpufl-agent";
  CommandLine command_line(kName,
                           "Sends the sessions of a folder to a server as they are recorded");
  AgentLine line;
  add_agent_options(command_line.program(), line);
  command_line.program().set_action(
      [&line] { return base::Result<int>(run_agent(std::move(line), kName)); });
  return command_line.run(argc, argv);
}

}  // namespace gpufl::cli
