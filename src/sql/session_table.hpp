// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sql/session_set.hpp"
#include "sql/table.hpp"

// The rows of a session as tables of a query: one for each kind, with the names and the columns
// that exports have, and before them whose rows they are. A session is a part. Rows come in the
// order of the log, which is about that of time. Any thread.
namespace gpufl::sql {

// All of them; `sessions` outlives them.
std::vector<std::unique_ptr<Table>> session_tables(const SessionSet& sessions);

// The sessions themselves, a row for each.
std::unique_ptr<Table> session_list(const SessionSet& sessions);

}  // namespace gpufl::sql
