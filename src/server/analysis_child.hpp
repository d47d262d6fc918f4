// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "symbols/symbolize_session.hpp"

// The other side of the server's children: a whole session in memory, within a limit, for one
// question. Runs in a process of its own, `gpufl analyze`, writes the answer to standard output and
// reports on descriptor 3. Main thread of that process.
namespace gpufl::server {

// `request`: what analysis_request.hpp makes. Returns the exit code.
int run_analysis_child(std::string_view request, const symbols::LibdwApi* libdw);

}  // namespace gpufl::server
