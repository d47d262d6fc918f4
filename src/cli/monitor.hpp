// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/monitor_options.hpp"

// A monitored session from start to stop: records, serves metrics, shows the view, waits for the
// end of the duration, a key or a signal. Runs on the main thread of a program that has no other.
namespace gpufl::cli {

// `program` stands before each message. Returns the exit code. What there is to say goes to stderr
// when nobody watches a view, so that stdout stays empty.
int run_monitor(const MonitorOptions& options, std::string_view program);

}  // namespace gpufl::cli
