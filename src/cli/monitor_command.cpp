// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_command.hpp"

#include <memory>

#include "cli/monitor.hpp"

namespace gpufl::cli {

void add_monitor_command(Command program) {
  Command command = program.add_command("monitor", "Record and show the health of GPUs and host");
  auto options = std::make_shared<MonitorOptions>();
  add_monitor_options(command, *options);
  add_view_option(command, *options);
  command.set_action([options] { return run_monitor(*options, "gpufl monitor"); });
}

}  // namespace gpufl::cli
