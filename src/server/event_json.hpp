// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "index/event_detail.hpp"
#include "index/names.hpp"

// One event as JSON: the row of the log, and in `around` what else is known of it. Pure; any
// thread.
namespace gpufl::server {

std::string event_detail_json(const index::EventDetail& detail, const index::Names& names);

}  // namespace gpufl::server
