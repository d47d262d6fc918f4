// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs behind apps/: each is main() but for its name. They return the exit code, see
// docs/reference/exit-codes.md.
namespace gpufl::cli {

int run_gpufl(int argc, char** argv);
int run_gpufl_monitor(int argc, char** argv);
int run_gpufl_agent(int argc, char** argv);

}  // namespace gpufl::cli
