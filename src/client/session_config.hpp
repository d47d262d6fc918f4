// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/session_config.hpp"
#include "client/launch_request.hpp"
#include "client/options.hpp"

// What a session is asked to do, from the options in force and from what a launcher wants of it.
// Pure.
namespace gpufl::client {

capture::SessionConfig session_config(const ResolvedOptions& resolved, const LaunchRequest& request,
                                      const Environment& env);

}  // namespace gpufl::client
