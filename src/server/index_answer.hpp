// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "index/session_index.hpp"

// The frame of every answer that is made of an index: an object whose first members say how much
// of the session it is of. Pure functions; any thread.
namespace gpufl::server {

// "{" and those members.
std::string begin_answer(const index::IndexedSession& session);
void append_member(std::string& out, std::string_view name, const base::Json& value);
std::string end_answer(std::string out);

// [first, last], or null.
base::Json span_json(const index::TimeSpan& span);

}  // namespace gpufl::server
