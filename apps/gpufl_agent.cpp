// SPDX-License-Identifier: Apache-2.0
#include "cli/gpufl_cli.hpp"

int main(int argc, char** argv) { return gpufl::cli::run_gpufl_agent(argc, argv); }
