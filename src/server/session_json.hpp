// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "server/catalogue.hpp"

// A session as lists and events show it. Pure functions.
namespace gpufl::server {

// `notes`: what the cache keeps of it, whose tags are shown; may be null.
base::Json session_json(const SessionEntry& session, const base::Json& notes);

// What happens to a session, as event streams have it.
base::Json change_json(const Change& change);

}  // namespace gpufl::server
