// SPDX-License-Identifier: Apache-2.0
#include "cli/gpufl_cli.hpp"

#include "cli/admin_command.hpp"
#include "cli/agent_command.hpp"
#include "cli/analyze_command.hpp"
#include "cli/cat_command.hpp"
#include "cli/clean_command.hpp"
#include "cli/command_line.hpp"
#include "cli/control_command.hpp"
#include "cli/diff_command.hpp"
#include "cli/disassemble_command.hpp"
#include "cli/doctor_command.hpp"
#include "cli/export_command.hpp"
#include "cli/gate_command.hpp"
#include "cli/import_command.hpp"
#include "cli/info_command.hpp"
#include "cli/log_command.hpp"
#include "cli/login_command.hpp"
#include "cli/metrics_command.hpp"
#include "cli/monitor_command.hpp"
#include "cli/open_command.hpp"
#include "cli/report_command.hpp"
#include "cli/serve_command.hpp"
#include "cli/sessions_list_command.hpp"
#include "cli/sql_command.hpp"
#include "cli/store_command.hpp"
#include "cli/symbolize_command.hpp"
#include "cli/trace_command.hpp"
#include "cli/upload_command.hpp"
#include "cli/verify_command.hpp"

namespace gpufl::cli {

int run_gpufl(int argc, char** argv) {
  CommandLine line("gpufl",
                   "GPUFlight: record what a program does on the GPU, and find what "
                   "makes it slow");
  Command program = line.program();
  add_trace_command(program);
  add_control_command(program);
  add_monitor_command(program);
  add_report_command(program);
  add_open_command(program);
  add_serve_command(program);
  add_login_command(program);
  add_upload_command(program);
  add_agent_command(program);
  add_admin_command(program);
  add_store_command(program);
  add_diff_command(program);
  add_gate_command(program);
  add_sessions_list_command(program);
  add_clean_command(program);
  add_symbolize_command(program);
  add_disassemble_command(program);
  add_verify_command(program);
  add_log_command(program);
  add_cat_command(program);
  add_sql_command(program);
  add_export_command(program);
  add_import_command(program);
  add_doctor_command(program);
  add_info_command(program);
  add_metrics_command(program);
  add_analyze_command(program);
  program.set_footer(
      "Run 'gpufl COMMAND --help' for the options of a command.\nEvery command exits with 64 if "
      "its command line is wrong.");
  return line.run(argc, argv);
}

}  // namespace gpufl::cli
