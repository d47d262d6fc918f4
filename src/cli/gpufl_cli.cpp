// SPDX-License-Identifier: Apache-2.0
#include "cli/gpufl_cli.hpp"

#include <CLI/CLI.hpp>

#include "cli/cat_command.hpp"
#include "cli/clean_command.hpp"
#include "cli/command_line.hpp"
#include "cli/control_command.hpp"
#include "cli/diff_command.hpp"
#include "cli/doctor_command.hpp"
#include "cli/exit_codes.hpp"
#include "cli/export_command.hpp"
#include "cli/gate_command.hpp"
#include "cli/import_command.hpp"
#include "cli/info_command.hpp"
#include "cli/log_command.hpp"
#include "cli/monitor_command.hpp"
#include "cli/print.hpp"
#include "cli/report_command.hpp"
#include "cli/sessions_list_command.hpp"
#include "cli/symbolize_command.hpp"
#include "cli/trace_command.hpp"
#include "cli/verify_command.hpp"

namespace gpufl::cli {

int run_gpufl(int argc, char** argv) {
  CLI::App app("GPUFlight: what the GPU did, and how sure that is", "gpufl");
  set_up_command_line(app);
  int exit_code = kExitGood;
  add_trace_command(app, exit_code);
  add_control_command(app, exit_code);
  add_monitor_command(app, exit_code);
  add_report_command(app, exit_code);
  add_diff_command(app, exit_code);
  add_gate_command(app, exit_code);
  add_sessions_list_command(app, exit_code);
  add_clean_command(app, exit_code);
  add_symbolize_command(app, exit_code);
  add_verify_command(app, exit_code);
  add_log_command(app, exit_code);
  add_cat_command(app, exit_code);
  add_export_command(app, exit_code);
  add_import_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_info_command(app, exit_code);
  for (CLI::App* command : app.get_subcommands({})) command->group("Commands");
  app.footer("Run 'gpufl COMMAND --help' for what a command takes.");
  app.require_subcommand(0, 1);
  app.callback([&] {
    if (app.get_subcommands().empty()) print(app.help());
  });
  return run_command_line(app, argc, argv, exit_code);
}

}  // namespace gpufl::cli
