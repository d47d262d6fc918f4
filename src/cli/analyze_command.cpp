// SPDX-License-Identifier: Apache-2.0
#include "cli/analyze_command.hpp"

#include <memory>
#include <string>

#include "cli/libdw.hpp"
#include "server/analysis_child.hpp"

namespace gpufl::cli {

void add_analyze_command(Command program) {
  auto request = std::make_shared<std::string>();
  Command command = program.add_hidden_command("analyze");
  command.add_option("--request", *request, "What to analyse, as JSON")
      .required()
      .type_name("JSON");
  command.set_action([request] { return server::run_analysis_child(*request, libdw()); });
}

}  // namespace gpufl::cli
