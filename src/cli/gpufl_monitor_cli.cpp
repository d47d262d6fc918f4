// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/command_line.hpp"
#include "cli/exit_codes.hpp"
#include "cli/gpufl_cli.hpp"
#include "cli/monitor.hpp"

// Apart from gpufl's commands, so that the daemon carries none of them.
namespace gpufl::cli {

int run_gpufl_monitor(int argc, char** argv) {
  CLI::App app("Records the health of GPUs and host until it is stopped", "gpufl-monitor");
  set_up_command_line(app);
  MonitorOptions options;
  options.view = MonitorOptions::View::None;
  add_monitor_options(app, options);
  int exit_code = kExitGood;
  app.callback([&] { exit_code = run_monitor(options, app.get_name()); });
  return run_command_line(app, argc, argv, exit_code);
}

}  // namespace gpufl::cli
