// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "analysis/tables/table_builder.hpp"
#include "sql/session_set.hpp"

// What rows of a table refer to and other rows tell: scopes, markers of frameworks, stacks. Read
// before the rows themselves, and only as far as the columns of a query need it. Memory follows
// scopes, markers and stacks.
namespace gpufl::sql {

struct ContextNeeds {
  bool scopes = false;
  bool markers = false;
  bool stacks = false;
  bool end = false;  // until when scopes that are open have lasted

  bool any() const { return scopes || markers || stacks || end; }
};

// What `columns` of the table of a kind need.
ContextNeeds needs_of(format::Kind kind, const std::vector<std::string>& columns);

struct SessionContext {
  analysis::TableBuilder builder;  // to go on with
  analysis::SessionData data;
};

// Any thread. Stops early once `is_cancelled` is set.
SessionContext read_context(const SessionSet& sessions, size_t session, const ContextNeeds& needs,
                            const std::atomic<bool>& is_cancelled);

// That a window should be there and is not.
std::optional<format::Problem> missing_file(const format::WindowFile& window);

// That read one session: several sessions are read at the same time, so it is not one for each
// core.
unsigned decoding_threads();

}  // namespace gpufl::sql
