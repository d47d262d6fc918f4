// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"
#include "cli/gpufl_cli.hpp"
#include "cli/monitor.hpp"

// Apart from gpufl's commands, so that the daemon carries none of them.
namespace gpufl::cli {

int run_gpufl_monitor(int argc, char** argv) {
  constexpr const char* kName = "gpufl-monitor";
  CommandLine line(kName, "Records the health of GPUs and host until it is stopped");
  MonitorOptions options;
  options.view = MonitorOptions::View::None;
  add_monitor_options(line.program(), options);
  line.program().set_action([&] { return run_monitor(options, kName); });
  return line.run(argc, argv);
}

}  // namespace gpufl::cli
