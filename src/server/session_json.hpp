// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "server/catalogue.hpp"
#include "server/viewer.hpp"

// A session as lists and events show it. Pure functions.
namespace gpufl::server {

// `notes`: what the cache keeps of it, whose tags are shown; may be null.
base::Json session_json(const SessionEntry& session, const base::Json& notes);

// As a guest sees it: without notes, and without what their link does not include.
base::Json guest_session_json(const SessionEntry& session, const Viewer& viewer);

// What happens to a session, as event streams have it.
base::Json change_json(const Change& change);

}  // namespace gpufl::server
