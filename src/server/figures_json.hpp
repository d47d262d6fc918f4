// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"
#include "index/names.hpp"
#include "index/session_index.hpp"

// Figures of a whole session from its index, which grow with every window: how long kernels,
// scopes, waits and copies took, readings, and what the session says of itself. Members are called
// as in the JSON report. Pure functions; any thread.
namespace gpufl::server {

// By name, most time first, at most so many.
std::string kernels_json(const index::IndexedSession& session, const index::Names& names,
                         size_t most);
std::string scopes_json(const index::IndexedSession& session, const index::Names& names,
                        size_t most);

std::string waits_json(const index::IndexedSession& session);
std::string copies_json(const index::IndexedSession& session, const index::Names& names);

// Both fail where a window cannot be read that should be there.
base::Result<std::string> health_json(const index::IndexedSession& session,
                                      const index::Names& names);
base::Result<std::string> ledger_json(const index::IndexedSession& session);

}  // namespace gpufl::server
