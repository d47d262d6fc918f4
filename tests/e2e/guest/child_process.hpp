// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

// Programs that tests start and look at. One thread.
namespace gpufl::e2e {

struct Ran {
  int exit_code = 0;  // 128 + n for a signal
  std::string out, err;
};

// Runs to the end; `variables` are added to this process's environment.
Ran run_program(const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& variables = {});

}  // namespace gpufl::e2e
